import type { Api, Drive } from '../../api/index.ts';
import { idOf } from '../../cli/lookup.ts';
import { ruled } from '../../cli/parse.ts';
import { anyName } from '../../rules/names.ts';

/** The argument DRIVE of the verbs that are about one. */
export const DRIVE_HELP = 'id, beginning of an id, or name of the drive';
export const typedDrive = ruled('DRIVE', anyName);

/** The id of the drive that a person means, by its id, a beginning of it, or its name. */
export function driveIdOf(typed: string, api: Api): Promise<string> {
  return idOf(typed, {
    flag: 'DRIVE',
    what: 'drive',
    list: () => api.drives.list(),
    hint: 'gpucloud drives list',
  });
}

/** The drive itself, read afresh: a list may be older than the change that is being looked for. */
export async function findDrive(typed: string, api: Api): Promise<Drive> {
  return api.drives.get(await driveIdOf(typed, api));
}
