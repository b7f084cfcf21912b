import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { privateFolder } from '../../files/private-folder.ts';
import { replaceFile } from '../../files/replace.ts';
import { lazy } from '../../lazy.ts';
import { type JobReport, jobReport } from '../../results/jobs.ts';
import * as z from '../../zod.ts';

/** A stored job: everything needed to continue it, and how it ended. */
export interface JobRecord {
  readonly version: 1;
  /** The instance's ID. */
  readonly id: string;
  readonly name: string;
  /** `--on`: the job uses an existing instance, and does not terminate it. */
  readonly on: boolean;
  /** The command's words, with the values of variables masked. */
  readonly command: readonly string[];
  /** Variable names from `--pass-env` and `--env-file`. Their values are not stored. */
  readonly variables?: readonly string[] | undefined;
  /** `--sync` folder, as an absolute path. */
  readonly sync: string | null;
  readonly exclude: readonly string[];
  /** `local` is an absolute path. */
  readonly fetch: readonly { readonly remote: string; readonly local: string }[];
  /** Whether all existing results were copied after the command. */
  readonly fetched?: boolean | undefined;
  /** Milliseconds; `--fetch-every`. */
  readonly fetch_every: number | null;
  /** Milliseconds; `--keep-on-failure`. */
  readonly keep_on_failure: number | null;
  /** Milliseconds before the deadline at which the command is interrupted. */
  readonly grace: number;
  /** `--report` file, as an absolute path. */
  readonly report_file: string | null;
  /** Private key file: from `--identity`, or found by gpucloud. */
  readonly identity: string | null;
  /** `--user`, and additional arguments for ssh. */
  readonly user: string | null;
  readonly ssh_options: readonly string[];
  readonly ssh_words: readonly string[];
  /** When the instance was requested, by this computer's clock (ISO 8601). */
  readonly started_at: string;
  /** Bytes of each output printed so far. */
  readonly printed: Bytes;
  /** Bytes dropped from the start of each output. */
  readonly cut: Bytes;
  /** The command's exit code; null until it is known. */
  readonly exit_code: number | null;
  /**
   * Why the instance was kept after the command exited: `results` if the instance still has
   * uncopied results.
   */
  readonly kept: 'command' | 'results' | null;
  /** When gpucloud found that the command disappeared without an exit code (ISO 8601). */
  readonly lost_at: string | null;
  /** Why the instance refused the last sign-in of `reap`; null after a successful one. */
  readonly sign_in_refused?: string | null | undefined;
  /** When the job completed (ISO 8601). Unless `--on`, its instance is terminated by then. */
  readonly ended_at: string | null;
  readonly report: JobReport | null;
}

/**
 * Whether results or output of a job may be only on its instance, also on one that existed before.
 * A job ends once they are on this computer.
 */
export function mayHaveResults({ ended_at, kept }: Pick<JobRecord, 'ended_at' | 'kept'>): boolean {
  return ended_at === null && kept !== 'command';
}

/** Bytes of the command's stdout and stderr. */
export interface Bytes {
  readonly out: number;
  readonly err: number;
}

const schema = lazy(() => {
  const text = z.string();
  const maybeText = z.nullable(text);
  const count = z.number().check(z.nonnegative());
  const maybeNumber = z.nullable(z.number());
  const bytes = z.object({ out: count, err: count });
  return z.looseObject({
    version: z.literal(1),
    id: text,
    name: text,
    on: z.boolean(),
    command: z.array(text).check(z.minLength(1)),
    variables: z.optional(z.array(text)),
    sync: maybeText,
    exclude: z.array(text),
    fetch: z.array(z.object({ remote: text, local: text })),
    fetched: z.optional(z.boolean()),
    fetch_every: maybeNumber,
    keep_on_failure: maybeNumber,
    grace: z.number(),
    report_file: maybeText,
    identity: maybeText,
    user: maybeText,
    ssh_options: z.array(text),
    ssh_words: z.array(text),
    started_at: text,
    printed: bytes,
    cut: bytes,
    exit_code: maybeNumber,
    kept: z.nullable(z.enum(['command', 'results'])),
    lost_at: maybeText,
    sign_in_refused: z.optional(maybeText),
    ended_at: maybeText,
    report: z.nullable(jobReport()),
  });
});

