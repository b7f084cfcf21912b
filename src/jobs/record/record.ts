import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Infer } from '../../api/schemas/fields.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { serviceName } from '../../instances/rent/account.ts';
import { jobGpu, jobReport } from '../../json-results/jobs.ts';
import { lazy } from '../../lazy.ts';
import { errorCode } from '../../system/error-code.ts';
import { privateFolder, readOwn, replaceFile, takeFolderOwner } from '../../system/files.ts';
import * as z from '../../zod.ts';
import type { Happened } from '../state.ts';

const VERSION = 2;

/**
 * A stored job: what was asked, what happened, and how it ended. Only the process that holds the
 * job's lock writes it. A time is by this computer's clock (ISO 8601), and null until it happens.
 */
export type JobRecord = Readonly<Infer<typeof schema>>;

const schema = lazy(() => {
  const text = z.string();
  const texts = z.readonly(z.array(text));
  const maybeText = z.nullable(text);
  const count = z.number().check(z.nonnegative());
  const maybeNumber = z.nullable(z.number());
  const bytes = z.readonly(z.object({ out: count, err: count }));
  return z.object({
    version: z.literal(VERSION),
    /** The name of the file. */
    uid: text,
    /** Where the instance belongs. */
    service: text,
    /** null if unknown. */
    account: maybeText,
    /** The instance's ID; null until it is rented. */
    id: maybeText,
    name: text,
    /** `--on`: the job uses an existing instance, and does not terminate it. */
    on: z.boolean(),
    /** `--here`: the command runs on this computer. */
    here: z.boolean(),
    /** The command's words, with the values of variables masked. */
    command: z.readonly(z.array(text).check(z.minLength(1))),
    /** Variable names from `--pass-env` and `--env-file`. Their values are not stored. */
    variables: texts,
    /** What prepares the instance for the command, in the synced folder. */
    setup: z.nullable(
      z.readonly(
        z.object({
          /** For `sh -ec`, with the values of variables masked. */
          text,
          /** Changes with the text and its files. An instance skips a setup with the same mark. */
          mark: text,
          /** Whether to run it although it has succeeded on the instance. */
          again: z.boolean(),
        }),
      ),
    ),
    /** `--sync` folder, as an absolute path. */
    sync: maybeText,
    exclude: texts,
    /** `--no-gitignore`: false. */
    gitignore: z.boolean(),
    fetch: z.readonly(
      z.array(
        z.readonly(
          z.object({
            remote: text,
            /** An absolute path. */
            local: text,
            /** When it was completely copied after the command. */
            fetched_at: maybeText,
            /** Received files that could not be moved to `local` yet. */
            unplaced: z.nullish(z.object({ staging: text, isWhole: z.boolean() })),
          }),
        ),
      ),
    ),
    /** Milliseconds; `--fetch-every`. */
    fetch_every: maybeNumber,
    /** Milliseconds; `--keep-on-failure`. */
    keep_on_failure: maybeNumber,
    /** Milliseconds before the deadline at which the command is interrupted. */
    grace: z.number(),
    /** `--report` file, as an absolute path. */
    report_file: maybeText,
    /** Private key file: from `--identity`, or found by gpucloud. */
    identity: maybeText,
    /** `--user`, and additional arguments for ssh. */
    user: maybeText,
    ssh_options: texts,
    ssh_words: texts,
    /** The folder in which the job's folder is, as an absolute path on the instance. */
    home: maybeText,
    /** Bytes of each output printed so far. */
    printed: bytes,
    /** When the job began. */
    started_at: text,
    /** When the last request for the instance was about to be sent. */
    requested_at: maybeText,
    rented_at: maybeText,
    signed_in_at: maybeText,
    copied_at: maybeText,
    /** When the command was about to be started. It must never start twice. */
    command_started_at: maybeText,
    /** When the instance first showed that the command was started. */
    shown_at: maybeText,
    exited_at: maybeText,
    output_kept_at: maybeText,
    /** When gpucloud found that the command disappeared without an exit code. */
    lost_at: maybeText,
    /** When the end was begun. From then on, nothing is fetched. */
    ending_at: maybeText,
    /** When the job completed. Unless `--on`, its instance is terminated by then. */
    ended_at: maybeText,
    /** Why the job ended without an exit code of its command. */
    reason: maybeText,
    /** The command's exit code, or 125 after a failed setup; null until it is known. */
    exit_code: maybeNumber,
    /** The exit code of a failed setup, after which the command was not started. */
    setup_exit_code: maybeNumber,
    /** How the command used the cards; null without a sample. */
    gpu: z.nullable(jobGpu()),
    /** How long the setup and the command ran on the instance. Missing until it is known. */
    took: z.optional(z.object({ setup: count, command: count })),
    /**
     * Why the instance was kept after the command exited: `results` if the instance still has
     * uncopied results.
     */
    kept: z.nullable(z.enum(['command', 'results'])),
    /** Why the instance refused the last sign-in of `reap`; null after a successful one. */
    sign_in_refused: z.optional(maybeText),
    /** Why the last copy of the results failed, and whether a path is missing on the instance. */
    uncopied: z.optional(z.nullable(z.object({ why: text, isMissing: z.boolean() }))),
    report: z.nullable(jobReport()),
  });
});

