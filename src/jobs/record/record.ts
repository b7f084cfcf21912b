import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { serviceName } from '../../instances/rent/account.ts';
import { type JobGpu, type JobReport, jobGpu, jobReport } from '../../json-results/jobs.ts';
import { lazy } from '../../lazy.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { privateFolder, readOwn, replaceFile, takeFolderOwner } from '../../system/files.ts';
import * as z from '../../zod.ts';
import type { Took } from '../remote/frames.ts';
import type { Happened } from '../state.ts';

/**
 * A stored job: what was asked, what happened, and how it ended. Only the process that holds the
 * job's lock writes it. A time is by this computer's clock (ISO 8601), and null until it happens.
 */
export interface JobRecord {
  readonly version: 2;
  /** The name of the file. A record of version 1 has its instance's ID. */
  readonly uid: string;
  /** Where the instance belongs; null in a record of version 1. */
  readonly service: string | null;
  readonly account: string | null;
  /** The instance's ID; null until it is rented. */
  readonly id: string | null;
  readonly name: string;
  /** `--on`: the job uses an existing instance, and does not terminate it. */
  readonly on: boolean;
  /** `--here`: the command runs on this computer. */
  readonly here: boolean;
  /** The command's words, with the values of variables masked. */
  readonly command: readonly string[];
  /** Variable names from `--pass-env` and `--env-file`. Their values are not stored. */
  readonly variables?: readonly string[] | undefined;
  /** The setup, with the values of variables masked. Missing in a record of an earlier version. */
  readonly setup?: Setup | null | undefined;
  /** `--sync` folder, as an absolute path. */
  readonly sync: string | null;
  readonly exclude: readonly string[];
  /** `--no-gitignore`: false. Missing in a record of an earlier version. */
  readonly gitignore?: boolean | undefined;
  readonly fetch: readonly StoredFetch[];
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
  /** The folder in which the job's folder is, as an absolute path on the instance. */
  readonly home: string | null;
  /** Bytes of each output printed so far. */
  readonly printed: Bytes;
  /** Bytes dropped from the start of each output. */
  readonly cut: Bytes;
  /** When the job began. */
  readonly started_at: string;
  /** When the last request for the instance was about to be sent. */
  readonly requested_at: string | null;
  readonly rented_at: string | null;
  readonly signed_in_at: string | null;
  readonly copied_at: string | null;
  /** When the command was about to be started. It must never start twice. */
  readonly command_started_at: string | null;
  /**
   * When the instance first showed that the command was started. Missing in an older record, which
   * counts as shown.
   */
  readonly shown_at?: string | null | undefined;
  readonly exited_at: string | null;
  readonly output_kept_at: string | null;
  /** When gpucloud found that the command disappeared without an exit code. */
  readonly lost_at: string | null;
  /** When the end was begun. From then on, nothing is fetched. */
  readonly ending_at: string | null;
  /** When the job completed. Unless `--on`, its instance is terminated by then. */
  readonly ended_at: string | null;
  /** Why the job ended without an exit code of its command. */
  readonly reason: string | null;
  /** The command's exit code, or 125 after a failed setup; null until it is known. */
  readonly exit_code: number | null;
  /** The exit code of a failed setup, after which the command was not started. */
  readonly setup_exit_code?: number | null | undefined;
  /** How the command used the cards; null without a sample. Missing in a record of an earlier version. */
  readonly gpu?: JobGpu | null | undefined;
  /** How long the setup and the command ran on the instance. Missing until it is known. */
  readonly took?: Took | undefined;
  /**
   * Why the instance was kept after the command exited: `results` if the instance still has
   * uncopied results.
   */
  readonly kept: 'command' | 'results' | null;
  /** Why the instance refused the last sign-in of `reap`; null after a successful one. */
  readonly sign_in_refused?: string | null | undefined;
  readonly report: JobReport | null;
}

/** What prepares the instance for the command, in the synced folder. */
export interface Setup {
  /** For `sh -ec`. */
  readonly text: string;
  /** Changes with the text and its files. An instance skips a setup with the same mark. */
  readonly mark: string;
  /** Whether to run it although it has succeeded on the instance. */
  readonly again: boolean;
}

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

/** A path of `--fetch`. `local` is an absolute path. */
export interface StoredFetch {
  readonly remote: string;
  readonly local: string;
  /** When it was completely copied after the command. */
  readonly fetched_at: string | null;
  /** Received files that could not be moved to `local` yet. */
  readonly unplaced?: { readonly staging: string; readonly isWhole: boolean } | null | undefined;
}

/** Bytes of the command's stdout and stderr. */
export interface Bytes {
  readonly out: number;
  readonly err: number;
}

const VERSION = 2;

const schema = lazy(() => {
  const text = z.string();
  const maybeText = z.nullable(text);
  const count = z.number().check(z.nonnegative());
  const maybeNumber = z.nullable(z.number());
  const bytes = z.object({ out: count, err: count });
  return z.looseObject({
    version: z.literal(VERSION),
    uid: text,
    service: maybeText,
    account: maybeText,
    id: maybeText,
    name: text,
    on: z.boolean(),
    here: z.boolean(),
    command: z.array(text).check(z.minLength(1)),
    variables: z.optional(z.array(text)),
    setup: z.nullish(z.object({ text, mark: text, again: z.boolean() })),
    sync: maybeText,
    exclude: z.array(text),
    gitignore: z.optional(z.boolean()),
    fetch: z.array(
      z.object({
        remote: text,
        local: text,
        fetched_at: maybeText,
        unplaced: z.optional(z.nullable(z.object({ staging: text, isWhole: z.boolean() }))),
      }),
    ),
    fetch_every: maybeNumber,
    keep_on_failure: maybeNumber,
    grace: z.number(),
    report_file: maybeText,
    identity: maybeText,
    user: maybeText,
    ssh_options: z.array(text),
    ssh_words: z.array(text),
    home: maybeText,
    printed: bytes,
    cut: bytes,
    started_at: text,
    requested_at: maybeText,
    rented_at: maybeText,
    signed_in_at: maybeText,
    copied_at: maybeText,
    command_started_at: maybeText,
    shown_at: z.optional(maybeText),
    exited_at: maybeText,
    output_kept_at: maybeText,
    lost_at: maybeText,
    ending_at: maybeText,
    ended_at: maybeText,
    reason: maybeText,
    exit_code: maybeNumber,
    setup_exit_code: z.nullish(z.number()),
    gpu: z.nullish(jobGpu()),
    took: z.optional(z.object({ setup: count, command: count })),
    kept: z.nullable(z.enum(['command', 'results'])),
    sign_in_refused: z.optional(maybeText),
    report: z.nullable(jobReport()),
  });
});

