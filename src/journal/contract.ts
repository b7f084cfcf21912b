import type { Clock } from '../clock.ts';
import type { IntentRecord, JournalExport, Origin, Outcome, Snapshot } from './record.ts';
import type { Scope } from './scope.ts';

export type Operation = IntentRecord['operation'];

/** A request that makes something which costs money, before it is sent. */
export interface RentalRequest {
  readonly operation: Operation;
  readonly name: string;
  readonly offer_id: string | null;
  /** The terminated machine that is ordered again. */
  readonly source_id?: string;
  /** Roubles an hour, a decimal: a machine that came out dearer is to be ended. */
  readonly max_price?: string;
  /** As it will be sent; kept with its secrets replaced. */
  readonly body?: object;
  /** The request whose doubt this one is to settle. */
  readonly retry_of?: string;
}

export interface OutcomeDetails {
  readonly id?: string;
  /** Ids that may be the machine's. */
  readonly candidates?: readonly string[];
  /** For people. */
  readonly reason?: string;
}

/** A request on disk, waiting for its outcome. */
export interface Intent {
  /** Names it in the journal. */
  readonly uid: string;
  /** All other requests whose outcome is not certain, as they lie on the disk now. */
  others(): Promise<Pick<Known, 'unknown' | 'inFlight'>>;
  /**
   * Why an id of an answer, and the name beside it, can't be those of the new machine; it completes
   * "the id …". undefined where nothing known here speaks against it.
   */
  doubt(id: string, name: string | undefined): Promise<string | undefined>;
  /**
   * Notes what became of it, on disk when it returns. Throws CliError('storage') when that can't be
   * kept.
   */
  settle(outcome: Outcome, details?: OutcomeDetails): Promise<void>;
  /** Tidies up after the outcome. What fails here is done by a later command. */
  close(): Promise<void>;
}

/** A machine that this computer knows, as it was last seen. */
export interface KnownInstance {
  readonly id: string;
  readonly name: string;
  readonly origin: Origin;
  /** undefined when the machine was never read. */
  readonly last: Snapshot | undefined;
  readonly asked_at: string;
  /** The request that it came from. */
  readonly request: string | null;
  /** Terminated, or not wanted in the list any more. */
  readonly archived: boolean;
  readonly untracked: boolean;
}

/** A request whose outcome nobody knows: what it asked for may exist and be billing. */
export interface UnknownRequest {
  readonly uid: string;
  readonly name: string;
  readonly asked_at: string;
  readonly offer_id: string | null;
  readonly operation: Operation;
  readonly source_id: string | undefined;
  /** Roubles an hour, where a dearer machine was not wanted. */
  readonly max_price: string | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Secrets of the body were replaced, so that it can't be sent again. */
  readonly masked: boolean;
  readonly candidates: readonly string[];
  /** Its file is torn: all but the time is lost, and the name is that of the file. */
  readonly isSpoilt?: true;
}

export interface Known {
  readonly instances: readonly KnownInstance[];
  /** Their outcome is lost: they may have been carried out. */
  readonly unknown: readonly UnknownRequest[];
  /** Their process still runs, and waits for its answer. */
  readonly inFlight: readonly UnknownRequest[];
}

/** What an answer of the service told of a machine. */
export interface Sighting {
  readonly id: string;
  readonly status: string;
  readonly name?: string | null | undefined;
  readonly price_per_hour?: string | null | undefined;
  readonly offer_name?: string | null | undefined;
  readonly created_at?: string | null | undefined;
}

export interface Imported {
  readonly machines: number;
  readonly requests: number;
  /** What was known here already, as well or better. */
  readonly known: number;
}

/** What was asked for with another key, of which nobody knows whether it is of the same account. */
export interface Stranger {
  readonly folder: string;
  /** Its account is known, and that of the key in force is not. Nobody need ask for it. */
  readonly isLinked: boolean;
  /** Ids, the newest first; one that can be read with the key in force belongs to its account. */
  readonly machines: readonly string[];
  readonly unknown: readonly UnknownRequest[];
}

/** Whose an export is: the account where it was known, and a part of the key's hash. */
export interface Whose {
  readonly account: string | null;
  readonly key?: string | null | undefined;
}

/** The journal of machines that this computer asked for or was told of. */
export interface Journal {
  /** When it was opened, in milliseconds since 1970: nothing was read before. */
  readonly openedAt: number;
  /**
   * Puts the request on disk, fsynced, before it is sent.
   * Throws CliError('storage'): then nothing may be sent. Throws {@link AskedElsewhere} for one that
   * is to settle another, while a second process does the same.
   */
  intend(request: RentalRequest): Promise<Intent>;
  /** `archived` reads the terminated ones too, which may be many. */
  read(how?: { archived?: boolean }): Promise<Known>;
  /**
   * The machine of that id, terminated ones too, without a look at the others; undefined where it
   * has no file that can be understood, though {@link read} may know of it.
   */
  instance(id: string): Promise<KnownInstance | undefined>;
  /** The requests alone. */
  unknown(): Promise<readonly UnknownRequest[]>;
  /** Ids of what requests of that operation are known to have made, long settled ones too. */
  made(operation: Operation): Promise<ReadonlySet<string>>;
  /**
   * Keeps what was seen of a machine. One that was not known is taken up, and the answer is true.
   * `request` is the one that it came from. What fails here is told by CliError('storage'); of
   * several readings that can't be kept, the first.
   */
  observe(sighting: Sighting, origin: Origin, request?: string): Promise<boolean>;
  /** Takes up an id of which nothing was seen. The answer is true when it was not known. */
  track(id: string): Promise<boolean>;
  /** Takes a machine out of the list. What is known of it is kept. */
  untrack(id: string): Promise<void>;
  /**
   * Settles a request whose process is gone, a stranger's too. One that was settled in the meantime
   * stays.
   */
  resolve(uid: string, outcome: Outcome, details?: OutcomeDetails): Promise<void>;
  /** Whether the account behind the key is known, so that all that belongs to it is found. */
  isAccountKnown(): Promise<boolean>;
  /** Keeps whose the key is; `whereUsed` only where it was used before its account was known. */
  learnAccount(account: string, how?: { whereUsed?: boolean }): Promise<void>;
  /** What was asked for, at this service, and may be this account's without anybody knowing. */
  strangers(): Promise<readonly Stranger[]>;
  /** Takes such things for this account's, since a machine of theirs could be read with its key. */
  adopt(stranger: Stranger): Promise<void>;
  /** Whose journal this is; the account is null where it is not known. */
  owner(): Promise<{ readonly service: string; readonly account: string | null }>;
  /** Whether such things are this account's; undefined where nobody knows. */
  isOwn(whose: Whose): Promise<boolean | undefined>;
  export(): Promise<JournalExport>;
  /**
   * Takes over what is not known here, or known better there. It adds to what is known: it settles
   * no request, and takes no machine out of the list.
   */
  import(journal: JournalExport): Promise<Imported>;
}

export interface JournalSettings {
  /** The folder of all journals. */
  readonly folder: string;
  readonly scope: Scope;
  readonly clock: Clock;
  readonly pid: number;
  /** Whether a process still runs; the request of one that does is under way, not lost. */
  isAlive(pid: number): boolean;
  /** Told once of files that can't be understood. */
  warn?(text: string): void;
}
