import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { errorCode } from '../../system/error-code.ts';
import { HolderLives, isLocked, UNTIL_ABANDONED, withLock } from '../../system/lock.ts';
import { type JobRecord, jobPath } from './record.ts';

/** Another process follows the job, or was killed a few seconds ago. */
export class Followed extends CliError {
  /** Whether that process certainly lives. */
  get isAlive(): boolean {
    return this.cause instanceof HolderLives;
  }
}

interface Patience {
  /** Milliseconds to wait for the process that follows the job; by default until its lock expires. */
  readonly patience?: number;
  /** Gives up once that process shows that it lives. */
  readonly yields?: boolean;
  /** Stops waiting with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` while no other process follows the job, since both would write its record and the
 * fetched files. Throws {@link Followed} if another process follows it. Continues without a
 * lock if it can't be created, for example on a full disk.
 */
export async function withJob<T>(
  { uid, id, name }: Pick<JobRecord, 'uid' | 'id' | 'name'>,
  context: Context,
  work: () => Promise<T>,
  { patience = UNTIL_ABANDONED, yields = false, signal }: Patience = {},
): Promise<T> {
  let isBegun = false;
  try {
    const path = await jobPath(uid, 'json', context);
    const begin = () => {
      isBegun = true;
      return work();
    };
    return await withLock(path, begin, { patience, yields, ...(signal && { signal }) });
  } catch (error) {
    if (isBegun) throw error;
    signal?.throwIfAborted();
    if (errorCode(error) !== 'ELOCKED') return work();
    throw new Followed('wrongState', `Another gpucloud process is following ${name}.`, {
      resource: id ?? name,
      mayBeBilling: true,
      hint: `see its output: ${gpucloud('jobs', 'logs', typedName(name, id ?? name))}`,
      cause: error,
    });
  }
}

/** Whether another process follows a job, or was killed a few seconds ago. */
export async function isFollowed({ uid }: JobRecord, context: Context): Promise<boolean> {
  return isLocked(await jobPath(uid, 'json', context));
}
