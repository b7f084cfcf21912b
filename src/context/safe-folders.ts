import { exposureOfState } from '../config/exposure.ts';
import type { Folders } from '../config/index.ts';
import { CliError } from '../errors.ts';
import { journalFolders } from '../journal/layout.ts';
import { lazy } from '../lazy.ts';
import { shellLine } from '../output/shell-line.ts';

/**
 * Returns the folders, and checks the state folder at its first use. Reading `state` then throws
 * CliError('authentication') if other users may have changed the journal, since it decides which
 * instances `reap` terminates. Throws CliError('storage') for another version's layout.
 *
 * @param owners users who may own it.
 */
export function safeFolders(
  folders: Folders,
  uid: number | undefined,
  owners: readonly number[] | undefined,
): Folders {
  const state = lazy(() => {
    const exposure = exposureOfState(journalFolders(folders.state), uid, owners);
    if (exposure === undefined) return folders.state;
    throw new CliError('authentication', `Refused to use the journal: ${exposure.message}.`, {
      code: 'exposed_journal',
      hint: shellLine(exposure.remedy),
    });
  });
  return Object.create(folders, { state: { get: state } });
}
