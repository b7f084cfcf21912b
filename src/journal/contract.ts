import type { Clock } from '../system/clock.ts';
import type {
  IdleRecord,
  IdleRule,
  InstanceRecord,
  RequestRecord,
  Rescue,
  RescueRecord,
  SeenInstance,
} from './record.ts';

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
    | 'rescue'
    | 'session'
  > {
  /** The journal masks secrets before storing the body. */
  readonly body?: object;
}

/** A request on disk. While it is open, no other process can request the same name. */
export interface OpenedRequest {
  readonly uid: string;
  /**
   * Returns why this ID and name can't be the new instance's; completes "the ID …". Returns
   * undefined if no record contradicts them.
   */
  doubt(id: string, name: string | undefined): Promise<string | undefined>;
  /** Stores a possible ID of the new instance. Throws CliError('storage'). */
  keepDoubted(id: string): Promise<void>;
  /** Writes the instance, then removes the request. Throws CliError('storage'). */
  made(id: string): Promise<void>;
  /** Removes the request after a refusal, or if it was never sent. */
  notMade(): Promise<void>;
  /** Stores the request as UNKNOWN. */
  unknown(): Promise<void>;
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
    | 'rescue'
    | 'session'
  > {
  /** Whether the sending process is running and may still be waiting for the response. */
  readonly isInFlight: boolean;
}

/** An instance known to this computer, as last seen. */
export interface KnownInstance extends Pick<InstanceRecord, 'id' | 'name' | 'origin' | 'session'> {
  /** The last observation; undefined if it was never read. */
  readonly last: SeenInstance | undefined;
  readonly asked_at: string;
  /** Service time (ISO 8601); undefined without a deadline. */
  readonly deadline: string | undefined;
  /** The idle rule, with the recorded use of the instance. */
  readonly idle?: { readonly rule: IdleRule; readonly found: IdleRecord | undefined };
  /** What to copy before the instance ends by itself, with the progress. */
  readonly rescue?: { readonly wanted: Rescue; readonly found: RescueRecord | undefined };
  /** UID of the instance's create request; null if there was none. */
  readonly request: string | null;
  /** Whether the instance was terminated or untracked. */
  readonly archived: boolean;
  readonly untracked: boolean;
  /** Whether this computer has seen it stopping or stopped. */
  readonly wasStopped: boolean;
}

/** What this computer knows about an ID. */
export type Found =
  | { readonly kind: 'known'; readonly instance: KnownInstance }
  | { readonly kind: 'none' }
  /** Its file exists, but can't be read. */
  | { readonly kind: 'unreadable' };

/** When to terminate an instance. */
export interface Ends {
  /** Service time (ISO 8601). Null if none is set, undefined if unreadable. */
  readonly deadline: string | null | undefined;
  readonly if_idle?: IdleRule | undefined;
  readonly rescue?: Rescue | undefined;
}

export interface Deadline extends Ends {
  readonly id: string;
  readonly name: string;
  /** The last status seen; undefined if it was never read. */
  readonly status: string | undefined;
}

export interface Known {
  readonly instances: readonly KnownInstance[];
  /** Requests with an unknown outcome, oldest first. Each may have created an instance. */
  readonly unknown: readonly OpenRequest[];
  /** Requests still waiting for a response. */
  readonly inFlight: readonly OpenRequest[];
  /**
   * The IDs of instances whose file is unreadable, and the paths of unreadable requests. If another
   * user owns an instance's file, its name proves nothing, so its path.
   */
  readonly unreadable: readonly string[];
}

/** The service and account of a journal. */
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
