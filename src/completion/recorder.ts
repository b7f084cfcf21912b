import { slug } from '../catalog/entry.ts';
import type { Catalog } from '../catalog/index.ts';
import { type ConfigFile, profileName, profileNames, type Settings } from '../config/index.ts';
import type { KnownInstance } from '../journal/index.ts';
import { isTerminated } from '../rules/statuses.ts';
import type { Sandbox } from '../sandbox/index.ts';
import { type KnownName, type Lesson, learnNames, learnProfiles, NO_PROFILE } from './names.ts';
import type { NameKind } from './tree.ts';

export type NameRecorder = ReturnType<typeof createRecorder>;

/** The run's folders, settings, profiles and catalog. Read when the run finishes. */
interface Used {
  folders(): Promise<{ readonly cache: string }>;
  /** May throw. */
  resolved(): Promise<{ readonly settings: Settings }>;
  /** The profiles as last read or written; undefined if the run used none. */
  readonly profiles: ConfigFile | undefined;
  readonly catalog: Catalog | undefined;
}

/** Resource fields shown by Tab. */
interface Seen {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly slug?: string | null | undefined;
  readonly status?: string | null | undefined;
  readonly region?: string | null | undefined;
  readonly is_default?: boolean | null | undefined;
}

/** Records the names that a command reads, so that the shell can complete them. */
export function createRecorder() {
  const own: Lesson[] = [];
  const ofSandbox: Lesson[] = [];
  const untracked = new Set<string>();

  function all(kind: NameKind, things: readonly Seen[], lessons = own): void {
    const names = things.map((thing) => nameOf(kind, thing));
    lessons.push({ kind, change: () => names });
  }

  function gone(kind: NameKind, id: string): void {
    own.push({ kind, change: (names) => names.filter((name) => name.id !== id) });
  }

  return {
    all,
    gone,
    one(kind: NameKind, thing: Seen) {
      gone(kind, thing.id);
      const name = nameOf(kind, thing);
      own.push({ kind, change: (names) => (untracked.has(name.id) ? names : [name, ...names]) });
    },
    /** Updates an instance's status by ID. */
    status(id: string, state: string) {
      const change = (names: readonly KnownName[]) =>
        names.map((known) => (known.id === id ? { ...known, state } : known));
      own.push({ kind: 'instance', change });
    },
    /** `isAll` means that the list included terminated instances. */
    instances(known: readonly KnownInstance[], isAll: boolean) {
      const tracked: KnownName[] = [];
      for (const { id, name, last, untracked: isUntracked } of known) {
        if (isUntracked) untracked.add(id);
        else tracked.push(nameOf('instance', { id, name, ...last }));
      }
      const ids = new Set(known.map(({ id }) => id));
      const change = (names: readonly KnownName[]) => {
        const others = names.filter(({ id, state }) => isTerminated(state) && !ids.has(id));
        return isAll ? tracked : [...tracked, ...others];
      };
      own.push({ kind: 'instance', change });
    },
    sandboxCatalog({ offers, images }: Awaited<ReturnType<Sandbox['catalog']>>) {
      all('offer', offers, ofSandbox);
      all('image', images, ofSandbox);
    },
    sandboxReset() {
      for (const kind of ['instance', 'drive', 'ssh-key'] as const) all(kind, [], ofSandbox);
    },

    /**
     * Writes the recorded names. Never fails: gpucloud can learn names again but can't undo a
     * command.
     */
    async keep({ folders, resolved, profiles, catalog }: Used) {
      if (own.length + ofSandbox.length === 0 && !profiles && !catalog) return;
      try {
        for (const kind of catalog === undefined ? [] : (['offer', 'image'] as const)) {
          const entries = await catalog?.known();
          all(kind, entries?.filter((entry) => entry.kind === kind) ?? []);
        }
        const { cache } = await folders();
        if (profiles !== undefined) {
          learnProfiles(cache, profileNames(profiles), profiles.current);
        }
        if (ofSandbox.length > 0) learnNames(cache, 'sandbox', ofSandbox);
        if (own.length === 0) return;
        const slot = await slotOf((await resolved()).settings, NO_PROFILE);
        if (slot !== undefined) learnNames(cache, slot, own);
      } catch {
        // An unwritable cache folder must not fail a command.
      }
    },
  };
}

/**
 * Returns the profile that owns these names. A key or address from the environment may belong to
 * another account. The scripts apply the same rule to the same variables.
 */
async function slotOf({ sandbox, profile, baseUrl, apiKey }: Settings, noProfile: string) {
  if (sandbox) return 'sandbox';
  for (const source of [baseUrl?.source, apiKey?.source]) {
    if (source === 'flag' || source === 'environment') return noProfile;
  }
  // A profile name in a hand-edited config.json may be a path.
  return profile !== undefined && profileName(profile.value).ok ? profile.value : undefined;
}

function nameOf(kind: NameKind, { id, name, ...thing }: Seen): KnownName {
  switch (kind) {
    case 'offer':
    case 'image':
      // Uses the slug as the name, since it needs no quotes.
      return { kind, id, name: slug(name ?? null) || id, state: thing.region ?? '' };
    case 'template':
      return { kind, id, name: thing.slug ?? name ?? id, state: '' };
    case 'ssh-key':
      return { kind, id, name: name ?? id, state: thing.is_default === true ? 'default' : '' };
    default:
      return { kind, id, name: name ?? id, state: thing.status ?? '' };
  }
}
