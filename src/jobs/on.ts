import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { instancesBefore } from '../instances/match.ts';
import { instanceIn, readInstance } from '../instances/read.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import { findInstance, type Target } from '../instances/resolve.ts';
import { gpucloud, shellLine } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import type { HowToReach } from '../ssh/reach.ts';
import { signInFinder } from '../ssh/sign-in.ts';
import { ensureUnlocked } from '../ssh-keys/private-half.ts';
import { shownWords } from './command.ts';
import { createJob, driveAndPrint } from './driver.ts';
import type { JobInput } from './job.ts';
import { newRecord } from './new-record.ts';
import { checkInput } from './plan.ts';
import { withJob } from './record/lock.ts';
import { note, timeNow } from './record/note.ts';
import { hasFailedSetup, isFetched, isRented, type JobRecord, readJobs } from './record/record.ts';
import { scriptFailed } from './remote/failed-ssh.ts';
import type { Probed } from './remote/probe.ts';
import type { RemoteShell } from './remote/remote-shell.ts';
import { BUSY, exitOf, FREE, RESET } from './remote/supervisor.ts';
import { ensureOwnTargets, storeJob } from './same-target.ts';
import { ensureWithoutAgent } from './sign-in.ts';
import { hintOf, needOf, standingOf } from './standing.ts';
import { graceFor } from './stops.ts';
import { look } from './verbs/look.ts';
import { asItsJob } from './verbs/sign-in-of.ts';

/** Builds the error for several instances, with the line that starts the command on each. */
export function severalOn(names: readonly string[], command: readonly string[]): CliError {
  const end = command.length === 0 ? '' : ` -- ${shellLine(command)}`;
  return usageError(
    `--on takes one instance, and got ${names.length}: ${names.join(', ')}. Nothing ran.`,
    `run this line with your other flags. If you use --fetch, give each instance a folder: --fetch "results:results/$name"\n  for name in ${shellLine(names)}; do ${gpucloud('run', '--on')} "$name" --detach${end}; done`,
  );
}

/** Refuses `--on A,B`, and `--on A B -- COMMAND`, which would run `B -- COMMAND` on A. */
export async function refuseSeveralOn(
  first: string,
  words: readonly string[],
  context: Context,
): Promise<void> {
  if (first.includes(',')) {
    const names = [...new Set(first.split(',').map((name) => name.trim()))].filter(Boolean);
    if (names.length < 2) throw usageError(`--on "${first}": use one name or ID, without commas`);
    throw severalOn(names, words);
  }
  if (words.indexOf('--') < 1) return;
  const { instances } = await (await context.journal()).read({ archived: true });
  const others = instancesBefore(words, instances);
  if (others.length > 0) throw severalOn([first, ...others], words.slice(others.length + 1));
}

/** Runs a job on an existing instance, and leaves the instance running. */
export async function runOnInstance(
  typed: string,
  input: JobInput,
  context: Context,
): Promise<void> {
  const { toStart, files } = await checkInput(input, input.given, context);
  // Loads the account first: otherwise the instance is not stored, and its job is not listed.
  await ownJournal(context);
  const target = await findInstance(typed, context, { changes: true });
  const whose = {
    name: target.name,
    from: (at: number) => input.given.from('fetch', at),
    // Decides about jobs on the same instance below.
    skips: ({ id }: JobRecord) => id === target.id,
  };
  await ensureOwnTargets(input.fetch, whose, context);
  const found = instanceIn(await readInstance(target.id, await context.api()));
  const last = (await readJobs(context)).find(({ id }) => id === target.id);
  if (last !== undefined) ensureReachable(last, found);
  const how = await howToSignIn(found, input, context);
  const seen = await look({ ...target, home: last?.home }, how, context);
  if (seen.isOver) {
    throw new CliError('wrongState', `${target.name} is ${seen.instance.status}.`, {
      resource: target.id,
    });
  }
  const name = seen.instance.name ?? target.name;
  const instance = { id: target.id, name };
  if (seen.state === 'running') throw busy(instance);
  // Held for the instance, so that only one command is started there at a time.
  await withJob({ uid: target.id, ...instance }, context, async () => {
    await replaceJobs(instance.id, seen, context);
    await reset(instance, seen.shell, context);
    const ends = await (await context.journal()).ends(instance.id);
    const deadline = ends.deadline ?? undefined;
    const time =
      deadline === undefined ? undefined : Date.parse(deadline) - context.serviceClock.now();
    const { grace = graceFor(time) } = input;
    const sync = files?.folder ?? null;
    const given = { ...input, how, toStart, command: shownWords(toStart) };
    const start = { ...instance, on: true, here: false, sync, grace };
    const record = { ...(await newRecord(given, start, context)), id: instance.id };
    const by = input.detach ? 'detach' : 'run';
    await withJob(record, context, async () => {
      await storeJob(record, whose, context);
      const driven = { record, how, by, command: toStart, deadline } as const;
      await driveAndPrint(await createJob(driven, context), context);
    });
  });
}