export type Setup = NonNullable<JobRecord['setup']>;

/** A path of `--fetch`. */
export type StoredFetch = JobRecord['fetch'][number];

/** Bytes of the command's stdout and stderr. */
export type Bytes = JobRecord['printed'];

/**
 * Whether results or output of a job may be only on its instance, also on one that existed before.
 * A job ends once they are on this computer.
 */
export function mayHaveResults({ ended_at, kept }: Pick<JobRecord, 'ended_at' | 'kept'>): boolean {
  return ended_at === null && kept !== 'command';
}

/** A job whose instance is known. */
export interface RentedRecord extends JobRecord {
  readonly id: string;
}

export function isRented(job: JobRecord): job is RentedRecord {
  return job.id !== null;
}

/**
 * Whether the instance has shown that the command was started. It never shows the command of
 * `--here`, which runs on this computer.
 */
export function isShown({ shown_at, here }: Pick<JobRecord, 'shown_at' | 'here'>): boolean {
  return here || shown_at !== null;
}

/** Whether a failed setup has kept the command from starting, so that there are no results. */
export function hasFailedSetup({ setup_exit_code }: Pick<JobRecord, 'setup_exit_code'>): boolean {
  return setup_exit_code !== null;
}

/** Whether all results of a job are on this computer: a failed setup has none. */
export function isFetched(job: JobRecord): boolean {
  return hasFailedSetup(job) || job.fetch.every(({ fetched_at }) => fetched_at !== null);
}

/** Whether all results and the whole output of a job are on this computer. */
export function isCollected(job: JobRecord): boolean {
  return job.output_kept_at !== null && isFetched(job);
}

/** Returns what a job copies back: without `--fetch`, only the output of its command. */
export function copiedBack({
  fetch,
}: {
  readonly fetch: readonly unknown[];
}): 'results' | 'output' {
  return fetch.length === 0 ? 'output' : 'results';
}

/** Returns the paths whose results this computer has received. */
export function receivedPaths({ fetch }: JobRecord): StoredFetch[] {
  return fetch.filter(({ fetched_at, unplaced }) => fetched_at !== null || unplaced != null);
}

/** Returns the part of a record that decides what to do next. */
export function happenedIn(record: JobRecord): Omit<Happened, 'stopRequested'> {
  const { on, here, exit_code, kept } = record;
  return {
    on,
    here,
    started: record.command_started_at !== null,
    shown: isShown(record),
    exit_code,
    collected: isCollected(record),
    lostReported: record.lost_at !== null,
    kept,
    ending: record.ending_at !== null,
    ended: record.ended_at !== null,
  };
}

