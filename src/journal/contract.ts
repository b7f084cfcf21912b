import type { Clock } from '../clock.ts';
import type { InstanceRecord, Operation, Origin, RequestRecord, Snapshot } from './record.ts';

/** A request that rents, before it is sent. */
export interface RentalRequest {
  readonly operation: Operation;
  readonly name: string;
  readonly offer_id: string | null;
  /** The terminated instance that is ordered again. */
  readonly source_id?: string;
  /** RUB per hour, a decimal (`--max-price`). */
  readonly max_price?: string;
  /** As it will be sent; kept with its secrets replaced. */
  readonly body?: object;
  /** Milliseconds after which its process no longer waits for the response. */
  readonly timeout_ms: number;
}

/** A request that is on disk. Nobody else can send one with its name until it is settled. */
export interface OpenedRequest {
  readonly uid: string;
  /**
   * Why a response with this id and name can't be about the new instance; completes "the id …".
   * undefined if nothing known here contradicts it.
   */
  doubt(id: string, name: string | undefined): Promise<string | undefined>;
  /** Keeps an id that is in doubt, since it may be the new instance's. Throws CliError('storage'). */
  keepDoubted(id: string): Promise<void>;
  /** Writes the instance, then removes the request. Throws CliError('storage'). */
  made(id: string): Promise<void>;
  /** Removes the request: the service refused it, or it was never sent. */
  notMade(): Promise<void>;
  /** Keeps the request as UNKNOWN. */
  unknown(): Promise<void>;
}

/** A request whose outcome is not known, or not known yet. */
export interface OpenRequest
  extends Pick<
    RequestRecord,
    'uid' | 'name' | 'operation' | 'asked_at' | 'offer_id' | 'source_id' | 'max_price'
  > {
  /** Its process runs and may still wait for the response. */
  readonly isInFlight: boolean;
  /** Its file can't be read: the name comes from the file name, the time from the file system. */
  readonly isTorn: boolean;
}

/** An instance that this computer knows, as it was last seen. */
export interface KnownInstance extends Pick<InstanceRecord, 'id' | 'name' | 'origin'> {
  /** undefined if the instance was never read. */
  readonly last: Snapshot | undefined;
  readonly asked_at: string;
  /** The request that made it. */
  readonly request: string | null;
  /** Terminated, or untracked. */
  readonly archived: boolean;
  readonly untracked: boolean;
}

export interface Known {
  readonly instances: readonly KnownInstance[];
  /** Oldest first. They may have been carried out. */
  readonly unknown: readonly OpenRequest[];
  /** Another process waits for the response. */
  readonly inFlight: readonly OpenRequest[];
}

/** What a response shows of an instance. */
export interface Observation {
  readonly id: string;
  readonly status: string;
  readonly name?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly offer_name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

/**
 * The requests that rent and the instances known to this computer, of one service and account.
 *
 * While the account is not known, reads cover every account of the service, and nothing new can be
 * written. Every method throws CliError('storage') if the disk fails.
 */
export interface Journal {
  /** The account's id; undefined if the key was never used to rent or list. */
  account(): Promise<string | undefined>;
  /** Remembers whose key this is. */
  learnAccount(account: string): Promise<void>;
  /**
   * Puts a request on disk before it is sent: exclusive under its name, and fsynced. undefined if
   * another request holds the name. One of the `agreed` uids is moved aside first, if its process
   * no longer waits; it stays UNKNOWN. `check` runs first, under a lock of the account that every
   * request with a check takes: what it throws is thrown, and nothing is written.
   */
  open(
    request: RentalRequest,
    agreed: ReadonlySet<string>,
    check?: () => Promise<void>,
  ): Promise<OpenedRequest | undefined>;
  /** `archived` includes terminated and untracked instances. */
  read(how?: { archived?: boolean }): Promise<Known>;
  /** The open requests alone, oldest first. */
  requests(): Promise<readonly OpenRequest[]>;
  /** One instance, archived ones included, without reading the others. */
  instance(id: string): Promise<KnownInstance | undefined>;
  /** Keeps what was seen of an instance. True if it was not known before. */
  observe(observation: Observation, origin: Origin): Promise<boolean>;
  /** Adds an id of which nothing was seen. True if it was not known before. */
  track(id: string): Promise<boolean>;
  /** Archives an instance. Everything known about it is kept. */
  untrack(id: string): Promise<void>;
  /** Settles an open request: this instance came of it. */
  settle(uid: string, id: string): Promise<void>;
  /** Archives an open request. */
  forget(uid: string): Promise<void>;
}

/** Whose journal it is. */
export interface Scope {
  /** The base URL, or `sandbox` for the built-in service. */
  readonly service: string;
  /** The account's user id, if it is known. */
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
