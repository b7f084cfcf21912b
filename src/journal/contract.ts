import type { Clock } from '../clock.ts';
import type { DriveRecord, InstanceRecord, Origin, RequestRecord, Snapshot } from './record.ts';

/** A request that rents, before it is sent. */
export interface RentalRequest
  extends Pick<
    RequestRecord,
    'operation' | 'name' | 'timeout_ms' | 'offer_id' | 'source_id' | 'max_price' | 'deadline'
  > {
  /** Secrets are masked before it is stored. */
  readonly body?: object;
}

/** A request on disk. No other process can send one with the same name until it is settled. */
export interface OpenedRequest {
  readonly uid: string;
  /**
   * Returns why a response with this ID and name can't describe the new instance, as the end of
   * "the ID …". Returns undefined if no record contradicts it.
   */
  doubt(id: string, name: string | undefined): Promise<string | undefined>;
  /** Stores an ID in doubt: it may be the new instance's. Throws CliError('storage'). */
  keepDoubted(id: string): Promise<void>;
  /** Writes the instance, then removes the request. Throws CliError('storage'). */
  made(id: string): Promise<void>;
  /** Removes a request that was refused or never sent. */
  notMade(): Promise<void>;
  /** Keeps the request as UNKNOWN. */
  unknown(): Promise<void>;
}

/** A request without a known outcome: in flight or UNKNOWN. */
export interface OpenRequest
  extends Pick<
    RequestRecord,
    'uid' | 'name' | 'operation' | 'asked_at' | 'offer_id' | 'source_id' | 'max_price' | 'deadline'
  > {
  /** Its process is running and may still be waiting for the response. */
  readonly isInFlight: boolean;
  /** The file is unreadable: the name comes from the file name, the time from the file system. */
  readonly isTorn: boolean;
}

/** An instance known to this computer, as last seen. */
export interface KnownInstance extends Pick<InstanceRecord, 'id' | 'name' | 'origin'> {
  /** undefined if the instance was never read. */
  readonly last: Snapshot | undefined;
  readonly asked_at: string;
  /** By the service's clock (ISO 8601); undefined for none. */
  readonly deadline: string | undefined;
  /** UID of the request that created it. */
  readonly request: string | null;
  /** Terminated or untracked. */
  readonly archived: boolean;
  readonly untracked: boolean;
}

/** When an instance is to be terminated. */
export interface Deadline {
  readonly id: string;
  readonly name: string;
  /** By the service's clock (ISO 8601); undefined if it can't be read. */
  readonly deadline: string | undefined;
  /** The status that was seen last; undefined if the instance was never read. */
  readonly status: string | undefined;
}

/** The deadline of one instance, while no other process can change it. */
export interface HeldDeadline {
  /** undefined for none. */
  readonly deadline: string | undefined;
  /** `undefined` removes it. Throws CliError('storage'). */
  set(name: string, deadline: string | undefined): Promise<void>;
}

export interface Known {
  readonly instances: readonly KnownInstance[];
  /** Requests without an outcome, oldest first. They may have succeeded. */
  readonly unknown: readonly OpenRequest[];
  /** Requests whose process is still waiting for the response. */
  readonly inFlight: readonly OpenRequest[];
}

/** The facts that a response shows about an instance. */
export interface Observation {
  readonly id: string;
  readonly status: string;
  readonly name?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly offer_name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
  readonly terminated_at?: string | null | undefined;
}

/** The facts that a response shows about a drive. */
export interface DriveObservation {
  readonly id: string;
  readonly status?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

/**
 * Rental requests and known instances of one service and account.
 *
 * While the account is unknown, reads cover every account of the service and nothing new can be
 * written. Every method throws CliError('storage') if the disk fails.
 */
export interface Journal {
  /** Returns the account ID; undefined if the key has never rented or listed anything. */
  account(): Promise<string | undefined>;
  /** Stores the account of this key. */
  learnAccount(account: string): Promise<void>;
  /**
   * Writes a request to disk before it is sent: exclusive under its name, and fsynced. Returns
   * undefined if another request holds the name. A holder among the `agreed` UIDs is moved aside first
   * unless it is in flight; it stays UNKNOWN. `check` runs first, under a lock of the account.
   * If it throws, nothing is written.
   */
  open(
    request: RentalRequest,
    agreed: ReadonlySet<string>,
    check?: () => Promise<void>,
  ): Promise<OpenedRequest | undefined>;
  /** `archived` includes terminated and untracked instances. */
  read(how?: { archived?: boolean }): Promise<Known>;
  /** Returns only the open requests, oldest first. */
  requests(): Promise<readonly OpenRequest[]>;
  /** Returns one instance, archived or not, without reading the others. */
  instance(id: string): Promise<KnownInstance | undefined>;
  /** Stores an observation of an instance. Returns true if the instance is new here. */
  observe(observation: Observation, origin: Origin): Promise<boolean>;
  /** Adds an ID that was never observed. Returns true if it is new here. */
  track(id: string): Promise<boolean>;
  /** Archives an instance with everything known about it. */
  untrack(id: string): Promise<void>;
  /** IDs of instances whose process ended while it saved them. */
  unfinished(): Promise<readonly string[]>;
  /** The deadlines of instances that are neither terminated nor untracked. */
  deadlines(): Promise<readonly Deadline[]>;
  /** Runs `work` with the instance's current deadline, which can't change until `work` ends. */
  withDeadline<T>(id: string, work: (held: HeldDeadline) => Promise<T>): Promise<T>;
  /** The drives that were ever seen here. */
  drives(): Promise<readonly DriveRecord[]>;
  /**
   * Stores drives as seen at a time of the service (ISO 8601). `whole`: the list is complete, so
   * missing drives are gone. Stores nothing while the account is unknown.
   */
  observeDrives(
    seen: readonly DriveObservation[],
    at: string,
    how: { readonly whole: boolean },
  ): Promise<void>;
  /** Settles an open request: it created this instance. */
  settle(uid: string, id: string): Promise<void>;
  /** Archives an open request. */
  forget(uid: string): Promise<void>;
}

/** The service and account that a journal covers. */
export interface Scope {
  /** The base URL, or `sandbox` for the built-in service. */
  readonly service: string;
  /** The account's user ID, if known. */
  readonly account?: string | undefined;
  readonly apiKey?: string | undefined;
}

export interface JournalSettings {
  /** The state folder. */
  readonly state: string;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly pid: number;
  isAlive(pid: number): boolean;
  warn(text: string): void;
}
