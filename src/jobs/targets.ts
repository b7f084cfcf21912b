import { constants, existsSync, statSync } from 'node:fs';
import { access, realpath, truncate } from 'node:fs/promises';
import { basename, dirname, extname, join, posix, resolve, sep } from 'node:path';
import { type CliError, usageError } from '../errors.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import type { Fetch } from './files/copy-out.ts';
import { isFolder, placeOf } from './files/local-file.ts';
import { containsHome } from './files/merge.ts';
import { isPattern, matcherOf } from './files/pattern.ts';
import type { JobInput } from './job.ts';

/** Returns the fetches of one of several instances, each into a folder with the instance's name. */
export function fetchInto(fetch: readonly Fetch[], name: string): Fetch[] {
  return fetch.map(({ remote, local }) => ({ remote, local: `${join(local, name)}/` }));
}

/** Lists what is copied back, or says what becomes of the files on the instance. */
export function copyOutText({ fetch, here }: Pick<JobInput, 'fetch' | 'here'>): string {
  if (fetch.length === 0) {
    return 'nothing (without --fetch, files on the instance are deleted with it)';
  }
  const each = here === undefined ? fetch : fetchInto(fetch, 'NAME');
  return each.map(({ remote, local }) => `${remote} to ${local}`).join(', ');
}

interface Checking {
  readonly home: string | undefined;
  /** Whether nobody sees a path fail that is a folder, and would be merged into the home folder. */
  readonly isUnattended?: boolean;
}

/** Checks before renting that the results can be written. Throws a usage error. */
export async function ensureTargets(
  fetch: readonly Fetch[],
  from: (at: number) => string,
  { home, isUnattended = false }: Checking,
): Promise<void> {
  const taken = new Map<string, string>();
  const filled = new Map<string, string>();
  const patterns: Merged[] = [];
  for (const [at, { remote, local }] of fetch.entries()) {
    const what = `${from(at)} "${remote}"`;
    if (isPattern(remote)) {
      patterns.push({ what, remote, folder: await ensureFolder(absolute(local), what, home) });
      continue;
    }
    if (isUnattended && (await isFolder(local)) && existsSync(local)) {
      await ensureApartFromHome(local, { what, path: local, home });
    }
    const { path, kind } = await placeOf(absolute(local), basename(remote));
    if (kind === 'dangling link')
      throw usageError(`${what}: "${path}" is a link to a missing file`);
    if (kind === 'other') {
      throw usageError(
        `${what}: "${path}" is not a regular file`,
        'fetch to a file or a folder, then print it',
      );
    }
    await ensureWritable(folderOf(path), what);
    const other = taken.get(path);
    if (other !== undefined) throw bothInto(what, path, other);
    taken.set(path, remote);
    if (!mayBeFolder(remote) || !(await isFolder(local))) continue;
    const folder = dirname(path);
    const first = filled.get(folder);
    if (first !== undefined) {
      throw usageError(
        `${what} and "${first}" may be folders, whose files would be mixed in "${folder}"`,
        "give each its own folder: 'REMOTE:LOCAL'",
      );
    }
    filled.set(folder, remote);
  }
  ensureApart(patterns, taken);
}

/** Only the instance knows. A folder's files go directly into LOCAL, unlike a file. */
export function mayBeFolder(remote: string): boolean {
  return extname(remote) === '';
}

/** A pattern, and the folder for its matches. */
interface Merged {
  /** For messages. */
  readonly what: string;
  readonly remote: string;
  readonly folder: string;
}

/** Refuses a pattern that could replace files of another fetch. */
function ensureApart(patterns: readonly Merged[], taken: ReadonlyMap<string, string>): void {
  for (const [at, { what, remote, folder }] of patterns.entries()) {
    // Allows patterns in the same remote folder: matching the same file is not a conflict.
    const before = patterns.slice(0, at).filter((other) => other.folder === folder);
    const other = before.find((one) => !isOneFolder(one.remote, remote));
    if (other !== undefined) throw bothInto(what, folder, other.remote);
    const fits = matcherOf(remote);
    for (const [path, single] of taken) {
      if (dirname(path) === folder && fits(basename(path))) throw bothInto(what, path, single);
    }
  }
}

function isOneFolder(one: string, other: string): boolean {
  const folder = posix.dirname(one);
  return folder === posix.dirname(other) && !isPattern(folder);
}

function bothInto(what: string, path: string, other: string): CliError {
  return usageError(
    `${what} and "${other}" would both be written to "${path}"`,
    "give each its own path: 'REMOTE:LOCAL'",
  );
}

async function ensureApartFromHome(
  folder: string,
  { what, path, home }: { readonly what: string; readonly path: string } & Checking,
): Promise<void> {
  if (!(await containsHome(folder, home))) return;
  throw usageError(
    `${what}: "${path}" contains your home folder`,
    "name a folder for the files: 'REMOTE:LOCAL'",
  );
}

/** Checks the folder for a pattern's matches, and returns its path without symlinks. */
async function ensureFolder(path: string, what: string, home: string | undefined): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found === undefined) {
    await ensureWritable(path, what);
    return resolve(path);
  }
  await ensureApartFromHome(found, { what, path, home });
  await ensureWritable(`${found}${sep}`, what);
  return found;
}

/**
 * Checks that the `--report` file is writable. Empties an older report, so that a script can't
 * mistake it for this run's. Throws a usage error.
 */
export async function ensureReport(
  path: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const what = `--report "${path}"`;
  if (await isFolder(path)) throw usageError(`${what} is a folder`);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) await access(folderOf(path), constants.W_OK);
    // Doesn't empty a pipe or device, such as /dev/stderr.
    else if (found.isFile() && !dryRun) await truncate(path);
  } catch (error) {
    throw usageError(`${what} can't be written (${faultOf(error)})`);
  }
}

/** A trailing slash means a folder, whether it exists or not. */
export function absolute(local: string): string {
  return local.endsWith('/') || local.endsWith(sep) ? `${resolve(local)}${sep}` : resolve(local);
}

/** Missing folders are created later, in the nearest existing folder. */
async function ensureWritable(path: string, what: string): Promise<void> {
  await access(path, constants.W_OK).catch((error: unknown) => {
    const code = errorCode(error);
    const isMissing = code === 'ENOENT' || (code === 'ENOTDIR' && !existsSync(resolve(path)));
    if (isMissing) return ensureWritable(folderOf(path), what);
    const why = code === 'ENOTDIR' ? 'is not a folder' : `can't be written (${faultOf(error)})`;
    throw usageError(`${what}: "${resolve(path)}" ${why}`);
  });
}

/** The trailing separator makes the check fail if the path is a file. */
function folderOf(path: string): string {
  return `${dirname(path)}${sep}`;
}
