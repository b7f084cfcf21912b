import { basename, dirname, join } from 'node:path';
import { eachBounded, SSH_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { usageError } from '../errors.ts';
import type { JobRow } from '../json-results/jobs.ts';
import { gpucloud, shellLine } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import type { Fetch } from './files/copy-out.ts';
import { isFolder } from './files/local-file.ts';
import { realPath } from './files/merge.ts';
import { matcherOf } from './files/pattern.ts';
import { isFollowed } from './record/lock.ts';
import {
  hasFailedSetup,
  isRented,
  type JobRecord,
  readJobs,
  removeJob,
  writeJob,
} from './record/record.ts';
import { hintOf, needOf } from './standing.ts';
import { mayBeFolder } from './targets.ts';
import { openStatus } from './verbs/rows.ts';

interface Whose {
  /** The name of the job's instance; undefined if it is generated. */
  readonly name: string | undefined;
  /** Returns the flag or field of a fetch. */
  readonly from: (at: number) => string;
  /** Whether another job does not count. */
  readonly skips?: (other: JobRecord) => boolean;
}

/** The statuses of a job that may still write results. */
const MAY_WRITE: ReadonlySet<JobRow['status']> = new Set(['RUNNING', 'UNREACHABLE', 'UNKNOWN']);

/**
 * Refuses fetches to the target of another job of this computer that has not exited: the later copy
 * would replace the earlier one. Only warns of a job that has exited, so that a mended command can
 * run again.
 */
export async function ensureOwnTargets(
  fetch: readonly Fetch[],
  whose: Whose,
  context: Context,
): Promise<void> {
  for (const { job, path, line } of await exited(fetch, whose, context)) {
    context.err.warn(
      'copy',
      `The results of ${job.name} are not copied yet, and would be written to "${path}" too. To keep them apart: ${line}`,
    );
  }
}

/**
 * Stores a new job, then checks its targets again: a run that began at the same time has stored its
 * own job by now, or will see this one. Throws a usage error, and removes the job.
 */
export async function storeJob(job: JobRecord, whose: Whose, context: Context): Promise<void> {
  await writeJob(job, context);
  // The first check has warned of jobs that have exited.
  const skips = (other: JobRecord) => other.uid === job.uid || other.exit_code !== null;
  try {
    await exited(job.fetch, { ...whose, skips }, context);
  } catch (error) {
    await removeJob(job.uid, context);
    throw error;
  }
}

/** Returns the fetches to the target of a job that has exited. Refuses those of other jobs. */
async function exited(fetch: readonly Fetch[], whose: Whose, context: Context): Promise<Same[]> {
  const all = await unfinished(fetch, whose, context);
  const found = all.find(({ status }) => MAY_WRITE.has(status));
  if (found === undefined) return all;
  const { at, own, job, path, line } = found;
  throw usageError(
    `${whose.from(at)} "${own.remote}": the job on ${job.name} has not ended, and its results would be written to "${path}" too`,
    `give this job its own folder: ${line}${await howToEnd(job, context)}`,
  );
}

/** Completes a hint: how the other job comes to its end. */
async function howToEnd(job: JobRecord, context: Context): Promise<string> {
  // The check of the job has just read its instance.
  const { instances } = await (await context.journal()).read();
  const last = instances.find(({ id }) => id === job.id)?.last;
  if (isRented(job) && last?.status === 'STOPPED') return `; or ${hintOf(needOf(job, 'stopped'))}`;
  const typed = typedName(job.name, job.id ?? '');
  if (!(await isFollowed(job, context))) {
    return `; or finish the other job: ${gpucloud('jobs', 'attach', typed)}`;
  }
  // The output of `run --here` is in its own terminal only.
  const logs = gpucloud('jobs', 'logs', typed, '--follow');
  return job.here ? '' : `; or wait for the other job: ${logs}`;
}

/** A fetch to the target of another job. */
interface Same {
  readonly at: number;
  readonly own: Fetch;
  readonly job: JobRecord;
  readonly status: JobRow['status'];
  /** The local path without symlinks. */
  readonly path: string;
  /** The flag that keeps the results apart. */
  readonly line: string;
}

/** Returns the first fetch of each other job that may still be copied to the same target. */
async function unfinished(
  fetch: readonly Fetch[],
  { name = 'NAME', skips = () => false }: Whose,
  context: Context,
): Promise<Same[]> {
  if (fetch.length === 0) return [];
  const open = (await readJobs(context)).filter(
    (job) => job.ended_at === null && !hasFailedSetup(job) && !skips(job),
  );
  const found = await eachBounded(open, SSH_AT_ONCE, async (job): Promise<Same[]> => {
    const same = await firstSame(fetch, job);
    if (same === undefined) return [];
    const status = await openStatus(job, context);
    if (status === undefined) return [];
    const line = shellLine(['--fetch', await apart(same.own, name)]);
    return [{ ...same, job, status, path: await realPath(same.own.local), line }];
  });
  return found.flat();
}

async function firstSame(fetch: readonly Fetch[], job: JobRecord) {
  const uncopied = job.fetch.filter(({ fetched_at }) => fetched_at === null);
  for (const [at, own] of fetch.entries()) {
    for (const other of uncopied) if (await mayOverwrite(own, other)) return { at, own };
  }
  return undefined;
}

/**
 * Whether two fetches may write the same local file. One LOCAL for both counts, since only the
 * instance knows what a folder contains, but a folder may receive files of different names.
 */
export async function mayOverwrite(one: Fetch, other: Fetch): Promise<boolean> {
  if ((await realPath(one.local)) !== (await realPath(other.local))) return false;
  if (!(await isFolder(one.local)) && !(await isFolder(other.local))) return true;
  if (mayBeFolder(one.remote) && mayBeFolder(other.remote)) return true;
  const [a, b] = [basename(one.remote), basename(other.remote)];
  return matcherOf(a)(b) || matcherOf(b)(a);
}

/** Returns the fetch into a folder with the instance's name. */
async function apart({ remote, local }: Fetch, name: string): Promise<string> {
  const isOfMany = (await isFolder(local)) || mayBeFolder(remote);
  return `${remote}:${join(isOfMany ? local : dirname(local), name)}/`;
}
