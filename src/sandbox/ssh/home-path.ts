import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';

/** Maximum links to follow, as on Linux. */
const MOST_LINKS = 40;

/** A path that leaves the instance's home. Has a code, as errors of the file system do. */
class OutsideHome extends Error {
  readonly code = 'EACCES';
}

/**
 * Returns the file that a client's path names, without links in its folders. Follows a link at its
 * end unless `follows` is false.
 *
 * @throws OutsideHome unless the file is in the home folder.
 */
export async function inHome(home: string, path: string, follows = true): Promise<string> {
  const root = await realpath(home);
  let wanted = resolve(root, path);
  for (let links = 0; links <= MOST_LINKS; links += 1) {
    if (!isWithin(root, wanted)) break;
    const found = join(await realpath(dirname(wanted)), basename(wanted));
    if (!isWithin(root, found)) break;
    const target = follows ? await readlink(found).catch(() => undefined) : undefined;
    if (target === undefined) return found;
    wanted = resolve(dirname(found), target);
  }
  throw new OutsideHome(`${path}: outside the home folder of this sandbox instance`);
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
