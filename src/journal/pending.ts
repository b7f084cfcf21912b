import { join } from 'node:path';
import { exists, foldersIn, namesIn } from './files.ts';
import { OLD_FOLDER } from './names.ts';

/**
 * Whether any request of any account is open, without reading one: nearly every command asks, and
 * the answer is nearly always no. Throws what the file system throws for a folder that can't be read.
 */
export function anyRequestOpen(state: string): boolean {
  if (exists(join(state, OLD_FOLDER))) return true;
  const root = join(state, 'journal');
  return foldersIn(root).some((service) =>
    foldersIn(join(root, service)).some((account) =>
      namesIn(join(root, service, account, 'requests')).some((name) => name.endsWith('.json')),
    ),
  );
}
