import { basename, join } from 'node:path';
import { CliError } from '../errors.ts';
import { namesIn } from './files.ts';

/**
 * Names of another version's journal in the state folder: early versions wrote `rentals`, and a later
 * layout would be `journal2`. Any other folder there may be the user's.
 */
const OTHER_JOURNAL = /^(?:rentals|journal.+)$/;

/** Folders of an account. Other programs' folders, such as `.Trash`, don't have such names. */
const IN_ACCOUNT = /^(?:archive|deadlines|events|idle|instances|requests|.*[^a-z0-9-].*)$/;

/**
 * Returns the folders whose files decide about instances, the state folder first. Throws
 * CliError('storage') for a folder of another version's layout: it may record instances, and this
 * version would neither list nor terminate them.
 */
export function journalFolders(state: string): [string, ...string[]] {
  const top = foldersIn(state);
  refuse(top.find((path) => OTHER_JOURNAL.test(basename(path))));
  const services = foldersIn(join(state, 'journal'));
  const accounts = services.flatMap(foldersIn);
  const places = accounts.flatMap(foldersIn);
  refuse(places.find((path) => !IN_ACCOUNT.test(basename(path))));
  const own = top.filter((path) => /^(?:jobs|journal|reap)$/.test(basename(path)));
  return [state, ...own, ...services, ...accounts, ...places];
}

function refuse(path: string | undefined): void {
  if (path === undefined) return;
  const message = `Another version of gpucloud may have recorded instances in ${path}.`;
  throw new CliError('storage', message, {
    hint: 'update gpucloud; if the folder is not from gpucloud, move it away, or set GPUCLOUD_STATE_DIR to another folder',
    resource: path,
  });
}

/** Omits locks, which are folders, too. Ignores a folder that can't be read: its reader reports it. */
function foldersIn(folder: string): string[] {
  try {
    const names = namesIn(folder, 'folders').filter((name) => !name.endsWith('.lock'));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}