/** Refuses a STOPPED instance that has the results of its last job: a new job would replace them. */
function ensureReachable(last: JobRecord, { id, status }: Instance): void {
  if (!isRented(last) || standingOf(last, status) !== 'stopped') return;
  const need = needOf(last, 'stopped');
  const hint = hintOf(need);
  throw new CliError('wrongState', `${need.problem?.what}.`, { resource: id, hint });
}

/** Signs in as the previous job did, or with the private key of one of the instance's keys. */
async function howToSignIn(
  instance: Instance,
  { how: given, detach }: JobInput,
  context: Context,
): Promise<HowToReach> {
  const { how, needs } = await signInFinder(given, context, asItsJob(context))(instance);
  const { identity } = how;
  ensureWithoutAgent({
    needs: identity === undefined ? needs : await ensureUnlocked(identity, context),
    detach,
  });
  return how;
}

/**
 * Ends the earlier jobs of `--on`. Refuses a new job until the job that rented the instance has
 * ended, since that job terminates the instance, and while results of the last job are not copied.
 */
async function replaceJobs(
  id: string,
  seen: Pick<Probed, 'state' | 'exitCode'>,
  context: Context,
): Promise<void> {
  const all = await readJobs(context);
  // The command of `run --here` may use `run --on`.
  const open = all.filter((job) => job.id === id && job.ended_at === null && !job.here);
  for (const job of open) ensureReplaceable(job, id, seen);
  for (const record of open.filter(({ on }) => on)) {
    const now = timeNow(context);
    // Its record must not look as if its instance was terminated.
    const exit = seen.exitCode === undefined ? { lost_at: now } : exitOf(seen.exitCode);
    // The instance may show the exit of a later job, or none.
    const end = record.exit_code === null ? exit : {};
    const change = { ...end, ended_at: now, reason: 'Another job replaced it.' };
    await withJob(record, context, () => note({ record }, change, context));
  }
}

function ensureReplaceable(
  job: JobRecord,
  id: string,
  { state, exitCode }: Pick<Probed, 'state' | 'exitCode'>,
): void {
  const { name, on, kept } = job;
  const typed = typedName(name, id);
  if (!on && kept !== 'command') {
    throw new CliError('wrongState', `The job that rented ${name} has not finished.`, {
      resource: id,
      hint: `see its output: ${gpucloud('jobs', 'logs', typed)}; finish the job: ${gpucloud('jobs', 'attach', typed)}`,
    });
  }
  // After a failed setup, there are no results.
  const isWithout = exitCode !== undefined && hasFailedSetup(exitOf(exitCode));
  if (!on || state === 'none' || isFetched(job) || isWithout) return;
  throw new CliError('wrongState', `The results of the last job on ${name} were not fetched.`, {
    resource: id,
    hint: `fetch them: ${gpucloud('jobs', 'attach', typed)}; discard them: ${gpucloud('jobs', 'stop', typed, '--no-fetch')}`,
  });
}

/** Removes the state of the previous job. Throws CliError('wrongState') if that job still runs. */
async function reset(instance: Target, shell: RemoteShell, context: Context): Promise<void> {
  const printed = await shell.run(RESET, context.signal);
  const lines = printed.stdout.split('\n');
  if (lines.includes(BUSY)) throw busy(instance);
  if (lines.includes(FREE)) return;
  throw scriptFailed(`Could not remove the earlier job on ${instance.name}`, printed);
}

function busy({ id, name }: Target): CliError {
  const typed = typedName(name, id);
  return new CliError('wrongState', `Another job runs on ${name}.`, {
    resource: id,
    hint: `see its output: ${gpucloud('jobs', 'logs', typed)}; stop it: ${gpucloud('jobs', 'stop', typed)}`,
  });
}
