import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PLACES } from './folder.ts';

/** What was being written when a process was killed: it was never read, and never will be. */
const LEFTOVER = /\.json(\.new|\.[0-9a-z]+\.tmp)$/;

/** Milliseconds for which one that writes may take its time. */
const OLD = 24 * 3_600_000;

/** Takes old leftovers out of an owner's folders. What can't be removed stays, and does no harm. */
export async function sweep(owner: string, now: number): Promise<void> {
  for (const place of PLACES) {
    const folder = join(owner, place);
    const names = await readdir(folder).catch(() => []);
    for (const name of names.filter((one) => LEFTOVER.test(one))) {
      await removeOld(join(folder, name), now).catch(() => undefined);
    }
  }
}

async function removeOld(path: string, now: number): Promise<void> {
  const { mtimeMs } = await stat(path);
  if (now - mtimeMs > OLD) await rm(path);
}
