import type { Drive, Instance, SshKey, Template } from '../api/index.ts';
import { slug } from '../catalog/entry.ts';
import type { Catalog, CatalogEntry } from '../catalog/index.ts';
import type { Config, ConfigFile, Settings } from '../config/index.ts';
import type { Journal, KnownInstance } from '../journal/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { KnownName, Lesson } from './names.ts';
import type { NameKind } from './tree.ts';

export type NameRecorder = ReturnType<typeof createRecorder>;

interface RecorderSettings {
  cache(): Promise<string>;
  /** Called only if something was learned. May throw. */
  settings(): Promise<Settings>;
}

/**
 * Records the names that a command has seen, so the shell can complete them. It wraps the stores:
 * each method returns the same result, and no command notices.
 */
export function createRecorder({ cache, settings }: RecorderSettings) {
  const own: Lesson[] = [];
  const ofSandbox: Lesson[] = [];
  let profiles: ConfigFile | undefined;
  let usedCatalog: Catalog | undefined;

  const all = (kind: NameKind, names: readonly KnownName[], lessons = own) => {
    lessons.push({ kind, change: () => names });
  };
  const one = (name: KnownName) => {
    const change = (names: readonly KnownName[]) => [name, ...without(names, name.id)];
    own.push({ kind: name.kind, change });
  };
  const gone = (kind: NameKind, id: string) => {
    own.push({ kind, change: (names) => without(names, id) });
  };

  async function keep(): Promise<void> {
    const files = await import('./names.ts');
    if (usedCatalog !== undefined) {
      const entries = await usedCatalog.known();
      for (const kind of ['offer', 'image'] as const) all(kind, entries.flatMap(entryName(kind)));
    }
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
    instance: (instance: Instance) => one(instanceName(instance)),
    /** Records the new status of an instance that is known by its id. */
    status(id: string, state: string) {
      const change = (names: readonly KnownName[]) =>
        names.map((known) => (known.id === id ? { ...known, state } : known));
      own.push({ kind: 'instance', change });
    },
    drives: (drives: readonly Drive[]) => all('drive', drives.map(driveName)),
    drive: (drive: Drive) => one(driveName(drive)),
    sshKeys: (keys: readonly SshKey[]) => all('ssh-key', keys.map(keyName)),
    sshKey: (key: SshKey) => one(keyName(key)),
    templates: (templates: readonly Template[]) => all('template', templates.map(templateName)),
    gone,

    journal: (journal: Journal): Journal => ({
      ...journal,
      read: after(journal.read, ({ instances: known }) => {
        all('instance', known.filter(({ untracked }) => !untracked).map(knownName));
      }),
      untrack: after(journal.untrack, (_nothing, id) => gone('instance', id)),
    }),

    catalog(catalog: Catalog): Catalog {
      const used = () => {
        usedCatalog = catalog;
      };
      return {
        ...catalog,
        entries: after(catalog.entries, used),
        known: after(catalog.known, used),
        add: after(catalog.add, used),
        remove: after(catalog.remove, used),
        learn: after(catalog.learn, used),
      };
    },

    config(config: Config): Config {
      const kept = (file: ConfigFile) => {
        profiles = file;
      };
      return {
        ...config,
        read: after(config.read, kept),
        change: after(config.change, kept),
      };
    },

    sandbox: (sandbox: Sandbox): Sandbox => ({
      ...sandbox,
      catalog: after(sandbox.catalog, ({ offers, images }) => {
        const names = (kind: NameKind, known: readonly { id: string; name: string }[]) =>
          known.map(({ id, name }) => ({ kind, id, name: slug(name), state: '' }));
        all('offer', names('offer', offers), ofSandbox);
        all('image', names('image', images), ofSandbox);
      }),
      reset: after(sandbox.reset, () => {
        for (const kind of ['instance', 'drive', 'ssh-key'] as const) all(kind, [], ofSandbox);
      }),
    }),

    /**
     * Writes the recorded names. Never fails: names can be learned again, a command can't be undone.
     */
    async keep() {
      if (own.length + ofSandbox.length === 0 && !profiles && !usedCatalog) return;
      try {
        await keep();
      } catch {
        // A cache folder that can't be written must not fail a command.
      }
    },
  };
}

function without(names: readonly KnownName[], id: string): readonly KnownName[] {
  return names.filter((name) => name.id !== id);
}

/** The same method; passes the result of a successful call to `learn` before returning it. */
export function after<A extends readonly unknown[], R>(
  method: (...args: A) => Promise<R>,
  learn: (result: R, ...args: A) => void | Promise<void>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const result = await method(...args);
    await learn(result, ...args);
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
