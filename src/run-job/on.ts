import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { ownJournal } from '../instances/pending.ts';
import { instanceIn, readInstance } from '../instances/read.ts';
import { withFile } from '../instances/request/given.ts';
import { findInstance, type Target } from '../instances/resolve.ts';
import { gpucloud } from '../output/shell-line.ts';
import type { HowToReach } from '../reach/reach.ts';
import { signInFinder } from '../reach/sign-in.ts';
import { typedName } from '../rules/names.ts';
import { ensureUnlocked } from '../ssh-keys/private-half.ts';
import { shownWords } from './command.ts';
import type { Job, JobInput } from './job.ts';
import { look } from './jobs/look.ts';
import { asItsJob } from './jobs/sign-in-of.ts';
import { newRecord } from './new-record.ts';
import { checkInput } from './plan.ts';
import { withJob } from './record/lock.ts';
import { type JobRecord, readJobs, removeOutput } from './record/record.ts';
import { lastLine } from './remote/failed-ssh.ts';
import type { Probed } from './remote/probe.ts';
import type { RemoteShell } from './remote/remote-shell.ts';
import { BUSY, FREE, RESET } from './remote/supervisor.ts';
import { ensureWithoutAgent } from './sign-in.ts';
import { runOn } from './stages/index.ts';
import { graceFor } from './stops.ts';
import { supervise } from './supervise.ts';

/** Time to connect, in milliseconds. */
const LOOK = 30_000;

/** Runs a job on an existing instance, and leaves the instance running. */
export async function runOnInstance(
  typed: string,
  input: JobInput,
  context: Context,
): Promise<void> {
  const started_at = new Date(context.clock.now()).toISOString();
  const { toStart, files } = await checkInput(input, await withFile(input.flags, context), context);
  // Loads the account first: otherwise the instance is not stored, and its job is not listed.
  await ownJournal(context);
  const target = await findInstance(typed, context, { changes: true });
  const how = await howToSignIn(target, input, context);
  const seen = await look(target, how, LOOK, context);
  if (seen.isOver) {
    throw new CliError('wrongState', `${target.name} is ${seen.instance.status}.`, {
      resource: target.id,
    });
  }
  const name = seen.instance.name ?? target.name;
  const instance = { id: target.id, name };
  if (seen.state === 'running') throw busy(instance);
  await withJob(instance, context, async () => {
    ensureReplaceable(await jobOn(instance.id, context), seen);
    await reset(instance, seen.shell, context);
    await removeOutput(instance.id, context);
    const { deadline } = (await (await context.journal()).instance(instance.id)) ?? {};
    const time =
      deadline === undefined ? undefined : Date.parse(deadline) - context.serviceClock.now();
    const { grace = graceFor(time) } = input;
    const sync = files?.folder ?? null;
    const given = { ...input, how, toStart, command: shownWords(toStart) };
    const record = newRecord(given, { ...instance, on: true, sync, grace, started_at });
    const work = (job: Job) => runOn(job, toStart, context);
    const by = input.detach ? 'detach' : 'run';
    await supervise({ record, how, by, deadline }, work, context);
  });
}

/** Signs in as the previous job did, or with the private key of one of the instance's keys. */
async function howToSignIn(
  { id }: Target,
  { how: given, detach }: JobInput,
  context: Context,
): Promise<HowToReach> {
  const instance = instanceIn(await readInstance(id, await context.api()));
  const { how, needs } = await signInFinder(given, context, asItsJob(context))(instance);
  const { identity } = how;
  ensureWithoutAgent({
    needs: identity === undefined ? needs : await ensureUnlocked(identity, context),
    detach,
  });
  return how;
}

async function jobOn(id: string, context: Context): Promise<JobRecord | undefined> {
  return (await readJobs(context)).find((job) => job.id === id);
}

/**
 * Refuses a new job until the job that rented the instance has ended, since that job terminates the
 * instance. Also refuses while results of the last job are not copied.
 */
function ensureReplaceable(job: JobRecord | undefined, { state }: Pick<Probed, 'state'>): void {
  if (job === undefined || job.ended_at !== null) return;
  const { id, name, on, kept, fetch, fetched } = job;
  const typed = typedName(name, id);
  if (!on && kept !== 'command') {
    throw new CliError('wrongState', `The job that rented ${name} has not finished.`, {
      resource: id,
      hint: `see its output: ${gpucloud('jobs', 'logs', typed)}; finish the job: ${gpucloud('jobs', 'attach', typed)}`,
    });
  }
  if (!on || state === 'none' || fetch.length === 0 || fetched === true) return;
  throw new CliError('wrongState', `The results of the last job on ${name} were not fetched.`, {
    resource: id,
    hint: `fetch them: ${gpucloud('jobs', 'attach', typed)}; discard them: ${gpucloud('jobs', 'stop', typed, '--no-fetch')}`,
  });
}

/** Removes the state of the previous job. Throws CliError('wrongState') if that job still runs. */
async function reset(instance: Target, shell: RemoteShell, context: Context): Promise<void> {
  const { stdout, stderr, code } = await shell.run(RESET, '', context.signal);
  const lines = stdout.split('\n');
  if (lines.includes(BUSY)) throw busy(instance);
  if (lines.includes(FREE)) return;
  const reason = lastLine(stderr) || `exit code ${code}`;
  throw new CliError('refused', `Could not remove the earlier job on ${instance.name}: ${reason}`);
}

function busy({ id, name }: Target): CliError {
  const typed = typedName(name, id);
  return new CliError('wrongState', `Another job runs on ${name}.`, {
    resource: id,
    hint: `see its output: ${gpucloud('jobs', 'logs', typed)}; stop it: ${gpucloud('jobs', 'stop', typed)}`,
  });
}
