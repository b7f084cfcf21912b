import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalSettings, Scope } from './contract.ts';
import { fileName, namesIn } from './files.ts';
import type { Place } from './instances.ts';
import { openStore } from './store.ts';

/** An instance as Tab shows it. */
export interface NamedInstance {
  readonly id: string;
  readonly name: string;
  /** The last status seen; '' if it was never read. */
  readonly status: string;
}

/**
 * Reads names for Tab. Changes no file: reading the whole journal also completes requests whose
 * process was killed. Checks only the fields in use, since the schemas take longer to load than a
 * hundred files to read.
 */
export function openNamedInstances(settings: Pick<JournalSettings, 'state' | 'scope' | 'clock'>) {
  const folders = foldersOf(settings);
  return {
    /** Returns the instances of a place, except untracked ones. */
    in: (place: Place): NamedInstance[] =>
      folders.flatMap((folder) =>
        namesIn(join(folder, place)).flatMap((name) =>
          name.endsWith('.json') ? namedIn(join(folder, place, name)) : [],
        ),
      ),
    find: (id: string): NamedInstance | undefined =>
      folders.flatMap((folder) =>
        ['instances', 'archive'].flatMap((place) =>
          namedIn(join(folder, place, `${fileName(id)}.json`)),
        ),
      )[0],
  };
}

/** Looks up the key's account only if there are several, since hashing the key is slow. */
function foldersOf(settings: Pick<JournalSettings, 'state' | 'scope' | 'clock'>): string[] {
  const { apiKey: _key, ...rest } = settings.scope;
  const of = (scope: Scope) =>
    openStore({ ...settings, scope, pid: 0, isAlive: () => false, warn: () => undefined });
  const known = of(rest).folders();
  return known.length > 1 ? of(settings.scope).folders() : known;
}

function namedIn(path: string): NamedInstance[] {
  try {
    const { id, name, last, untracked_at } = JSON.parse(readFileSync(path, 'utf8'));
    const isNamed = typeof id === 'string' && typeof name === 'string';
    return isNamed && untracked_at === undefined
      ? [{ id, name, status: `${last?.status ?? ''}` }]
      : [];
  } catch {
    return [];
  }
}
