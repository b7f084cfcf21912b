import type { Clock } from '../clock.ts';
import type { IdleRecord, IdleRule, InstanceRecord, RequestRecord, Snapshot } from './record.ts';

/** A rental request before it is sent. */
export interface RentalRequest
  extends Pick<
    RequestRecord,
    | 'operation'
    | 'name'
    | 'timeout_ms'
    | 'offer_id'
    | 'source_id'
    | 'max_price'
    | 'deadline'
    | 'if_idle'
  > {
  /** The journal masks secrets before storing the body. */
  readonly body?: object;
}

/** A request on disk. While it is open, no other process can send a request with the same name. */
export interface OpenedRequest {
  readonly uid: string;
  /**
   * Returns why a response with this ID and name can't describe the new instance, as the end of
   * "the ID …". Returns undefined if no record contradicts it.
   */
  doubt(id: string, name: string | undefined): Promise<string | undefined>;
  /** Stores an ID that may be the new instance's. Throws CliError('storage'). */
  keepDoubted(id: string): Promise<void>;
  /** Writes the instance, then removes the request. Throws CliError('storage'). */
  made(id: string): Promise<void>;
  /** Removes a request that was rejected or never sent. */
  notMade(): Promise<void>;
  /** Stores the request as UNKNOWN, with the ID that the response showed, if any. */
  unknown(shown?: string): Promise<void>;
}

/** A request with an unknown outcome: in flight or UNKNOWN. */
export interface OpenRequest
  extends Pick<
    RequestRecord,
    | 'uid'
    | 'name'
    | 'operation'
    | 'asked_at'
    | 'offer_id'
    | 'source_id'
    | 'max_price'
    | 'deadline'
    | 'if_idle'
    | 'shown_id'
  > {
  /** The sending process is running and may still be waiting for the response. */
  readonly isInFlight: boolean;
  /** The file is unreadable: the name comes from the file name, the time from the file system. */
  readonly isTorn: boolean;
}

/** An instance that this computer knows, as last seen. */
export interface KnownInstance extends Pick<InstanceRecord, 'id' | 'name' | 'origin'> {
  /** The last observation; undefined if the instance was never read. */
  readonly last: Snapshot | undefined;
  readonly asked_at: string;
  /** By the service's clock (ISO 8601); undefined without a deadline. */
  readonly deadline: string | undefined;
  /** The idle rule, and the recorded use of the instance. */
  readonly idle?: { readonly rule: IdleRule; readonly found: IdleRecord | undefined };
  /** UID of the request that created the instance. */
  readonly request: string | null;
  /** Whether the instance was terminated or untracked. */
  readonly archived: boolean;
  readonly untracked: boolean;
}

/** When to terminate an instance. */
export interface Deadline {
  readonly id: string;
  readonly name: string;
  /** By the service's clock (ISO 8601); null for an idle rule alone, undefined if it can't be read. */
  readonly deadline: string | null | undefined;
  readonly if_idle?: IdleRule | undefined;
  /** The last seen status; undefined if the instance was never read. */
  readonly status: string | undefined;
}

export interface Known {
  readonly instances: readonly KnownInstance[];
  /** Requests with an unknown outcome, oldest first. They may have succeeded. */
  readonly unknown: readonly OpenRequest[];
  /** Requests whose process is still waiting for a response. */
  readonly inFlight: readonly OpenRequest[];
}

/** What a response shows about an instance. */
export interface Observation {
  readonly id: string;
  readonly status: string;
  readonly name?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly offer_name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
  readonly terminated_at?: string | null | undefined;
  /** Other fields, under the service's names. */
  readonly facts?: NonNullable<Snapshot['facts']>;
}

/** What a response shows about a drive. */
export interface DriveObservation {
  readonly id: string;
  readonly status?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly created_at?: string | null | undefined;
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
