import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import { keptBody } from './body.ts';
import { exists } from './folder.ts';
import {
  findMachineRecord,
  type KeptMachine,
  type MachinePlace,
  machinesIn,
  writeMachine,
} from './machines.ts';
import { isRunning, markOf } from './process.ts';
import type {
  IntentRecord,
  JournalExport,
  MachineRecord,
  Origin,
  Outcome,
  OutcomeRecord,
  Snapshot,
} from './record.ts';
import {
  anySettled,
  fileAway,
  importRequest,
  newUid,
  type OpenRequest,
  openRequests,
  rewriteRequest,
  writeRequest,
} from './requests.ts';
import {
  accountOfKey,
  knownAccount,
  linkAccount,
  linkFolder,
  type OwnFolders,
  ownFolders,
  type Scope,
  strangerFolders,
} from './scope.ts';

export type { JournalExport, Origin, Outcome, Snapshot } from './record.ts';
export { parseExport } from './record.ts';
export { accountOfKey, type Scope } from './scope.ts';

export type Operation = IntentRecord['operation'];

/** A request that makes something which costs money, before it is sent. */
export interface RentalRequest {
  readonly operation: Operation;
  readonly name: string;
  readonly offer_id: string | null;
  /** The terminated machine that is ordered again. */
  readonly source_id?: string;
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
  /**
   * Notes what became of it, on disk when it returns. Throws CliError('storage') when that can't be
   * kept.
   */
  settle(outcome: Outcome, details?: OutcomeDetails): Promise<void>;
  /** Tidies up after the outcome. What fails here is done by a later command. */
  close(): Promise<void>;
}

/** A machine that this computer knows, as it was last seen. */
export interface KnownMachine {
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
export interface UnknownRental {
  readonly uid: string;
  readonly name: string;
  readonly asked_at: string;
  readonly offer_id: string | null;
  readonly operation: Operation;
  readonly source_id: string | undefined;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Secrets of the body were replaced, so that it can't be sent again. */
  readonly masked: boolean;
  readonly candidates: readonly string[];
}

export interface KnownRentals {
  readonly machines: readonly KnownMachine[];
  readonly unknown: readonly UnknownRental[];
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

/** What was asked for with a key whose account is not known. */
export interface Stranger {
  readonly folder: string;
  /** Ids; one that can be read with the key in force belongs to its account. */
  readonly machines: readonly string[];
  readonly unknown: number;
}

/** The journal of machines that this computer asked for or was told of. */
export interface Rentals {
  /**
   * Puts the request on disk, fsynced, before it is sent.
   * Throws CliError('storage'): then nothing may be sent.
   */
  intend(request: RentalRequest): Promise<Intent>;
  /** `archived` reads the terminated ones too, which may be many. */
  read(how?: { archived?: boolean }): Promise<KnownRentals>;
  /** The requests alone. */
  unknown(): Promise<readonly UnknownRental[]>;
  /**
   * Keeps what was seen of a machine. One that was not known is taken up, and the answer is true.
   * `request` is the one that it came from. What fails here is told by CliError('storage'); of
   * several readings that can't be kept, the first.
   */
  see(sighting: Sighting, origin: Origin, request?: string): Promise<boolean>;
  /** Takes up an id of which nothing was seen. The answer is true when it was not known. */
  track(id: string): Promise<boolean>;
  /** Takes a machine out of the list. What is known of it is kept. */
  untrack(id: string): Promise<void>;
  /** Settles a request whose process is gone. One that was settled in the meantime stays. */
  resolve(uid: string, outcome: Outcome, details?: OutcomeDetails): Promise<void>;
  /** Whether the account behind the key is known, so that all that belongs to it is found. */
  isAccountKnown(): Promise<boolean>;
  /** Keeps whose the key is; `whereUsed` only where it was used before its account was known. */
  learnAccount(account: string, how?: { whereUsed?: boolean }): Promise<void>;
  /** What was asked for, at this service, with keys of which nobody knows whose they are. */
  strangers(): Promise<readonly Stranger[]>;
  /** Takes such things for this account's, since a machine of theirs could be read with its key. */
  adopt(stranger: Stranger): Promise<void>;
  /** Whose journal this is; the account is null where it is not known. */
  owner(): Promise<{ readonly service: string; readonly account: string | null }>;
  export(): Promise<JournalExport>;
  /** Takes over what is not known here, or known better there. */
  import(journal: JournalExport): Promise<Imported>;
}

export interface RentalsSettings {
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

/** Milliseconds after which a reading is written down although it showed nothing new. */
const FRESH = 10 * 60_000;

/** Outcomes after which a request needs nobody's attention any more. */
const isCertain = (outcome: OutcomeRecord | undefined): outcome is OutcomeRecord =>
  outcome !== undefined && outcome.kind !== 'unknown';

export function openRentals(settings: RentalsSettings): Rentals {
  const { folder, scope, clock, pid } = settings;
  const now = () => new Date(clock.now()).toISOString();
  const spoilt = new Set<string>();
  let found: Promise<OwnFolders> | undefined;
  let isUnwritable = false;

  function own(): Promise<OwnFolders> {
    found ??= ownFolders(folder, scope);
    return found;
  }
  async function owners(): Promise<string[]> {
    return (await own()).all.map((name) => join(folder, name));
  }
  async function mainOwner(): Promise<string> {
    return join(folder, (await own()).main);
  }

  /** Words for what fails on the way to the disk. */
  async function storing<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw error instanceof CliError
        ? error
        : new CliError('storage', `${what}: ${reason(error)}`, {
            hint: `check the folder ${folder}`,
            cause: error,
          });
    }
  }
  const writing = <T>(work: () => Promise<T>) =>
    storing('The list of rented machines could not be written', work);
  const reading = <T>(work: () => Promise<T>) =>
    storing('The list of rented machines could not be read', work);