/** Saves a job's record to disk. Throws CliError('storage'). */
export async function writeJob(job: JobRecord, context: Context): Promise<void> {
  const path = await jobPath(job.id, 'json', context);
  try {
    await privateFolder(dirname(path));
    await replaceFile(path, `${JSON.stringify(job)}\n`);
  } catch (error) {
    throw unusable('save', path, error);
  }
}

/** Throws CliError('storage') if the file can't be read, or is missing. */
export async function readJob(id: string, context: Context): Promise<JobRecord> {
  const path = await jobPath(id, 'json', context);
  try {
    return schema().parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw unusable('read', path, error);
  }
}

/**
 * Returns the record if another process has completed the job. Returns undefined otherwise, or if
 * the file can't be read. A process can take over from a suspended process, for example after
 * Ctrl-Z or on a sleeping laptop.
 */
export async function readEnded(
  { id, started_at }: Pick<JobRecord, 'id' | 'started_at'>,
  context: Context,
): Promise<JobRecord | undefined> {
  const found: JobRecord[] = [];
  await failuresOf(readJob(id, context).then((job) => found.push(job)));
  return found.find((job) => job.started_at === started_at && job.ended_at !== null);
}

/** Lists the account's jobs, newest first. Warns about a file that can't be read. */
export async function readJobs(context: Context): Promise<JobRecord[]> {
  const journal = await context.journal();
  const found: JobRecord[] = [];
  for (const id of await jobIds(context)) {
    // Filters by account, since the jobs of all accounts share a folder.
    if ((await journal.instance(id)) === undefined) continue;
    const [fault] = await failuresOf(readJob(id, context).then((job) => found.push(job)));
    if (fault !== undefined) context.err.warn('local_storage', fault.message);
  }
  return found.sort(newestFirst);
}

function newestFirst(a: JobRecord, b: JobRecord): number {
  return a.started_at < b.started_at ? 1 : -1;
}

async function jobIds(context: Context): Promise<string[]> {
  try {
    const names = readdirSync(dirname(await jobPath('', 'json', context)));
    return names.flatMap((name) =>
      name.endsWith('.json') ? decodeURIComponent(name.slice(0, -'.json'.length)) : [],
    );
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw unusable('read', 'jobs', error);
  }
}

/** Removes the stored output of an earlier job on the instance. */
export async function removeOutput(id: string, context: Context): Promise<void> {
  for (const kind of ['out', 'err'] as const) {
    rmSync(await jobPath(id, kind, context), { force: true });
  }
}

/** Maximum number of ended jobs whose output and report are kept. */
const MOST_ENDED = 100;

/** Removes the oldest ended jobs, with their output. */
export async function removeOldJobs(context: Context): Promise<void> {
  const ended = (await readJobs(context)).filter(({ ended_at }) => ended_at !== null);
  for (const { id } of ended.slice(MOST_ENDED)) {
    for (const kind of KINDS) rmSync(await jobPath(id, kind, context), { force: true });
  }
}

const KINDS = ['out', 'err', 'json'] as const;

/**
 * Returns the path of a job's file. Requires a UUID, since no other text from a service may enter a
 * path.
 */
export async function jobPath(
  id: string,
  kind: (typeof KINDS)[number],
  context: Context,
): Promise<string> {
  return join((await context.folders()).state, 'jobs', `${encodeURIComponent(id)}.${kind}`);
}

function unusable(verb: 'read' | 'save', path: string, cause: unknown): CliError {
  return new CliError('storage', `Could not ${verb} the job: ${path} (${faultOf(cause)}).`, {
    hint: 'check the folder, or set GPUCLOUD_STATE_DIR to another folder',
    cause,
  });
}