/** Saves a job's record to disk. Throws CliError('storage'). */
export async function writeJob(job: JobRecord, context: Context): Promise<void> {
  const path = await jobPath(job.uid, 'json', context);
  try {
    await privateFolder(dirname(path));
    await replaceFile(path, `${JSON.stringify(job)}\n`);
  } catch (error) {
    throw unusable('save', path, error);
  }
}

/**
 * Reads a record. Throws CliError('storage') if the file is missing, can't be read, or was written
 * by a newer gpucloud.
 */
export async function readJob(uid: string, context: Context): Promise<JobRecord> {
  const path = await jobPath(uid, 'json', context);
  try {
    const found: unknown = JSON.parse(readOwn(path)?.toString('utf8') ?? '');
    const { version } = z.looseObject({ version: z.number() }).parse(found);
    if (version > VERSION) throw new NewerRecord(path, version);
    return { ...schema().parse(found), uid };
  } catch (error) {
    throw error instanceof NewerRecord ? error : unusable('read', path, error);
  }
}

/** A record of a gpucloud that is newer than this one. */
export class NewerRecord extends CliError {
  constructor(path: string, version: number) {
    super('storage', `A newer gpucloud wrote the job ${path} (version ${version}).`, {
      hint: 'update gpucloud on this computer',
      mayBeBilling: true,
    });
  }
}

/**
 * Returns the record if another process has completed the job. Returns undefined otherwise, or if
 * the file can't be read. A process can take over from a suspended process, for example after
 * Ctrl-Z or on a sleeping laptop.
 */
export async function readEnded(uid: string, context: Context): Promise<JobRecord | undefined> {
  const found: JobRecord[] = [];
  await failuresOf(readJob(uid, context).then((job) => found.push(job)));
  return found.find(({ ended_at }) => ended_at !== null);
}

export interface AllJobs {
  /** The account's jobs, newest first. */
  readonly jobs: readonly JobRecord[];
  /** Records that only a newer gpucloud can read. */
  readonly newer: readonly CliError[];
}

/** Lists the account's jobs, newest first. Warns about a file that can't be read. */
export async function readAllJobs(context: Context): Promise<AllJobs> {
  const [found, newer]: [JobRecord[], CliError[]] = [[], []];
  for (const uid of uidsIn((await context.folders()).state)) {
    const [fault] = await failuresOf(readJob(uid, context).then((job) => found.push(job)));
    if (fault instanceof NewerRecord) newer.push(fault);
    else if (fault !== undefined) context.err.warn('local_storage', fault.message);
  }
  const own: JobRecord[] = [];
  // Filters by account, since the jobs of all accounts share a folder.
  for (const job of found) if (await isOwn(job, context)) own.push(job);
  return { jobs: own.sort(newestFirst), newer };
}

/** Lists the account's jobs as {@link readAllJobs} does, with a warning for each newer record. */
export async function readJobs(context: Context): Promise<JobRecord[]> {
  const { jobs, newer } = await readAllJobs(context);
  for (const { message } of newer) context.err.warn('local_storage', message);
  return [...jobs];
}

async function isOwn({ service, account }: JobRecord, context: Context): Promise<boolean> {
  const own = await (await context.journal()).account();
  return service === (await serviceName(context)) && (own === undefined || own === account);
}

function newestFirst(a: JobRecord, b: JobRecord): number {
  return a.started_at < b.started_at ? 1 : -1;
}

function uidsIn(state: string): string[] {
  return namesIn(join(state, 'jobs')).flatMap((name) =>
    name.endsWith('.json') ? decodeURIComponent(name.slice(0, -'.json'.length)) : [],
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw unusable('read', 'jobs', error);
  }
}

/**
 * Returns the instances with a job, of every account, oldest job first, with the status as far as
 * this computer knows it; '' for a job that may run. Skips unreadable files.
 */
export function jobsIn(state: string): { readonly id: string; readonly state: string }[] {
  const found = uidsIn(state).flatMap((uid) => {
    try {
      const text = readFileSync(join(state, 'jobs', `${encodeURIComponent(uid)}.json`), 'utf8');
      const job = schema().parse(JSON.parse(text));
      return isRented(job) ? [job] : [];
    } catch {
      // Tab completes what it can.
      return [];
    }
  });
  return found
    .sort(newestFirst)
    .reverse()
    .map((job) => ({ id: job.id, state: knownStatus(job) }));
}

