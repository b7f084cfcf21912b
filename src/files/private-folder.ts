import { chmodSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { makeFolders } from './make-folders.ts';
import { syncFolder } from './replace.ts';

/**
 * Creates a folder that only its owner can enter (0700), with its parents, durably. An existing
 * folder stays as it is.
 */
export async function privateFolder(path: string): Promise<void> {
  const first = makeFolders(path, 0o700);
  if (first === undefined) {
    return;
  }
  const made = relative(dirname(first), path)
    .split(sep)
    .map((_name, at, names) => [dirname(first), ...names.slice(0, at + 1)].join(sep));
  for (const folder of made) {
    // Sets the mode again, since mkdir applies the umask.
    chmodSync(folder, 0o700);
    syncFolder(dirname(folder));
  }
}
