import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isoTime } from '../clock.ts';
import { CliError } from '../errors.ts';
import { isSameName } from '../rules/names.ts';
import { accountsOf } from './accounts.ts';
import { keptBody } from './body.ts';
import type {
  Journal,
  JournalSettings,
  OpenedRequest,
  OpenRequest,
  RentalRequest,
} from './contract.ts';
import { exists } from './files.ts';
import {
  findInstance,
  instancesIn,
  isOldNews,
  type KeptInstance,
  knownInstance,
  type Place,
  snapshotOf,
  writeInstance,
} from './instances.ts';
import { OLD_FOLDER } from './names.ts';
import type { InstanceRecord, Origin, RequestRecord } from './record.ts';
import {
  archiveRequest,
  createRequest,
  giveUpRequest,
  type KeptRequest,
  moveAside,
  openRequestOf,
  removeRequest,
  requestNamed,
  requestsIn,
} from './requests.ts';

/** Characters of a name from outside that a message shows. */
const SHOWN = 60;

/** Opens the journal of one account. Nothing is read or written before it is asked for. */
export function openJournal(settings: JournalSettings): Journal {
  const { state, scope, clock } = settings;
  const root = join(state, 'journal');
  const accounts = accountsOf(root, scope);
  const now = () => isoTime(clock.now());
  const storage = storageErrors(root);
  const warned = new Set<string>();
  /** As the last read found them; a command that lists instances observes each right after. */
  const seen = new Map<string, KeptInstance>();
  let isUnwritable = false;
  let isCarriedOver = false;

  /** What an earlier version kept is moved here before anything else is done. */
  async function carriedOver(): Promise<void> {
    if (isCarriedOver) return;
    isCarriedOver = true;
    if (!exists(join(state, OLD_FOLDER))) return;
    const { carryOver } = await import('./carry-over.ts');
    for (const warning of await carryOver(state)) settings.warn(warning);
  }
  const reading = <T>(work: () => T | Promise<T>) =>
    storage('read', async () => {
      await carriedOver();
      return work();
    });
  const writing = <T>(work: () => T | Promise<T>) =>
    storage('written', async () => {
      await carriedOver();
      return work();
    });

  function spoil(path: string): void {
    if (!warned.has(path)) {
      settings.warn(
        `A file of the journal can't be read and was left as it is: ${path}. What only it knew is missing here: compare with the web console.`,
      );
    }
    warned.add(path);
  }

  function main(): string {
    const folder = accounts.main();
    if (folder === undefined) throw new Error('the account of the API key is not known');
    return folder;
  }

  async function inFolders<T>(work: (folder: string) => Promise<T[]>): Promise<T[]> {
    const found: T[] = [];
    for (const folder of accounts.folders()) found.push(...(await work(folder)));
    return found;
  }
  const instances = (places: readonly Place[]) =>
    inFolders(async (folder) => {
      const found: KeptInstance[] = [];
      for (const place of places) found.push(...(await instancesIn(folder, place, spoil)));
      return found;
    });
  const find = (id: string) => findInstance(accounts.folders(), id);

  /**
   * The requests that are not settled. One whose instance is known was: its process ended before it
   * could remove the file.
   */
  async function openRequests(): Promise<KeptRequest[]> {
    const kept = await inFolders((folder) => requestsIn(folder, settings, spoil));
    if (kept.every(({ isInFlight }) => isInFlight)) return kept;
    const made = new Set(
      (await instances(['instances', 'archive'])).map(({ record }) => record.request),
    );
    return kept.filter((request) => {
      if (request.isInFlight || !made.has(request.uid)) return true;
      tryRemoving(request);
      return false;
    });
  }

  function newInstance(id: string, origin: Origin, known_at: string): InstanceRecord {
    return { version: 1, id, name: id, origin, known_at, request: null };
  }

  /** Writes that an instance came of a request. */
  async function madeBy(id: string, request: RequestRecord, folder: string): Promise<void> {
    const kept = find(id);
    const { operation, name, asked_at, uid } = request;
    const before =
      kept?.isTorn === false ? kept.record : { ...newInstance(id, operation, asked_at), name };
    await writeInstance(folder, { ...before, origin: operation, request: uid }, kept);
  }

  function opened(record: RequestRecord, folder: string): OpenedRequest {
    return {
      uid: record.uid,
      doubt: async (id, name) => doubtOf(record, id, name),
      async made(id) {
        await writing(() => madeBy(id, record, folder));
        // The instance names its request, so that a later command removes the file.
        tryRemoving({ ...record, folder });
      },
      notMade: () => writing(() => removeRequest(folder, record)),
      unknown: () => writing(() => giveUpRequest(folder, record)),
    };
  }

  /** What can't be read contradicts nothing, and the id has to be kept all the same. */
  function doubtOf(record: RequestRecord, id: string, name: string | undefined) {
    if (name !== undefined && !isSameName(name, record.name)) {
      return `belongs to an instance of another name, ${name.slice(0, SHOWN)}`;
    }
    if (record.source_id?.toLowerCase() === id.toLowerCase()) {
      return 'is that of the terminated instance';
    }
    // A list of this very moment may have found the new instance through its drive.
    const kept = find(id) ?? find(id.toLowerCase());
    if (kept === undefined) return undefined;
    const { request, known_at } = kept.record;
    const isOfAnother = request !== null && request !== record.uid;
    const isOlder = Date.parse(known_at) <= Date.parse(record.asked_at);
    return isOfAnother || isOlder ? 'is that of an instance that was known before' : undefined;
  }

  async function requestOf(uid: string): Promise<KeptRequest | undefined> {
    return (await openRequests()).find((request) => request.uid === uid);
  }

  return {
    account: () => reading(() => accounts.account()),
    learnAccount: (id) => writing(() => accounts.learn(id)),

    open: (request, agreed) =>
      writing(async () => {
        const folder = main();
        const record = recordOf(request, settings.pid, now());
        const holder = requestNamed(folder, request.name, settings);
        if (holder !== undefined && agreed.has(holder.uid)) await moveAside(holder, settings);
        return (await createRequest(folder, record)) ? opened(record, folder) : undefined;
      }),

    async read({ archived = false } = {}) {
      return reading(async () => {
        // The requests first: whoever settles one meanwhile has written its instance before.
        const open = (await openRequests()).map(openRequestOf);
        const kept = await instances(archived ? ['instances', 'archive'] : ['instances']);
        seen.clear();
        for (const one of kept) if (!seen.has(one.record.id)) seen.set(one.record.id, one);
        return { instances: [...seen.values()].map(knownInstance), ...parted(open) };
      });
    },

    requests: () => reading(async () => (await openRequests()).map(openRequestOf)),

    instance: (id) =>
      reading(() => {
        const kept = find(id);
        if (kept !== undefined) seen.set(id, kept);
        return kept === undefined || kept.isTorn ? undefined : knownInstance(kept);
      }),

    async observe(observation, origin) {
      const { id } = observation;
      const just = seen.get(id);
      seen.delete(id);
      const seen_at = now();
      if (just !== undefined && origin === 'read') {
        if (isOldNews(just.record.last, snapshotOf(observation, just.record, seen_at)))
          return false;
      }
      const kept = await reading(() => find(id));
      const last = snapshotOf(observation, kept?.record, seen_at);
      const record = kept?.record ?? newInstance(id, origin, seen_at);
      const isWanted = origin === 'track' && record.untracked_at !== undefined;
      const isNew = kept === undefined || isWanted;
      const isPassing = origin === 'read' || origin === 'drive';
      if (isPassing && (isUnwritable || accounts.account() === undefined)) {
        // Without an account a new instance has no place; a known one keeps its own.
        if (kept === undefined || isUnwritable) return false;
      }
      if (isNew || kept.isTorn || !isOldNews(record.last, last)) {
        const next = { ...record, name: last.name, last };
        try {
          await writing(() =>
            writeInstance(accounts.main() ?? kept?.folder ?? main(), wanted(next, isWanted), kept),
          );
        } catch (error) {
          isUnwritable = true;
          throw error;
        }
      }
      return isNew;
    },

    track: (id) =>
      writing(async () => {
        const kept = find(id);
        if (kept !== undefined && kept.record.untracked_at === undefined) return false;
        const record = kept?.record ?? newInstance(id, 'track', now());
        await writeInstance(main(), wanted(record, true), kept);
        return true;
      }),

    untrack: (id) =>
      writing(async () => {
        const kept = find(id);
        if (kept === undefined || kept.record.untracked_at !== undefined) return;
        await writeInstance(kept.folder, { ...kept.record, untracked_at: now() }, kept);
      }),

    settle: (uid, id) =>
      writing(async () => {
        const request = await requestOf(uid);
        if (request === undefined) return;
        await madeBy(id, request, request.folder);
        tryRemoving(request);
      }),

    forget: (uid) =>
      writing(async () => {
        const request = await requestOf(uid);
        if (request !== undefined) await archiveRequest(request);
      }),
  };
}