function knownStatus(job: JobRecord): string {
  return job.ended_at === null && job.exit_code === null ? '' : overStatus(job);
}

/**
 * Returns the status of a job whose command does not run any more. A command that was never started
 * is not lost, nor is one that ran until its instance was terminated.
 */
export function overStatus(job: JobRecord): 'EXITED' | 'LOST' | 'TERMINATED' {
  const { exit_code, command_started_at, lost_at, here } = job;
  if (exit_code !== null || command_started_at === null) return 'EXITED';
  return lost_at !== null || here ? 'LOST' : 'TERMINATED';
}

/**
 * Asks the process that follows a job to stop it. Uses a file of its own, since only that process
 * writes the record. Throws CliError('storage').
 */
export async function askToStop(uid: string, context: Context): Promise<void> {
  const path = await jobPath(uid, 'stop', context);
  try {
    writeFileSync(path, '', { mode: 0o600 });
    takeFolderOwner(path);
  } catch (error) {
    throw unusable('save', path, error);
  }
}

/**
 * Returns a function that says whether {@link askToStop} was called; with `isNew`, only since now,
 * since an earlier call was for another process.
 */
export async function stopAsked(
  uid: string,
  context: Context,
  { isNew = false } = {},
): Promise<() => boolean> {
  const path = await jobPath(uid, 'stop', context);
  // A file that can't be read asks for nothing, so that a broken state folder doesn't end a job.
  const time = () => {
    try {
      return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    } catch {
      return undefined;
    }
  };
  const before = isNew ? time() : undefined;
  return () => time() !== before;
}

export interface OutputFile {
  readonly path: string;
  /** The offset of its first byte in the command's output. */
  readonly start: number;
}

/** Returns the files with an output of a job, in their order. Each name ends with the offset. */
export async function outputFiles(
  uid: string,
  from: 'out' | 'err',
  context: Context,
): Promise<OutputFile[]> {
  const path = await jobPath(uid, from, context);
  const found = namesIn(dirname(path)).flatMap((name): OutputFile[] => {
    const file = join(dirname(path), name);
    const [, offset] = /\.(\d{1,15})/.exec(name) ?? [];
    return file === `${path}.${offset}` ? [{ path: file, start: Number(offset) }] : [];
  });
  return found.sort((a, b) => a.start - b.start);
}

/** Removes a job with its output. */
export async function removeJob(uid: string, context: Context): Promise<void> {
  for (const from of ['out', 'err'] as const) {
    const files = await outputFiles(uid, from, context);
    for (const { path } of files) rmSync(path, { force: true });
  }
  for (const kind of ['stop', 'json'] as const) {
    rmSync(await jobPath(uid, kind, context), { force: true });
  }
}

/** Maximum number of ended jobs whose output and report are kept. */
export const MOST_ENDED = 100;

/** Removes the oldest ended jobs, with their output. */
export async function removeOldJobs(context: Context): Promise<void> {
  const ended = (await readJobs(context)).filter(({ ended_at }) => ended_at !== null);
  for (const { uid } of ended.slice(MOST_ENDED)) await removeJob(uid, context);
}

/**
 * Returns the path of a job's file. Requires a UUID, since no other text from a service may enter a
 * path.
 */
export async function jobPath(
  uid: string,
  kind: 'out' | 'err' | 'stop' | 'json',
  context: Context,
): Promise<string> {
  return join((await context.folders()).state, 'jobs', `${encodeURIComponent(uid)}.${kind}`);
}

function unusable(verb: 'read' | 'save', path: string, cause: unknown): CliError {
  const reason = errorCode(cause) ?? 'it is damaged, or another version of gpucloud wrote it';
  return new CliError('storage', `Could not ${verb} the job: ${path} (${reason}).`, {
    hint: 'check the folder, or set GPUCLOUD_STATE_DIR to another folder',
    cause,
  });
}
