import { join } from 'node:path';
import { foldersIn, namesIn } from './files.ts';

/**
 * Whether any account has an open request. Reads only folder names, since nearly every command
 * checks this and the result is nearly always false. Throws if a folder can't be read.
 */
export function anyRequestOpen(state: string): boolean {
  return anyFileIn(state, 'requests');
}

/** Whether any living instance of any account has a deadline, checked in the same way. */
export function anyDeadline(state: string): boolean {
  return anyFileIn(state, 'deadlines');
}

function anyFileIn(state: string, folder: string): boolean {
  const root = join(state, 'journal');
  for (const service of foldersIn(root)) {
    for (const account of foldersIn(join(root, service))) {
      const names = namesIn(join(root, service, account, folder));
      if (names.some((name) => name.endsWith('.json'))) return true;
    }
  }
  return false;
}