/** A file that stays is removed by a later command. */
function tryRemoving(request: RequestRecord & { readonly folder: string }): void {
  try {
    removeRequest(request.folder, request);
  } catch {
    // The instance names the request, so that it counts as settled.
  }
}

function wanted({ untracked_at, ...record }: InstanceRecord, isWanted: boolean): InstanceRecord {
  return untracked_at === undefined || isWanted ? record : { ...record, untracked_at };
}

function recordOf(
  { operation, name, offer_id, source_id, max_price, body, timeout_ms }: RentalRequest,
  pid: number,
  asked_at: string,
): RequestRecord {
  const kept = body && keptBody(body);
  return {
    version: 1,
    uid: randomUUID(),
    operation,
    name,
    asked_at,
    pid,
    timeout_ms,
    offer_id,
    ...(source_id === undefined ? {} : { source_id }),
    ...(max_price === undefined ? {} : { max_price }),
    ...(kept === undefined ? {} : { body: kept }),
  };
}

function parted(open: readonly OpenRequest[]) {
  return {
    unknown: open.filter(({ isInFlight }) => !isInFlight),
    inFlight: open.filter(({ isInFlight }) => isInFlight),
  };
}

/** Turns what the file system throws into CliError('storage'). */
function storageErrors(root: string) {
  return async <T>(what: 'read' | 'written', work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CliError) throw error;
      const words = error instanceof Error ? error.message : String(error);
      throw new CliError('storage', `The list of rented machines could not be ${what}: ${words}`, {
        hint: `check the folder ${root}`,
        cause: error,
      });
    }
  };
}
