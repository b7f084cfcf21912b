import { join } from 'node:path';
import { exists, foldersIn, namesIn } from './files.ts';
import { OLD_FOLDER } from './names.ts';

/**
 * Whether any account has an open request. Reads only folder names, since nearly every command
 * checks this and the result is nearly always false. Throws if a folder can't be read.
 */
export function anyRequestOpen(state: string): boolean {
  return exists(join(state, OLD_FOLDER)) || anyFileIn(state, 'requests');
}

/** Whether any living instance of any account has a deadline, checked in the same way. */
export function anyDeadline(state: string): boolean {
  return anyFileIn(state, 'deadlines');
}

function anyFileIn(state: string, folder: string): boolean {
  const root = join(state, 'journal');
  return foldersIn(root).some((service) =>
    foldersIn(join(root, service)).some((account) =>
      namesIn(join(root, service, account, folder)).some((name) => name.endsWith('.json')),
    ),
  );
}
