/**
 * Facts about an instance status from the API document (Instance status; States and transitions).
 */
export interface InstanceStatus {
  /** Whether the service bills in this status; `undocumented` if the document does not say. */
  readonly bills: 'yes' | 'no' | 'undocumented';
  /** "Server runs, SSH available". */
  readonly ssh: boolean;
  /** Status that follows a temporary status, unless the provider fails. */
  readonly becomes: 'ACTIVE' | 'STOPPED' | 'TERMINATED' | undefined;
}

const STATUSES: Readonly<Record<string, InstanceStatus>> = {
  CREATING: { bills: 'yes', ssh: false, becomes: 'ACTIVE' },
  PROVISIONING: { bills: 'yes', ssh: false, becomes: 'ACTIVE' },
  INSTALLING: { bills: 'yes', ssh: true, becomes: 'ACTIVE' },
  ACTIVE: { bills: 'yes', ssh: true, becomes: undefined },
  STOPPING: { bills: 'yes', ssh: false, becomes: 'STOPPED' },
  STOPPED: { bills: 'undocumented', ssh: false, becomes: undefined },
  STARTING: { bills: 'yes', ssh: false, becomes: 'ACTIVE' },
  REBOOTING: { bills: 'yes', ssh: false, becomes: 'ACTIVE' },
  // "Billing stops" with the request to terminate.
  TERMINATING: { bills: 'no', ssh: false, becomes: 'TERMINATED' },
  TERMINATED: { bills: 'no', ssh: false, becomes: undefined },
  ERROR: { bills: 'undocumented', ssh: false, becomes: undefined },
};

/** The service may add statuses. Treat an unknown status as billing. */
const UNDOCUMENTED: InstanceStatus = { bills: 'undocumented', ssh: false, becomes: undefined };

export const INSTANCE_STATUSES: readonly string[] = Object.keys(STATUSES);

export function instanceStatus(word: string | null | undefined): InstanceStatus {
  const known = word != null && Object.hasOwn(STATUSES, word) ? STATUSES[word] : undefined;
  return known ?? UNDOCUMENTED;
}

/** Returns false only for an instance that is TERMINATING or TERMINATED. */
export function mayBill(status: string | null | undefined): boolean {
  return instanceStatus(status).bills !== 'no';
}

/** Whether an instance can never run again, since deletion is irrevocable. */
export function isTerminated(status: string | null | undefined): boolean {
  return status === 'TERMINATED';
}

/** Whether an instance has the status `goal` or is changing to it. */
export function leadsTo(goal: string, status: string | null | undefined): boolean {
  return status === goal || instanceStatus(status).becomes === goal;
}

export function hasSsh(status: string): boolean {
  return instanceStatus(status).ssh;
}
