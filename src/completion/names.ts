import { dirname, join } from 'node:path';
import { openCatalog, priceSeen, slug, stockSeen } from '../catalog/index.ts';
import {
  folders,
  peekConfig,
  profileName,
  profileNames,
  resolveSettings,
  type Settings,
  type SettingsFlags,
} from '../config/index.ts';
import { openNamedInstances } from '../journal/names.ts';
import { lazy } from '../lazy.ts';
import { accountIn, openSandbox } from '../sandbox/index.ts';
import type { Clock } from '../system/clock.ts';
import { privateFolder, readPlain, replaceFile } from '../system/files.ts';
import type { Candidate, NameKind } from './values.ts';

/** A name as Tab shows it. */
export interface KnownName {
  readonly id: string;
  readonly name: string;
  /** A short state, such as a status; '' for none. */
  readonly state: string;
  /** A description in gpucloud's own words, instead of the state. */
  readonly help?: string;
}

/** The computer whose files contain the names. */
export interface Computer {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | undefined;
  readonly platform: string;
  readonly clock: Clock;
}

/**
 * Opens the names that this computer knows: instances from the journal, offers and images from the
 * catalog, profiles from the config. Drives, SSH keys and templates come from the cache below. Reads
 * local files only, fetches no key, and writes nothing. Throws what the files' readers throw.
 */
export function openNames(computer: Computer, flags: SettingsFlags) {
  const own = folders(computer.env, computer.home, computer.platform);
  const config = lazy(() => peekConfig(own.config));
  const resolved = lazy(() => resolveSettings(flags, computer.env, config()));
  const sandboxFile = () => join(own.state, 'sandbox.json');

  const instances = lazy(() => {
    const { settings, storedKey } = resolved();
    const { account = storedKey?.account, baseUrl, apiKey } = settings;
    const place = storedKey?.place;
    // Without a state file, the sandbox has no account, and no folder has this name.
    const scope = settings.sandbox
      ? { service: 'sandbox', account: accountIn(sandboxFile()) ?? 'none' }
      : {
          service: baseUrl?.value ?? '',
          account,
          apiKey: apiKey?.value ?? (place?.kind === 'file' ? place.key : undefined),
        };
    return openNamedInstances({ state: own.state, scope, clock: computer.clock });
  });

  async function catalog(kind: 'offer' | 'image'): Promise<KnownName[]> {
    const { sandbox, baseUrl } = resolved().settings;
    const { clock } = computer;
    const { known } = openCatalog({
      file: join(own.state, 'catalog.json'),
      service: sandbox ? 'sandbox' : (baseUrl?.value ?? ''),
      clock,
      warn: () => undefined,
      ...(sandbox && { builtIn: () => openSandbox({ file: sandboxFile(), clock }).catalog() }),
    });
    return (await known())
      .filter((entry) => entry.kind === kind)
      .map((entry) => {
        const help = [priceSeen(entry), stockSeen(entry)].filter(Boolean).join(', ');
        const { id, name, region } = entry;
        return { id, name: slug(name) || id, state: region ?? '', ...(help && { help }) };
      });
  }

  async function known(
    kind: Exclude<NameKind, 'terminated' | 'job'>,
  ): Promise<readonly KnownName[]> {
    switch (kind) {
      case 'instance':
        return instances().in('instances').map(asName);
      case 'profile': {
        const current = computer.env.GPUCLOUD_PROFILE || config().current;
        const all = profileNames(config());
        return all.map((name) => ({ id: name, name, state: name === current ? 'active' : '' }));
      }
      case 'offer':
      case 'image':
        return catalog(kind);
      case 'drive':
      case 'ssh-key':
      case 'template':
        return readCache(cacheFile(own.cache, resolved().settings, kind));
    }
  }

  return {
    /** The state folder, which also contains the jobs. */
    state: own.state,
    async of(kind: Exclude<NameKind, 'job'>): Promise<Candidate[]> {
      if (kind !== 'terminated') return candidates(kind, await known(kind));
      const ended = instances().in('archive').map(asName);
      // A living instance of that name is meant by the name.
      return candidates(kind, ended, await known('instance'));
    },
    /** The job of a name is the newest one, so a name is a candidate even if several jobs have it. */
    ofJobs(oldestFirst: readonly { readonly id: string; readonly state: string }[]): Candidate[] {
      const names = oldestFirst.flatMap(({ id, state }) => {
        const found = instances().find(id);
        return found === undefined ? [] : { ...asName(found), state };
      });
      return candidates('job', [...new Map(names.map((one) => [one.name, one])).values()]);
    },
  };
}

function asName({ id, name, status }: { id: string; name: string; status: string }): KnownName {
  return { id, name, state: status };
}

