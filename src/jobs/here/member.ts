import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Ended, Uncertain } from '../../instances/change/ending.ts';
import { createJob } from '../driver.ts';
import type { Fetch } from '../files/copy-out.ts';
import type { Job, JobPlan } from '../job.ts';
import type { Phases } from '../phases.ts';
import { note, timeNow } from '../record/note.ts';
import { lastLine } from '../remote/failed-ssh.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import { connect } from '../stages/connect.ts';
import { copyFiles, copyingFrom, fetchEach } from '../stages/copies.ts';
import { ensureRunning } from '../stages/follow-to-end.ts';
import type { LocalCommand } from './local-command.ts';
import type { NotRented, RentedHere } from './rent.ts';

/** One of several instances of a run, with a job of its own. */
export interface Member {
  readonly job: Job;
  /** undefined until the instance is ready. */
  shell: RemoteShell | undefined;
  /** Why the instance was left out, or why its results are missing. */
  fault: CliError | undefined;
  /** undefined while the instance may run. */
  termination: Ended | Uncertain | undefined;
  /** Aborts the preparation if other instances failed. */
  giveUp(reason: CliError): void;
}

/** A run of several instances, with its progress. */
export interface HereRun {
  readonly started_at: string;
  readonly phases: Phases;
  members: readonly Member[];
  /** Names without a usable instance. */
  notRented: readonly NotRented[];
  command: LocalCommand | undefined;
  exitCode: number | undefined;
  /** Why the run stopped early. */
  failure: CliError | undefined;
}

/** Returns the fetches of one instance, each into a folder with the instance's name. */
export function fetchInto(fetch: readonly Fetch[], name: string): Fetch[] {
  return fetch.map(({ remote, local }) => ({ remote, local: `${join(local, name)}/` }));
}

export async function createMember(
  { job: { record, isUnsaved }, instance, deadline, stops: own, early }: RentedHere,
  { how, toStart: command }: JobPlan,
  context: Context,
): Promise<Member> {
  const needless = new AbortController();
  const stops = { ...own, any: AbortSignal.any([own.any, needless.signal]) };
  const given = { record, isUnsaved, how, by: 'run', command, early, instance } as const;
  return {
    job: await createJob({ ...given, deadline, stops, isQuiet: true }, context),
    shell: undefined,
    fault: undefined,
    termination: undefined,
    giveUp: (reason) => needless.abort(reason),
  };
}

/** Waits for the instance, makes its folder, and copies the files of `--sync`. */
export async function prepare(member: Member, context: Context): Promise<void> {
  const { job } = member;
  const own = beside(job, context);
  if (job.early !== undefined) throw job.early;
  const there = await connect(job, own);
  const { code, stderr } = await there.shell.run(`mkdir -p ${WORK}`, '', job.stops.any);
  if (code !== 0) {
    const reason = lastLine(stderr) || `exit code ${code}`;
    throw new CliError('refused', `Could not create ~/${WORK}: ${reason}`);
  }
  await copyFiles(job, there, own);
  await note(job, { copied_at: timeNow(context) }, context);
  member.shell = there.shell;
}

/** Copies as many results of one instance as possible. */
export async function fetchFrom(member: Member, context: Context): Promise<void> {
  const { job, shell } = member;
  if (shell === undefined) return;
  const own = beside(job, context);
  const warn = (what: string) => own.err.warn('copy', what);
  const copying = {
    ...copyingFrom(shell, job.stops.last, warn, context),
    onProgress: () => undefined,
  };
  await fetchEach(job, copying, { isOver: true, onCut: patienceOf(job, context) }, own);
}

/** Retries while the service reports that the instance runs, so that the others need not wait. */
const ATTEMPTS = 3;

/** Keeps retrying without a network, since the instance can't be terminated either. */
function patienceOf({ record }: Job, context: Context) {
  let failed = 0;
  return async (error: CliError) => {
    if (await ensureRunning(record, context)) failed += 1;
    if (failed > ATTEMPTS) throw error;
  };
}

/**
 * Shows counts as progress, and names the instance in messages about copies: several instances
 * share the terminal.
 */
function beside({ record: { name } }: Job, context: Context): Context {
  const { err } = context;
  const own: Context['err'] = {
    ...err,
    progress: () => ({ update: () => undefined, done: () => undefined }),
    warn: (code, text) => err.warn(code, code === 'copy' ? `${name}: ${text}` : text),
  };
  return Object.create(context, { err: { value: own } });
}