  /** Each file that spoils only itself is told once, all of a reading in one line. */
  async function tellingSpoilt<T>(work: (spoil: (path: string) => void) => Promise<T>): Promise<T> {
    const fresh: string[] = [];
    const result = await work((path) => {
      if (!spoilt.has(path)) fresh.push(path);
      spoilt.add(path);
    });
    const [first, ...others] = fresh;
    if (first !== undefined) {
      const more = others.length === 0 ? '' : ` and ${others.length} more`;
      settings.warn?.(
        `A file of the journal of rented machines can't be understood and was left as it is: ${first}${more}. A machine that only it knew would be missing here: compare with the web console.`,
      );
    }
    return result;
  }

  function requests(): Promise<OpenRequest[]> {
    return reading(() =>
      tellingSpoilt(async (spoil) => {
        const found: OpenRequest[] = [];
        for (const owner of await owners()) found.push(...(await openRequests(owner, spoil)));
        return found;
      }),
    );
  }

  function machines(places: readonly MachinePlace[]): Promise<KeptMachine[]> {
    return reading(() =>
      tellingSpoilt(async (spoil) => {
        const found: KeptMachine[] = [];
        for (const owner of await owners()) {
          for (const place of places) found.push(...(await machinesIn(owner, place, spoil)));
        }
        return found;
      }),
    );
  }

  async function isLost({ intent, outcome }: OpenRequest): Promise<boolean> {
    if (outcome !== undefined) {
      return outcome.kind === 'unknown';
    }
    const age = clock.now() - Date.parse(intent.asked_at);
    return !(await isRunning(intent.process, age, (other) => settings.isAlive(other)));
  }

  async function lostOf(open: readonly OpenRequest[]): Promise<UnknownRental[]> {
    const lost: UnknownRental[] = [];
    for (const request of open) {
      if (await isLost(request)) lost.push(unknownRental(request));
    }
    return lost;
  }