/** Maximum candidates, since nobody reads more. */
const MOST = 300;

/**
 * Returns what to type for each name: the ID if several resources share the name, or if a shell or a
 * terminal could misread it. Every command accepts the ID.
 */
export function candidates(
  kind: NameKind,
  names: readonly KnownName[],
  others: readonly KnownName[] = [],
): Candidate[] {
  const times = new Map<string, number>();
  for (const { name } of [...names, ...others]) {
    const folded = name.toLowerCase();
    times.set(folded, (times.get(folded) ?? 0) + 1);
  }
  return names
    .map(({ id, name, state, help = isPlain(state) ? state : kind }) => ({
      value: times.get(name.toLowerCase()) === 1 && isPlain(name) ? name : id,
      help,
    }))
    .filter(({ value }) => isPlain(value))
    .sort((a, b) => (a.value < b.value ? -1 : 1));
}

/** Limits the candidates. Of more, offers only those that continue the typed text. */
export function continuing(all: readonly Candidate[], typed: string): Candidate[] {
  return (all.length > MOST ? all.filter(({ value }) => continues(value, typed)) : all).slice(
    0,
    MOST,
  );
}

/** Compares names as commands do: in any case, and `RTX 4090` as `rtx-4090`. */
function continues(name: string, typed: string): boolean {
  const folded = (text: string) => text.toLowerCase().replaceAll(' ', '-');
  return folded(name).startsWith(folded(typed));
}

/**
 * If no name continues the typed text as it is, returns the names that do in another spelling. The
 * shell would not find these.
 */
export function spelledOtherwise(all: readonly Candidate[], typed: string): Candidate[] {
  if (all.some(({ value }) => value.startsWith(typed))) return [];
  return all.filter(({ value }) => continues(value, typed));
}

/** Matches nearly every name without the Unicode classes below, since compiling those is slow. */
const PLAIN_ASCII = /^[a-zA-Z0-9_][a-zA-Z0-9_.+/:@()-]*( [a-zA-Z0-9_.+/:@()-]+)*$/;

/** Matches letters and digits of any script, single spaces, and marks harmless in every shell. */
export function isPlain(text: string): boolean {
  if (text.length > 100) return false;
  return (
    PLAIN_ASCII.test(text) ||
    /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+/:@()-]*( [\p{L}\p{M}\p{N}_.+/:@()-]+)*$/u.test(text)
  );
}

/** Resources that neither the journal nor the catalog stores. */
export type CachedKind = 'drive' | 'ssh-key' | 'template';

/** Owner of the names seen with a key or an address from the environment or a flag. */
const NO_PROFILE = '-env';

/** Returns the file with one kind of names of a profile; undefined without a profile. */
function cacheFile(cache: string, settings: Settings, kind: CachedKind): string | undefined {
  const { sandbox, profile, baseUrl, apiKey } = settings;
  const isForeign = [baseUrl?.source, apiKey?.source].some(
    (source) => source === 'flag' || source === 'environment',
  );
  const owner = sandbox ? 'sandbox' : isForeign ? NO_PROFILE : profile?.value;
  // A profile name in a hand-edited config.json may be a path.
  const isSafe = sandbox || isForeign || (owner !== undefined && profileName(owner).ok);
  return isSafe ? join(cache, 'names', `${owner}`, `${kind}.json`) : undefined;
}

function readCache(file: string | undefined): KnownName[] {
  try {
    const names: unknown = JSON.parse((file && readPlain(file)?.toString('utf8')) ?? '');
    return Array.isArray(names) ? names.filter(isKnownName) : [];
  } catch {
    // Missing or damaged: the next list writes the file.
    return [];
  }
}

function isKnownName(value: unknown): value is KnownName {
  const { id, name, state } = (value ?? {}) as Partial<Record<keyof KnownName, unknown>>;
  return [id, name, state].every((text) => typeof text === 'string');
}

/**
 * Stores the names of a response for Tab. Never fails: the next response has the names again, and
 * Tab is not worth an error.
 */
export async function cacheNames(
  kind: CachedKind,
  { cache, settings }: { readonly cache: string; readonly settings: Settings },
  change: (names: readonly KnownName[]) => readonly KnownName[],
): Promise<void> {
  const file = cacheFile(cache, settings, kind);
  if (file === undefined) return;
  const before = readCache(file);
  const text = JSON.stringify(change(before).slice(0, MOST));
  if (text === JSON.stringify(before)) return;
  try {
    await privateFolder(dirname(file));
    await replaceFile(file, text);
  } catch {
    // A full disk or an unwritable folder must not fail the command.
  }
}
