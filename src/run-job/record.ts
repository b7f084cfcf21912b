import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { errorCode, faultOf } from '../files/error-code.ts';
import { UNTIL_ABANDONED, withLock } from '../files/lock.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import type { Target } from '../instances/resolve.ts';
import { lazy } from '../lazy.ts';
import * as z from '../zod.ts';

/** The data with which `run --attach` resumes a job. */
export interface JobRecord {
  readonly version: 1;
  /** Of the instance. */
  readonly id: string;
  readonly name: string;
  readonly command: readonly string[];
  /** The folder of `--sync`, as an absolute path. */
  readonly sync: string | null;
  readonly exclude: readonly string[];
  /** `local` is an absolute path. */
  readonly fetch: readonly { readonly remote: string; readonly local: string }[];
  /** Milliseconds; `--keep-on-failure`. */
  readonly keep_on_failure: number | null;
  /** The private key file of `--identity`, or the one that was found. */
  readonly identity: string | null;
  /** `--user`, and more words for ssh. */
  readonly user: string | null;
  readonly ssh_options: readonly string[];
  readonly ssh_words: readonly string[];
  /** When the instance was requested, by this computer's clock (ISO 8601). */
  readonly started_at: string;
  /** Bytes of each output printed so far. */
  readonly printed: { readonly out: number; readonly err: number };
}

const schema = lazy(() => {
  const text = z.string();
  const count = z.number().check(z.nonnegative());
  return z.looseObject({
    version: z.literal(1),
    id: text,
    name: text,
    command: z.array(text).check(z.minLength(1)),
    sync: z.nullable(text),
    exclude: z.array(text),
    fetch: z.array(z.object({ remote: text, local: text })),
    keep_on_failure: z.nullable(z.number()),
    identity: z.nullable(text),
    user: z.nullable(text),
    ssh_options: z.array(text),
    ssh_words: z.array(text),
    started_at: text,
    printed: z.object({ out: count, err: count }),
  });
});

/** Saves the known facts of a job, before they are needed. Throws CliError('storage'). */
export async function writeJob(job: JobRecord, context: Context): Promise<void> {
  const path = await pathOf(job.id, context);
  try {
    await privateFolder(dirname(path));
    await replaceFile(path, `${JSON.stringify(job)}\n`);
  } catch (error) {
    throw new CliError('storage', `Could not save the job: ${path} (${faultOf(error)}).`, {
      hint: 'check the folder; GPUCLOUD_STATE_DIR selects another',
      cause: error,
    });
  }
}

/** The job of an instance. Throws CliError('notFound') if it has ended, or none was started here. */
export async function readJob({ id, name }: Target, context: Context): Promise<JobRecord> {
  const path = await pathOf(id, context);
  try {
    return schema().parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      throw new CliError(
        'notFound',
        `This computer has no job on ${name}: it has ended, or none was started here.`,
        {
          resource: id,
        },
      );
    }
    throw new CliError('storage', `Could not read the job: ${path} (${faultOf(error)}).`, {
      hint: 'check the folder; GPUCLOUD_STATE_DIR selects another',
      cause: error,
    });
  }
}

/**
 * Does `work` while no other process follows the job: both would write what is fetched. Throws
 * CliError('wrongState') if one does. A lock that can't be made, as on a full disk, stops no job.
 */
export async function withJob<T>(
  { id, name }: Target,
  context: Context,
  work: () => Promise<T>,
): Promise<T> {
  let isBegun = false;
  try {
    const path = await pathOf(id, context);
    await privateFolder(dirname(path));
    const begin = () => {
      isBegun = true;
      return work();
    };
    return await withLock(path, begin, UNTIL_ABANDONED);
  } catch (error) {
    if (isBegun) throw error;
    if (errorCode(error) !== 'ELOCKED') return work();
    throw new CliError('wrongState', `Another gpucloud process follows ${name}.`, {
      resource: id,
      mayBeBilling: true,
      cause: error,
    });
  }
}

/** A file that stays is in nobody's way: the instance has ended. */
export async function removeJob(id: string, context: Context): Promise<void> {
  const path = await pathOf(id, context);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    context.err.warn('local_storage', `Could not remove ${path} (${faultOf(error)}).`);
  }
}

/** Ids are UUIDs; nothing else from a service may enter a path. */
async function pathOf(id: string, context: Context): Promise<string> {
  return join((await context.folders()).state, 'jobs', `${encodeURIComponent(id)}.json`);
}
