import { dirname } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { errorCode } from '../../system/error-code.ts';
import { privateFolder } from '../../system/files.ts';
import { UNTIL_ABANDONED, withLock } from '../../system/lock.ts';
import { type JobRecord, jobPath } from './record.ts';

/**
 * Runs `work` while no other process follows the job, since both would write its record and the
 * fetched files. Throws CliError('wrongState') if another process follows it. Continues without a
 * lock if it can't be created, for example on a full disk.
 */
export async function withJob<T>(
  { uid, id, name }: Pick<JobRecord, 'uid' | 'id' | 'name'>,
  context: Context,
  work: () => Promise<T>,
  patience = UNTIL_ABANDONED,
): Promise<T> {
  let isBegun = false;
  try {
    const path = await jobPath(uid, 'json', context);
    await privateFolder(dirname(path));
    const begin = () => {
      isBegun = true;
      return work();
    };
    return await withLock(path, begin, { patience });
  } catch (error) {
    if (isBegun) throw error;
    if (errorCode(error) !== 'ELOCKED') return work();
    throw new CliError('wrongState', `Another gpucloud process is following ${name}.`, {
      resource: id ?? name,
      mayBeBilling: true,
      hint: `see its output: ${gpucloud('jobs', 'logs', typedName(name, id ?? name))}`,
      cause: error,
    });
  }
}
