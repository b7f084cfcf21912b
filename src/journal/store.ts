import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { type Accounts, accountsOf } from './accounts.ts';
import type { JournalSettings } from './contract.ts';
import { exists } from './files.ts';
import { findInstance, instancesIn, type KeptInstance, type Place } from './instances.ts';
import { OLD_FOLDER } from './names.ts';
import { type KeptRequest, removeRequest, requestsIn } from './requests.ts';

/** The files of one account, as the parts of the journal read and write them. */
export interface Store {
  readonly settings: JournalSettings;
  readonly accounts: Accounts;
  now(): string;
  /** Where new things are written. Only for callers that made sure of the account. */
  main(): string;
  /** Turns what the file system throws into CliError('storage'). */
  reading<T>(work: () => T | Promise<T>): Promise<T>;
  writing<T>(work: () => T | Promise<T>): Promise<T>;
  instances(places: readonly Place[]): Promise<KeptInstance[]>;
  find(id: string): KeptInstance | undefined;
  /** The requests that are not settled, oldest first in each folder. */
  openRequests(): Promise<KeptRequest[]>;
  /** Removes a settled request. A file that stays is removed by a later command. */
  removeSettled(request: Pick<KeptRequest, 'folder' | 'name' | 'uid'>): void;
}

export function openStore(settings: JournalSettings): Store {
  const { state, scope, clock } = settings;
  const root = join(state, 'journal');
  const accounts = accountsOf(root, scope);
  const warned = new Set<string>();
  let carried: Promise<void> | undefined;

  /** What an earlier version kept is moved here before anything else is done. */
  async function carryOver(): Promise<void> {
    if (!exists(join(state, OLD_FOLDER))) return;
    const old = await import('./carry-over.ts');
    for (const warning of await old.carryOver(state)) settings.warn(warning);
  }

  async function storing<T>(what: 'read' | 'written', work: () => T | Promise<T>): Promise<T> {
    try {
      carried ??= carryOver();
      await carried;
      return await work();
    } catch (error) {
      if (error instanceof CliError) throw error;
      const words = error instanceof Error ? error.message : String(error);
      throw new CliError('storage', `The list of rented machines could not be ${what}: ${words}`, {
        hint: `check the folder ${root}`,
        cause: error,
      });
    }
  }

  function spoil(path: string): void {
    if (!warned.has(path)) {
      settings.warn(
        `A file of the journal can't be read and was left as it is: ${path}. What only it knew is missing here: compare with the web console.`,
      );
    }
    warned.add(path);
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

  function removeSettled(request: Pick<KeptRequest, 'folder' | 'name' | 'uid'>): void {
    try {
      removeRequest(request.folder, request);
    } catch {
      // The instance names the request, so that it counts as settled.
    }
  }

  return {
    settings,
    accounts,
    now: () => new Date(clock.now()).toISOString(),
    main() {
      const folder = accounts.main();
      if (folder === undefined) throw new Error('the account of the API key is not known');
      return folder;
    },
    reading: (work) => storing('read', work),
    writing: (work) => storing('written', work),
    instances,
    find: (id) => findInstance(accounts.folders(), id),
    async openRequests() {
      const kept = await inFolders((folder) => requestsIn(folder, settings, spoil));
      if (kept.every(({ isInFlight }) => isInFlight)) return kept;
      // One whose instance is known is settled: its process ended before it could remove the file.
      const known = await instances(['instances', 'archive']);
      const made = new Set(known.map(({ record }) => record.request));
      const isSettled = ({ uid, isInFlight }: KeptRequest) => !isInFlight && made.has(uid);
      for (const request of kept.filter(isSettled)) removeSettled(request);
      return kept.filter((request) => !isSettled(request));
    },
    removeSettled,
  };
}
