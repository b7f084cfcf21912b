import { constants, statSync } from 'node:fs';
import { access, stat, truncate } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { usageError } from '../errors.ts';
import { errorCode, faultOf } from '../files/error-code.ts';
import type { Fetch } from './copy/copy-out.ts';

/** Checks before renting that the results can be written. Throws a usage error. */
export async function ensureTargets(fetch: readonly Fetch[]): Promise<void> {
  const taken = new Map<string, string>();
  for (const { remote, local } of fetch) {
    const target = absolute(local);
    const file = (await isFolder(target)) ? join(target, basename(remote)) : target;
    const other = taken.get(file);
    if (other !== undefined) {
      throw usageError(`--fetch "${other}" and "${remote}" would both be written to "${file}"`);
    }
    taken.set(file, remote);
    await ensureFolder(dirname(file), `--fetch "${remote}"`);
  }
}

/**
 * Checks that the file of `--report` can be written, and empties an older one: a script would take it
 * for the report of this run. Throws a usage error.
 */
export async function ensureReport(
  path: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const what = `--report "${path}"`;
  if (await isFolder(path)) throw usageError(`${what} is a folder`);
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) await accessFolder(dirname(path));
    // A pipe or device, such as /dev/stderr, has nothing to empty.
    else if (found.isFile() && !dryRun) await truncate(path);
  } catch (error) {
    throw usageError(`${what} can't be written (${faultOf(error)})`);
  }
}

/** A slash at the end means a folder, whether it exists or not. */
export function absolute(local: string): string {
  return local.endsWith('/') ? `${resolve(local)}${sep}` : resolve(local);
}

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith(sep)) return true;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Folders that are missing are made later, in the nearest one that exists. */
async function ensureFolder(folder: string, what: string): Promise<void> {
  try {
    await accessFolder(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return ensureFolder(dirname(folder), what);
    throw usageError(`${what}: "${folder}" can't be written (${faultOf(error)})`);
  }
}

/** The separator refuses a file in the folder's place. */
function accessFolder(folder: string): Promise<void> {
  return access(`${folder}${sep}`, constants.W_OK);
}
