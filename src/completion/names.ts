import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlain } from '../files/plain.ts';
import { makeFolders } from '../files/private-folder.ts';
import { temporaryName } from '../files/replace.ts';
import { isTerminated } from '../rules/statuses.ts';
import type { NameKind } from './tree.ts';

/** A name as Tab shows it. The cache stores nothing else. */
export interface KnownName {
  readonly kind: NameKind;
  readonly id: string;
  readonly name: string;
  /** A short state, such as a status; '' for none. */
  readonly state: string;
}

/** A change to the known names of one kind. */
export interface Lesson {
  readonly kind: NameKind;
  change(names: readonly KnownName[]): readonly KnownName[];
}

/** Maximum names per kind, so that Tab stays fast. */
const MOST_OF_A_KIND = 300;

/**
 * Owner of the names from commands whose address or key comes from the environment. No profile can
 * have this name.
 */
export const NO_PROFILE = '-env';

/**
 * Applies changes in order to a profile's names. Writes only files that change. Throws file system
 * errors.
 */
export function learnNames(cache: string, slot: string, lessons: readonly Lesson[]): void {
  // The scripts compute the same path.
  const folder = join(cache, 'completion', 'names', slot);
  for (const kind of new Set(lessons.map((lesson) => lesson.kind))) {
    const shown: readonly NameKind[] = kind === 'instance' ? [kind, 'terminated'] : [kind];
    const files = shown.map((of) => join(folder, `${of}.tsv`));
    const before = files.map(contentOf);
    let names: readonly KnownName[] = before.flatMap((text) => parse(kind, text));
    for (const lesson of lessons) if (lesson.kind === kind) names = lesson.change(names);
    for (const [at, file] of files.entries()) {
      const after = textFor(shown[at] ?? kind, names);
      if (after !== before[at]) replace(file, after);
    }
  }
}

/**
 * Writes one line per name: kind, name, ID and state, separated by tabs, with a hyphen for none.
 * The first line repeats all names, each after a tab: bash reads one line much faster than a
 * hundred.
 *
 * Writes the ID if several resources share a name, since commands reject it, or if a shell could
 * expand the name. Every command accepts the ID.
 */
export function textFor(kind: NameKind, names: readonly KnownName[]): string {
  const some: KnownName[] = [];
  const times = new Map<string, number>();
  for (const one of names) {
    // Omits terminated instances: only reorder accepts one, and a running instance may have the
    // same name.
    const isOver = isTerminated(one.state);
    if (kind === 'instance' && isOver) continue;
    times.set(one.name, (times.get(one.name) ?? 0) + 1);
    if (kind === 'terminated' && !isOver) continue;
    if (some.length < MOST_OF_A_KIND) some.push(one);
  }
  const lines: string[] = [];
  for (const { id, name, state } of some) {
    const shown = times.get(name) === 1 && isPlain(name) ? name : id;
    if (!isPlain(shown)) continue;
    // Leaves no field empty, since bash would read two tabs as one.
    const [plainId, plainState] = [isPlain(id) ? id : '-', isPlain(state) ? state : '-'];
    lines.push(`${kind}\t${shown}\t${plainId}\t${plainState}\n`);
  }
  return lines.length === 0 ? '' : headed(lines.sort());
}

/** Prepends a line with all names, since bash reads only that line. */
export function headed(lines: readonly string[]): string {
  const names = lines.map((line) => line.split('\t')[1] ?? '');
  return `\t${names.join('\t')}\n${lines.join('')}`;
}

/** Matches nearly every name without the Unicode classes below, since compiling those is slow. */
const PLAIN_ASCII = /^[a-zA-Z0-9_][a-zA-Z0-9_.+/:@()-]*( [a-zA-Z0-9_.+/:@()-]+)*$/;

/** Matches letters and digits of any script, single spaces, and marks harmless in every shell. */
export function isPlain(text: string): boolean {
  if (PLAIN_ASCII.test(text)) return text.length <= 100;
  return (
    /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+/:@()-]*( [\p{L}\p{M}\p{N}_.+/:@()-]+)*$/u.test(text) &&
    text.length <= 100
  );
}

function parse(kind: NameKind, text: string): KnownName[] {
  const names: KnownName[] = [];
  for (const line of text.split('\n')) {
    const [head, name, id, state = '-'] = line.split('\t');
    if (head === '' || name === undefined || id === undefined || id === '-') continue;
    names.push({ kind, name, id, state: state === '-' ? '' : state });
  }
  return names;
}

function contentOf(file: string): string {
  try {
    return readPlain(file)?.toString('utf8') ?? '';
  } catch {
    return '';
  }
}

/**
 * Writes the whole file or nothing. Does not wait for the disk, since gpucloud learns lost names
 * again.
 */
function replace(file: string, text: string): void {
  const temporary = temporaryName(file);
  makeFolders(dirname(file), 0o700);
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Stores the profile names, the active profile first. Throws as {@link learnNames} does. */
export function learnProfiles(
  cache: string,
  profiles: readonly string[],
  current: string | undefined,
): void {
  const file = join(cache, 'completion', 'profiles.tsv');
  let text = '';
  for (const name of new Set([...(current === undefined ? [] : [current]), ...profiles])) {
    if (isPlain(name)) text += `profile\t${name}\t-\t${name === current ? 'current' : '-'}\n`;
  }
  if (text !== contentOf(file)) replace(file, text);
}
