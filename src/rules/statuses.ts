/** Facts about an instance status. */
export interface InstanceStatus {
  /** Whether the service bills in this status; `undocumented` if the document does not say. */
  readonly bills: 'yes' | 'no' | 'undocumented';
  /** Whether the service reserves the price of an hour ("held for active instances"). */
  readonly reserves: 'yes' | 'no' | 'maybe';
  /** Whether the instance can never run again, since deletion is irrevocable. */
  readonly over: boolean;
  /** Whether SSH works ("Server runs, SSH available"); `maybe` if the document does not say. */
  readonly ssh: 'yes' | 'no' | 'maybe';
  /** Status that follows a temporary status, unless the provider fails. */
  readonly becomes: 'ACTIVE' | 'STOPPED' | 'TERMINATED' | undefined;
  /** The verb of the command that comes next. */
  readonly next: 'wait' | 'list' | 'get' | 'start' | 'reorder' | 'events';
}

const STARTS: InstanceStatus = {
  bills: 'yes',
  reserves: 'yes',
  over: false,
  ssh: 'no',
  becomes: 'ACTIVE',
  next: 'wait',
};

/** The service may add statuses. Treat an unknown status as billing. */
const UNDOCUMENTED: InstanceStatus = {
  bills: 'undocumented',
  reserves: 'maybe',
  over: false,
  ssh: 'maybe',
  becomes: undefined,
  next: 'events',
};

const ENDS = { bills: 'no', reserves: 'no', ssh: 'no' } as const;

/** API document: Instance status; States and transitions. */
const DOCUMENTED = {
  CREATING: STARTS,
  PROVISIONING: STARTS,
  INSTALLING: { ...STARTS, ssh: 'yes' },
  ACTIVE: { ...STARTS, ssh: 'yes', becomes: undefined, next: 'get' },
  STOPPING: { ...STARTS, reserves: 'maybe', becomes: 'STOPPED' },
  STOPPED: { ...UNDOCUMENTED, ssh: 'no', next: 'start' },
  STARTING: STARTS,
  REBOOTING: STARTS,
  // "Billing stops" with the request to terminate.
  TERMINATING: { ...ENDS, over: false, becomes: 'TERMINATED', next: 'list' },
  TERMINATED: { ...ENDS, over: true, becomes: undefined, next: 'reorder' },
  ERROR: UNDOCUMENTED,
} as const satisfies Readonly<Record<string, InstanceStatus>>;

/** gpucloud's own status of an instance that the service does not find. */
export const GONE = 'GONE';
/** gpucloud's own status of a request without a response. */
export const UNKNOWN = 'UNKNOWN';
/** gpucloud's own status of a request that another process is sending. */
export const IN_FLIGHT = 'IN_FLIGHT';
/** gpucloud's own status of an instance that was never read. */
export const UNREAD = 'UNREAD';

/** May bill like a status that the service adds later; the list says what to do. */
const OWN: InstanceStatus = { ...UNDOCUMENTED, next: 'list' };

const STATUSES: Readonly<Record<string, InstanceStatus>> = {
  ...DOCUMENTED,
  [GONE]: OWN,
  [UNKNOWN]: OWN,
  [IN_FLIGHT]: OWN,
  [UNREAD]: OWN,
};

/** The documented statuses, for flags and completion. */
export const INSTANCE_STATUSES = Object.keys(DOCUMENTED) as (keyof typeof DOCUMENTED)[];

export function instanceStatus(word: string | null | undefined): InstanceStatus {
  const known = word != null && Object.hasOwn(STATUSES, word) ? STATUSES[word] : undefined;
  return known ?? UNDOCUMENTED;
}

export function isDocumented(status: string): boolean {
  return Object.hasOwn(DOCUMENTED, status);
}

/** Returns false only for an instance that is TERMINATING or TERMINATED. */
export function mayBill(status: string | null | undefined): boolean {
  return instanceStatus(status).bills !== 'no';
}

export function isTerminated(status: string | null | undefined): boolean {
  return instanceStatus(status).over;
}

/** Whether an instance has the status `goal` or is changing to it. */
export function leadsTo(goal: string, status: string | null | undefined): boolean {
  return status === goal || instanceStatus(status).becomes === goal;
}

export function hasSsh(status: string): boolean {
  return instanceStatus(status).ssh === 'yes';
}