  /**
   * Moves a settled request out of `open/`, the machine that it made written down before. Whoever
   * finds one does it, since its own process may have been killed on the way.
   */
  async function tidy(request: OpenRequest): Promise<void> {
    const { intent, outcome, owner } = request;
    if (!isCertain(outcome)) {
      return;
    }
    try {
      const isMachine = intent.operation === 'create' || intent.operation === 'reorder';
      if (isMachine && outcome.kind === 'rented' && outcome.id !== undefined) {
        const kept = await findMachineRecord(await owners(), outcome.id);
        if (kept === undefined) {
          await writeMachine(owner, machineOf(request, outcome.id), undefined);
        } else if (kept.record.request !== intent.uid) {
          await writeMachine(kept.owner, { ...kept.record, request: intent.uid }, kept);
        }
      }
      await fileAway(request);
    } catch {
      // It stays where it is and is read from there; a later command tries again.
    }
  }

  function outcomeOf(kind: Outcome, details: OutcomeDetails): OutcomeRecord {
    const { id, candidates = [], reason } = details;
    return {
      kind,
      at: now(),
      ...(id === undefined ? {} : { id }),
      ...(candidates.length === 0 ? {} : { candidates: [...candidates] }),
      ...(reason === undefined ? {} : { reason: reason.slice(0, 160) }),
    };
  }

  async function owner(): Promise<{ service: string; account: string | null }> {
    const account = scope.account ?? (await knownAccount(folder, scope)) ?? null;
    return { service: scope.service, account };
  }

  async function find(id: string): Promise<KeptMachine | undefined> {
    return findMachineRecord(await owners(), id);
  }

