import { basename, dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import type { Ends, JournalSettings } from './contract.ts';
import { deadlinesIn, inheritDeadline } from './deadlines.ts';
import {
  exists,
  fileName,
  fingerprint,
  foreignOwner,
  nameIn,
  namesIn,
  readText,
  remedyOf,
  serviceFolder,
  writeRecord,
} from './files.ts';
import { findInstance, instancesIn, type KeptInstance, type Place } from './instances.ts';
import { parseRecord } from './record.ts';
import { type KeptRequest, removeRequest, requestsIn } from './requests.ts';

export type Store = ReturnType<typeof openStore>;

/** Folder with the account of each key fingerprint, next to the account folders. */
const KEYS = '@keys';

/** Opens the files of one account of a service, for all parts of the journal. */
export function openStore(settings: JournalSettings) {
  const { state, scope, clock } = settings;
  const root = join(state, 'journal');
  const own = join(root, serviceFolder(scope.service));
  let learned = scope.account;
  const warned = new Set<string>();

  // Skips hashing if the profile contains its account, since hashing loads node:crypto.
  const keyFile = () => scope.apiKey && join(own, KEYS, `${fingerprint(scope.apiKey)}.json`);

  /** Returns the account ID if it is known without a request. */
  function account(): string | undefined {
    if (learned !== undefined) return learned;
    const file = keyFile();
    learned = file && parseRecord('key', file, readText(file))?.account;
    return learned;
  }

  /** Whether this key is known to belong to the account. The built-in service has no key. */
  function isKeyKnown(): boolean {
    const file = keyFile();
    if (file === undefined) return account() !== undefined;
    const kept = parseRecord('key', file, readText(file))?.account;
    return kept !== undefined && kept === account();
  }

  /** Stores the key's account. New records still go to the profile's own account, if known. */
  async function learn(id: string): Promise<void> {
    learned = scope.account ?? id;
    const file = keyFile();
    if (file !== undefined && parseRecord('key', file, readText(file))?.account !== id) {
      await writeRecord(file, { version: 1, account: id });
    }
  }

  /** Returns the folder for new records, or undefined while the account is unknown. */
  function ownFolder(): string | undefined {
    const id = account();
    return id === undefined ? undefined : join(own, fileName(id));
  }

  /**
   * Returns the folders to read: the account's own, or every account's while the account is
   * unknown.
   */
  function folders(): string[] {
    const folder = ownFolder();
    if (folder !== undefined) return exists(folder) ? [folder] : [];
    const names = namesIn(own, 'folders').filter((name) => name !== KEYS);
    return names.map((name) => join(own, name));
  }

  /** Converts file system errors to CliError('storage'). */
  function storing(what: 'read' | 'write') {
    return async <T>(work: () => T | Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof CliError) throw error;
        const { message } = error as Error;
        throw new CliError(
          'storage',
          `Could not ${what} the list of rented instances: ${message}`,
          {
            hint: `${remedyOf(error, root)}, or set GPUCLOUD_STATE_DIR to another folder`,
            cause: error,
          },
        );
      }
    };
  }

  function spoil(path: string, lost = LOST[basename(dirname(path))]): void {
    if (!warned.has(path)) {
      settings.warn(`Could not read the journal file ${path}${foreignOwner(path)}, so ${lost}.`);
    }
    warned.add(path);
  }

  async function instances(places: readonly Place[]): Promise<KeptInstance[]> {
    const found: KeptInstance[] = [];
    for (const folder of folders()) {
      for (const place of places) found.push(...(await instancesIn(folder, place, spoil)));
    }
    return found;
  }

  /**
   * Applies a resolved request's deadline and removes the request, if the request's process was
   * killed before doing so.
   */
  async function finish(request: KeptRequest, instance: KeptInstance | undefined): Promise<void> {
    try {
      if (instance?.place === 'instances') {
        await inheritDeadline(request.folder, instance.record.id, request);
      }
    } catch {
      // The request keeps its deadline until a later command can apply it.
      return;
    }
    removeSettled(request);
  }

  /** Removes a resolved request. If that fails, a later command removes the file. */
  function removeSettled(request: Pick<KeptRequest, 'folder' | 'name' | 'uid'>): void {
    try {
      removeRequest(request.folder, request);
    } catch {
      // Ignores the fault: the instance names the request, so the request counts as resolved.
    }
  }

  const lookUp = (id: string) => findInstance(folders(), id);

  return {
    settings,
    account,
    isKeyKnown,
    learn,
    ownFolder,
    folders,
    now: () => new Date(clock.now()).toISOString(),
    /** Returns the folder for new records. Call it only after the account is known. */
    main() {
      const folder = ownFolder();
      if (folder === undefined) throw new Error('no account is known for the API key');
      return folder;
    },
    reading: storing('read'),
    writing: storing('write'),
    instances,
    lookUp,
    /** Returns one instance; undefined if it is unknown or its file is unreadable. */
    find(id: string): KeptInstance | undefined {
      const found = lookUp(id);
      return found === 'unreadable' ? undefined : found;
    },
    /**
     * Returns deadlines by instance ID, except for archived instances; undefined for an unreadable
     * deadline.
     */
    async deadlines() {
      const found = new Map<string, Ends & { readonly name: string }>();
      for (const folder of folders()) {
        for (const { id, name, deadline, if_idle, rescue } of await deadlinesIn(folder, spoil)) {
          if (deadline !== null || if_idle !== undefined)
            found.set(id, { name, deadline, if_idle, rescue });
        }
      }
      return found;
    },
    /** Returns open requests, oldest first in each folder. */
    async openRequests() {
      const kept: KeptRequest[] = [];
      for (const folder of folders()) kept.push(...(await requestsIn(folder, settings, spoil)));
      if (kept.every(({ isInFlight }) => isInFlight)) return kept;
      // A request whose instance is known is resolved: its process stopped before removing the
      // file.
      const known = await instances(['instances', 'archive']);
      const made = new Map(known.map((instance) => [instance.record.request, instance]));
      const isSettled = ({ uid, isInFlight }: KeptRequest) => !isInFlight && made.has(uid);
      for (const request of kept.filter(isSettled)) {
        await finish(request, made.get(request.uid));
      }
      return kept.filter((request) => !isSettled(request));
    },
    removeSettled,
    /** Returns what `Known` says about the unreadable files found so far. */
    unreadable(): string[] {
      return [...warned].flatMap((path) => {
        const folder = basename(dirname(path));
        if (folder === 'requests') return path;
        if (folder !== 'instances') return [];
        return foreignOwner(path) === '' ? nameIn(basename(path, '.json')) : path;
      });
    },
  };
}

/** What is unknown without a file, by its folder. */
const LOST: Readonly<Record<string, string>> = {
  instances: 'only the ID of its instance is known',
  archive: 'only the ID of its instance is known',
  deadlines: 'the deadline of its instance is unknown',
  requests: 'its request is missing. Check your instances in the web console',
};
