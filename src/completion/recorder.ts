import type { Drive, Instance, SshKey, Template } from '../api/index.ts';
import { slug } from '../catalog/entry.ts';
import type { Catalog, CatalogEntry } from '../catalog/index.ts';
import type { Config, ConfigFile, Settings } from '../config/index.ts';
import type { Journal, KnownInstance } from '../journal/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { KnownName, Lesson } from './names.ts';
import type { NameKind } from './tree.ts';

/**
 * Records the names that a command has seen, so the shell can complete them. It wraps the stores:
 * each method returns the same result, and no command notices.
 */
export interface NameRecorder {
  instance(instance: Instance): void;
  /** Records the new status of an instance that is known by its id. */
  status(id: string, status: string): void;
  drives(drives: readonly Drive[]): void;
  drive(drive: Drive): void;
  sshKeys(keys: readonly SshKey[]): void;
  sshKey(key: SshKey): void;
  templates(templates: readonly Template[]): void;
  gone(kind: NameKind, id: string): void;
  journal(journal: Journal): Journal;
  catalog(catalog: Catalog): Catalog;
  config(config: Config): Config;
  sandbox(sandbox: Sandbox): Sandbox;
  /**
   * Writes the recorded names. Never fails: names can be learned again, a command can't be undone.
   */
  keep(): Promise<void>;
}

interface RecorderSettings {
  cache(): Promise<string>;
  /** Called only if something was learned. May throw. */
  settings(): Promise<Settings>;
}

export function createRecorder({ cache, settings }: RecorderSettings): NameRecorder {
  const own: Lesson[] = [];
  const ofSandbox: Lesson[] = [];
  let profiles: ConfigFile | undefined;
  let learnedOf: Catalog | undefined;

  const all = (kind: NameKind, names: readonly KnownName[]) => {
    own.push({ what: 'all', kind, names });
  };
  const one = (name: KnownName) => {
    own.push({ what: 'one', name });
  };
  const gone = (kind: NameKind, id: string) => {
    own.push({ what: 'gone', kind, id });
  };
  const catalogued = (entries: readonly CatalogEntry[]) => {
    all('offer', entries.flatMap(entryName('offer')));
    all('image', entries.flatMap(entryName('image')));
  };

  async function keep(): Promise<void> {
    const files = await import('./names.ts');
    if (learnedOf !== undefined) catalogued(await learnedOf.known());
    const folder = await cache();
    if (profiles !== undefined) {
      const { profileNames } = await import('../config/index.ts');
      files.learnProfiles(files.profilesFile(folder), profileNames(profiles), profiles.current);
    }
    if (ofSandbox.length > 0) {
      files.learnNames(files.namesFolder(folder, 'sandbox'), ofSandbox);
    }
    if (own.length > 0) {
      const slot = await slotOf(await settings());
      if (slot === undefined) return;
      files.learnNames(files.namesFolder(folder, slot), own);
    }
  }

  return {
    instance: (instance) => one(instanceName(instance)),
    status(id, state) {
      own.push({ what: 'state', kind: 'instance', id, state });
    },
    drives: (drives) => all('drive', drives.map(driveName)),
    drive: (drive) => one(driveName(drive)),
    sshKeys: (keys) => all('ssh-key', keys.map(keyName)),
    sshKey: (key) => one(keyName(key)),
    templates: (templates) => all('template', templates.map(templateName)),
    gone,

    journal: (journal) => ({
      ...journal,
      read: afterwards(journal.read, ({ instances: known }) => {
        all('instance', known.filter(({ untracked }) => !untracked).map(knownName));
      }),
      untrack: afterwards(journal.untrack, (_nothing, id) => gone('instance', id)),
    }),

    catalog: (catalog) => ({
      ...catalog,
      entries: afterwards(catalog.entries, catalogued),
      known: afterwards(catalog.known, catalogued),
      add: afterwards(catalog.add, () => {
        learnedOf = catalog;
      }),
      remove: afterwards(catalog.remove, (_nothing, kind, id) => gone(kind, id)),
      learn: afterwards(catalog.learn, () => {
        learnedOf = catalog;
      }),
    }),

    config: (config) => {
      const kept = (file: ConfigFile) => {
        profiles = file;
      };
      return {
        ...config,
        read: afterwards(config.read, kept),
        change: afterwards(config.change, kept),
      };
    },

    sandbox: (sandbox) => ({
      ...sandbox,
      catalog: afterwards(sandbox.catalog, ({ offers, images }) => {
        const names = (kind: NameKind, known: readonly { id: string; name: string }[]) =>
          known.map(({ id, name }) => ({ kind, id, name: slug(name), state: '' }));
        ofSandbox.push({ what: 'all', kind: 'offer', names: names('offer', offers) });
        ofSandbox.push({ what: 'all', kind: 'image', names: names('image', images) });
      }),
      reset: afterwards(sandbox.reset, () => {
        for (const kind of ['instance', 'drive', 'ssh-key'] as const) {
          ofSandbox.push({ what: 'all', kind, names: [] });
        }
      }),
    }),

    async keep() {
      if (own.length + ofSandbox.length === 0 && !profiles && !learnedOf) return;
      try {
        await keep();
      } catch {
        // A cache folder that can't be written must not fail a command.
      }
    },
  };
}

/** The same method; passes the result of a successful call to `learn`. */
function afterwards<A extends readonly unknown[], R>(
  method: (...args: A) => Promise<R>,
  learn: (result: R, ...args: A) => void,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const result = await method(...args);
    learn(result, ...args);
    return result;
  };
}

/**
 * The owner of these names. A key or address from outside may belong to another account than the
 * profile's. The scripts apply the same rule to the same variables.
 */
async function slotOf({ sandbox, profile, baseUrl, apiKey }: Settings) {
  const { NO_PROFILE } = await import('./names.ts');
  if (sandbox) return 'sandbox';
  const fromOutside = [baseUrl?.source, apiKey?.source].some(
    (source) => source === 'flag' || source === 'environment',
  );
  if (fromOutside) return NO_PROFILE;
  const { profileName } = await import('../config/index.ts');
  // A profile name edited into config.json may be a path.
  return profile !== undefined && profileName(profile.value).ok ? profile.value : undefined;
}

function instanceName({ id, name, status }: Instance): KnownName {
  return { kind: 'instance', id, name: name ?? id, state: status };
}

function knownName({ id, name, last }: KnownInstance): KnownName {
  return { kind: 'instance', id, name: last?.name ?? name, state: last?.status ?? '' };
}

function driveName({ id, name, status }: Drive): KnownName {
  return { kind: 'drive', id, name: name ?? id, state: status ?? '' };
}

function keyName({ id, name, is_default }: SshKey): KnownName {
  return { kind: 'ssh-key', id, name: name ?? id, state: is_default === true ? 'default' : '' };
}

function templateName({ id, slug: word, name }: Template): KnownName {
  return { kind: 'template', id, name: word ?? name ?? id, state: '' };
}

/** Offers and images are named by their slug, which needs no quotes. */
function entryName(kind: 'offer' | 'image') {
  return (entry: CatalogEntry): KnownName[] =>
    entry.kind === kind
      ? [{ kind, id: entry.id, name: slug(entry.name) || entry.id, state: entry.region ?? '' }]
      : [];
}
