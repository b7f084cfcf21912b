import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PLACES } from './folder.ts';
import { namesIn } from './pending.ts';

/** What was being written when a process was killed: it was never read, and never will be. */
const LEFTOVER = /\.json(\.new|\.[0-9a-z]+\.tmp)$/;

/** Milliseconds for which one that writes may take its time. */
const OLD = 24 * 3_600_000;

/** Takes old leftovers out of an owner's folders. What can't be removed stays, and does no harm. */
export async function sweep(owner: string, now: number): Promise<void> {
  for (const place of PLACES) {
    const folder = join(owner, place);
    const names = await namesIn(folder).catch(() => []);
    for (const name of names.filter((one) => LEFTOVER.test(one))) {
      removeOld(join(folder, name), now);
    }
  }
}

function removeOld(path: string, now: number): void {
  try {
    if (now - statSync(path).mtimeMs > OLD) rmSync(path);
  } catch {
    // It may be gone by now.
  }
}