  return {
    async intend(request) {
      const asked_at = now();
      const { operation, name, offer_id, source_id, body, retry_of } = request;
      const written = await writing(async () => {
        const intent: IntentRecord = {
          version: 1,
          uid: newUid(asked_at),
          operation,
          name,
          asked_at,
          service: scope.service,
          account: scope.account ?? null,
          key: scope.apiKey === undefined ? null : accountOfKey(scope.apiKey),
          offer_id,
          ...(source_id === undefined ? {} : { source_id }),
          ...(retry_of === undefined ? {} : { retry_of }),
          ...(body === undefined
            ? { masked: false, body_hash: null }
            : keptBody(body, scope.apiKey ?? '')),
          process: await markOf(pid),
        };
        return writeRequest(await mainOwner(), intent);
      });
      let outcome: OutcomeRecord | undefined;
      return {
        uid: written.intent.uid,
        async settle(kind, details = {}) {
          const next = outcomeOf(kind, details);
          await writing(() => written.note(next));
          outcome = next;
        },
        async close() {
          await written.close().catch(() => undefined);
          await tidy({ ...written, outcome });
        },
      };
    },

    async read({ archived = false } = {}) {
      // The requests first: whoever tidies one up meanwhile has written its machine before.
      const open = await requests();
      const kept = await machines(archived ? ['machines', 'archive'] : ['machines']);
      const known = new Map(kept.map((machine) => [machine.record.id, knownMachine(machine)]));
      for (const request of open) {
        const id = request.outcome?.kind === 'rented' ? request.outcome.id : undefined;
        const isMachine =
          request.intent.operation === 'create' || request.intent.operation === 'reorder';
        if (id !== undefined && isMachine) {
          const elsewhere = known.has(id) || archived ? undefined : await find(id);
          if (elsewhere === undefined) {
            const record = machineOf(request, id);
            const bare = knownMachine({ path: '', owner: '', place: 'machines', record });
            known.set(id, { ...bare, ...known.get(id), request: request.intent.uid });
          }
        }
        await tidy(request);
      }
      return { machines: [...known.values()], unknown: await lostOf(open) };
    },

    async unknown() {
      return lostOf(await requests());
    },

    async see(sighting, origin, request) {
      const kept = await find(sighting.id);
      const before = kept?.record.last;
      // The answer of a start or stop tells the status alone; the rest is remembered.
      const last: Snapshot = {
        id: sighting.id,
        name: sighting.name ?? before?.name ?? kept?.record.name ?? sighting.id,
        status: sighting.status,
        price_per_hour: sighting.price_per_hour ?? before?.price_per_hour ?? null,
        offer_name: sighting.offer_name ?? before?.offer_name ?? null,
        created_at: sighting.created_at ?? before?.created_at ?? null,
        seen_at: now(),
      };
      const { untracked_at, ...record } = kept?.record ?? newMachine(last, origin);
      const wanted = origin === 'track' && untracked_at !== undefined;
      if (kept === undefined || wanted || !isOldNews(before, last)) {
        const next: MachineRecord = {
          ...record,
          name: last.name,
          last,
          request: request ?? record.request,
          ...(untracked_at === undefined || wanted ? {} : { untracked_at }),
        };
        const isPassing = origin === 'read' || origin === 'drive';
        if (isPassing && isUnwritable) return false;
        try {
          await writing(async () => writeMachine(kept?.owner ?? (await mainOwner()), next, kept));
        } catch (error) {
          isUnwritable = true;
          throw error;
        }
      }
      return kept === undefined || wanted;
    },

    async track(id) {
      const kept = await find(id);
      if (kept !== undefined && kept.record.untracked_at === undefined) {
        return false;
      }
      const { untracked_at: _was, ...record } = kept?.record ?? {
        version: 1 as const,
        id,
        name: id,
        origin: 'track' as const,
        known_at: now(),
        request: null,
      };
      await writing(async () => writeMachine(kept?.owner ?? (await mainOwner()), record, kept));
      return true;
    },

    async untrack(id) {
      const kept = await find(id);
      if (kept !== undefined && kept.record.untracked_at === undefined) {
        const record = { ...kept.record, untracked_at: now() };
        await writing(() => writeMachine(kept.owner, record, kept));
      }
    },

    async resolve(uid, kind, details = {}) {
      const request = (await requests()).find(({ intent }) => intent.uid === uid);
      if (request === undefined) {
        return;
      }
      if (isCertain(request.outcome)) {
        await tidy(request);
        return;
      }
      const outcome = outcomeOf(kind, details);
      await writing(() => rewriteRequest(request, outcome));
      await tidy({ ...request, outcome });
    },

    isAccountKnown: async () => (await own()).accountKnown,

    async learnAccount(account, { whereUsed = false } = {}) {
      if (whereUsed && !(await exists(await mainOwner()))) {
        return;
      }
      await writing(() => linkAccount(folder, scope, account, now()));
      found = undefined;
    },

    async strangers() {
      const strangers: Stranger[] = [];
      for (const name of await strangerFolders(folder, await own())) {
        const owner = join(folder, name);
        const quiet = () => undefined;
        const open = await reading(() => openRequests(owner, quiet));
        const { intent } = open[0] ?? (await reading(() => anySettled(owner))) ?? {};
        if (intent?.service !== scope.service || intent.account !== null) continue;
        const kept = await reading(() => machinesIn(owner, 'machines', quiet));
        strangers.push({
          folder: name,
          machines: kept.map(({ record }) => record.id),
          unknown: (await lostOf(open)).length,
        });
      }
      return strangers;
    },

    async adopt(stranger) {
      await writing(async () => linkFolder(folder, await own(), stranger.folder, now()));
      found = undefined;
    },

    owner,

    async export() {
      const kept = await machines(['machines', 'archive']);
      const open = await requests();
      const owned = new Map(kept.map(({ record }) => [record.id, record]));
      for (const request of open) {
        const id = request.outcome?.kind === 'rented' ? request.outcome.id : undefined;
        if (id !== undefined && !owned.has(id)) owned.set(id, machineOf(request, id));
      }
      return {
        kind: 'gpucloud-journal',
        version: 1,
        exported_at: now(),
        ...(await owner()),
        machines: [...owned.values()],
        requests: open
          .filter(({ outcome }) => !isCertain(outcome))
          .map(({ intent, outcome }) => ({
            intent,
            ...(outcome === undefined ? {} : { outcome }),
          })),
      };
    },

    async import(journal) {
      const counts = { machines: 0, requests: 0, known: 0 };
      const main = await mainOwner();
      const open = new Map((await requests()).map((request) => [request.intent.uid, request]));
      for (const record of journal.machines) {
        const kept = await find(record.id);
        const isNews = kept === undefined || seenAt(record) > seenAt(kept.record);
        counts[isNews ? 'machines' : 'known'] += 1;
        if (isNews) {
          const next =
            kept === undefined
              ? { ...record, origin: 'import' as const }
              : mergedMachine(kept.record, record);
          await writing(() => writeMachine(kept?.owner ?? main, next, kept));
        }
        const request = record.request === null ? undefined : open.get(record.request);
        if (request !== undefined && !isCertain(request.outcome)) {
          const outcome = outcomeOf('rented', { id: record.id, reason: 'told by an import' });
          await writing(() => rewriteRequest(request, outcome));
          await tidy({ ...request, outcome });
        }
      }
      for (const { intent, outcome } of journal.requests) {
        const isKnown =
          open.has(intent.uid) ||
          journal.machines.some(({ request }) => request === intent.uid) ||
          (await isSettled(await owners(), intent.uid));
        counts[isKnown ? 'known' : 'requests'] += 1;
        if (!isKnown) {
          await writing(() => importRequest(main, { intent, outcome }));
        }
      }
      return counts;
    },
  };

