import type { Drive, Instance, SshKey, Template } from '../api/index.ts';
import { slug } from '../catalog/entry.ts';
import type { Catalog } from '../catalog/index.ts';
import type { ConfigFile, Settings } from '../config/index.ts';
import type { KnownInstance } from '../journal/index.ts';
import { isTerminated } from '../rules/statuses.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { KnownName, Lesson } from './names.ts';
import type { NameKind } from './tree.ts';

export type NameRecorder = ReturnType<typeof createRecorder>;

/** What a run has used, read at its end. */
interface Used {
  folders(): Promise<{ readonly cache: string }>;
  /** May throw. */
  resolved(): Promise<{ readonly settings: Settings }>;
  /** The profiles as last read or written; undefined if the run used none. */
  readonly profiles: ConfigFile | undefined;
  readonly catalog: Catalog | undefined;
}

/** Records the names that a command has seen, so the shell can complete them. */
export function createRecorder() {
  const own: Lesson[] = [];
  const ofSandbox: Lesson[] = [];
  const untracked = new Set<string>();

  const all = (kind: NameKind, names: readonly KnownName[], lessons = own) => {
    lessons.push({ kind, change: () => names });
  };
  const one = (name: KnownName) => {
    const change = (names: readonly KnownName[]) => [
      ...(untracked.has(name.id) ? [] : [name]),
      ...without(names, name.id),
    ];
    own.push({ kind: name.kind, change });
  };

  async function keep({ folders, resolved, profiles, catalog }: Used): Promise<void> {
    const files = await import('./names.ts');
    if (catalog !== undefined) {
      const entries = await catalog.known();
      for (const kind of ['offer', 'image'] as const) {
        all(
          kind,
          named(
            kind,
            entries.filter((entry) => entry.kind === kind),
          ),
        );
      }
    }
    const { cache } = await folders();
    if (profiles !== undefined) {
      const { profileNames } = await import('../config/index.ts');
      files.learnProfiles(files.profilesFile(cache), profileNames(profiles), profiles.current);
    }
    if (ofSandbox.length > 0) files.learnNames(files.namesFolder(cache, 'sandbox'), ofSandbox);
    if (own.length === 0) return;
    const slot = await slotOf((await resolved()).settings);
    if (slot !== undefined) files.learnNames(files.namesFolder(cache, slot), own);
  }

  return {
    instance: ({ id, name, status }: Instance) =>
      one({ kind: 'instance', id, name: name ?? id, state: status }),
    /** Records the new status of an instance that is known by its id. */
    status(id: string, state: string) {
      const change = (names: readonly KnownName[]) =>
        names.map((known) => (known.id === id ? { ...known, state } : known));
      own.push({ kind: 'instance', change });
    },
    /** `isAll`: terminated instances were read too. */
    instances(known: readonly KnownInstance[], isAll: boolean) {
      for (const one of known) if (one.untracked) untracked.add(one.id);
      const tracked = known.filter((one) => !one.untracked).map(knownName);
      const ids = new Set(known.map(({ id }) => id));
      const change = (names: readonly KnownName[]) => {
        const others = names.filter(({ id, state }) => isTerminated(state) && !ids.has(id));
        return isAll ? tracked : [...tracked, ...others];
      };
      own.push({ kind: 'instance', change });
    },
    drives: (drives: readonly Drive[]) => all('drive', drives.map(driveName)),
    drive: (drive: Drive) => one(driveName(drive)),
    sshKeys: (keys: readonly SshKey[]) => all('ssh-key', keys.map(keyName)),
    sshKey: (key: SshKey) => one(keyName(key)),
    templates: (templates: readonly Template[]) => all('template', templates.map(templateName)),
    gone(kind: NameKind, id: string) {
      own.push({ kind, change: (names) => without(names, id) });
    },
    sandboxCatalog({ offers, images }: Awaited<ReturnType<Sandbox['catalog']>>) {
      all('offer', named('offer', offers), ofSandbox);
      all('image', named('image', images), ofSandbox);
    },
    sandboxReset() {
      for (const kind of ['instance', 'drive', 'ssh-key'] as const) all(kind, [], ofSandbox);
    },

    /**
     * Writes the recorded names. Never fails: names can be learned again, a command can't be undone.
     */
    async keep(used: Used) {
      if (own.length + ofSandbox.length === 0 && !used.profiles && !used.catalog) return;
      try {
        await keep(used);
      } catch {
        // A cache folder that can't be written must not fail a command.
      }
    },
  };
}

function without(names: readonly KnownName[], id: string): readonly KnownName[] {
  return names.filter((name) => name.id !== id);
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
  // A profile name in a hand-edited config.json may be a path.
  return profile !== undefined && profileName(profile.value).ok ? profile.value : undefined;
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
function named(
  kind: 'offer' | 'image',
  things: readonly { id: string; name: string | null; region?: string | null }[],
): KnownName[] {
  return things.map(({ id, name, region }) => ({
    kind,
    id,
    name: slug(name) || id,
    state: region ?? '',
  }));
}