/** The phases of version 1 in which no command was started. */
const BEFORE_COMMAND = ['renting', 'starting', 'connecting', 'copying'];

/**
 * Converts a record of version 1, whose instance existed before it. Its command counts as started
 * unless its report says otherwise, since it must not start twice.
 */
function upgraded(old: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { id, started_at, ended_at, fetched, fetch } = old;
  const report = old.report as Partial<JobReport> | null;
  const isStarted = !BEFORE_COMMAND.includes(String(report?.stage));
  const fetched_at = fetched === true ? (ended_at ?? started_at) : null;
  return {
    ...old,
    version: VERSION,
    uid: id,
    service: null,
    account: null,
    here: false,
    fetch: Array.isArray(fetch) ? fetch.map((one) => ({ ...one, fetched_at })) : fetch,
    home: old.home ?? null,
    requested_at: started_at,
    rented_at: started_at,
    signed_in_at: null,
    copied_at: null,
    command_started_at: isStarted ? started_at : null,
    exited_at: null,
    output_kept_at: ended_at,
    ending_at: null,
    reason: report?.error ?? null,
  };
}

/** Adds the receipt to a report of an earlier gpucloud, which had none. */
function withReceipt({ report, ...record }: Readonly<Record<string, unknown>>) {
  const isReport = typeof report === 'object' && report !== null;
  return {
    ...record,
    report: isReport ? { cost: null, phases: null, gpu: null, ...report } : report,
  };
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
  return setup_exit_code != null;
}

/** Whether all results and the whole output of a job are on this computer. */
export function isCollected(record: JobRecord): boolean {
  const { fetch, output_kept_at } = record;
  const areFetched = hasFailedSetup(record) || fetch.every(({ fetched_at }) => fetched_at !== null);
  return output_kept_at !== null && areFetched;
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
 * Reads a record, also of version 1. Throws CliError('storage') if the file is missing, can't be
 * read, or was written by a newer gpucloud.
 */
export async function readJob(uid: string, context: Context): Promise<JobRecord> {
  const path = await jobPath(uid, 'json', context);
  let found: Record<string, unknown>;
  try {
    const text = readOwn(path)?.toString('utf8') ?? '';
    found = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    const record = found.version === 1 ? upgraded(found) : found;
    if (record.version === VERSION) return { ...schema().parse(withReceipt(record)), uid };
  } catch (error) {
    throw unusable('read', path, error);
  }
  throw new NewerRecord(path, found.version);
}

/** A record of a gpucloud that is newer than this one. */
export class NewerRecord extends CliError {
  constructor(path: string, version: unknown) {
    super('storage', `A newer gpucloud wrote the job ${path} (version ${String(version)}).`, {
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

async function isOwn({ id, service, account }: JobRecord, context: Context): Promise<boolean> {
  const journal = await context.journal();
  if (service === null) {
    return id !== null && (await journal.instance(id)).kind !== 'none';
  }
  const own = await journal.account();
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

/** Returns the IDs of the instances with a job, of every account. Skips unreadable files. */
export function jobIdsIn(state: string): string[] {
  return uidsIn(state).flatMap((uid) => {
    try {
      const text = readFileSync(join(state, 'jobs', `${encodeURIComponent(uid)}.json`), 'utf8');
      const { id } = z.looseObject({ id: z.string() }).parse(JSON.parse(text));
      return [id];
    } catch {
      // Tab completes what it can.
      return [];
    }
  });
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

/**
 * Returns the files with an output of a job, in their order. Each name ends with the offset, except
 * for the only file of an older gpucloud, whose offset is in the record.
 */
export async function outputFiles(
  { uid, cut }: Pick<JobRecord, 'uid' | 'cut'>,
  from: 'out' | 'err',
  context: Context,
): Promise<OutputFile[]> {
  const path = await jobPath(uid, from, context);
  const found = namesIn(dirname(path)).flatMap((name): OutputFile[] => {
    const file = join(dirname(path), name);
    if (file === path) return [{ path, start: cut[from] }];
    const [, offset] = /\.(\d{1,15})$/.exec(name) ?? [];
    return file === `${path}.${offset}` ? [{ path: file, start: Number(offset) }] : [];
  });
  return found.sort((a, b) => a.start - b.start);
}

/** Removes a job with its output. */
export async function removeJob(uid: string, context: Context): Promise<void> {
  const none = { out: 0, err: 0 };
  for (const from of ['out', 'err'] as const) {
    const files = await outputFiles({ uid, cut: none }, from, context);
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
  return new CliError('storage', `Could not ${verb} the job: ${path} (${faultOf(cause)}).`, {
    hint: 'check the folder, or set GPUCLOUD_STATE_DIR to another folder',
    cause,
  });
}