  function newMachine(last: Snapshot, origin: Origin): MachineRecord {
    const known_at = last.created_at ?? now();
    return { version: 1, id: last.id, name: last.name, origin, known_at, request: null };
  }
}

function machineOf({ intent }: OpenRequest, id: string): MachineRecord {
  const { operation, name, asked_at, uid } = intent;
  return {
    version: 1,
    id,
    name,
    origin: operation === 'reorder' ? 'reorder' : 'create',
    known_at: asked_at,
    request: uid,
  };
}

function knownMachine({ record, place }: KeptMachine): KnownMachine {
  return {
    id: record.id,
    name: record.name,
    origin: record.origin,
    last: record.last,
    asked_at: record.known_at,
    request: record.request,
    archived: place === 'archive',
    untracked: record.untracked_at !== undefined,
  };
}

function unknownRental({ intent, outcome }: OpenRequest): UnknownRental {
  const { uid, name, asked_at, offer_id, operation, source_id, body, masked } = intent;
  return {
    uid,
    name,
    asked_at,
    offer_id,
    operation,
    source_id,
    body,
    masked,
    candidates: outcome?.candidates ?? [],
  };
}

/** Newer knowledge of a machine, which does not undo what its user decided here. */
function mergedMachine(here: MachineRecord, there: MachineRecord): MachineRecord {
  return {
    ...here,
    name: there.name,
    request: here.request ?? there.request,
    ...(there.last === undefined ? {} : { last: there.last }),
  };
}

function seenAt({ last }: MachineRecord): string {
  return last?.seen_at ?? '';
}

async function isSettled(owners: readonly string[], uid: string): Promise<boolean> {
  const looks = await Promise.all(
    owners.map((owner) => exists(join(owner, 'settled', `${uid}.json`))),
  );
  return looks.includes(true);
}

/** Whether a sighting tells nothing new, and the last one is not old either. */
function isOldNews(before: Snapshot | undefined, after: Snapshot): boolean {
  return (
    before !== undefined &&
    JSON.stringify({ ...before, seen_at: '' }) === JSON.stringify({ ...after, seen_at: '' }) &&
    Date.parse(after.seen_at) - Date.parse(before.seen_at) < FRESH
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
