import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, failuresOf, isInterrupt } from '../errors.ts';
import { BRIEFLY } from '../instances/refusal.ts';
import { type HowToReach, reach } from '../reach/reach.ts';
import { INSTANCE_STATUSES, leadsTo } from '../rules/statuses.ts';
import { type Copying, copyIn } from './copy/copy-in.ts';
import { copyOut } from './copy/copy-out.ts';
import { listFiles } from './copy/files.ts';
import { createJobOutput, type JobOutput } from './output.ts';
import type { Phases } from './phases.ts';
import { type JobRecord, writeJob } from './record.ts';
import { follow } from './remote/follow.ts';
import { createRemoteShell, type RemoteShell } from './remote/remote-shell.ts';
import { INTERRUPT, PROBE, START, STARTED, supervisorOf } from './remote/supervisor.ts';
import type { Stage } from './report.ts';
import type { Stops } from './stops.ts';

/** Milliseconds between two attempts to sign in or to copy. */
const PAUSE = 3_000;
/** sshd may start before the keys are in place. */
const SIGN_IN_ATTEMPTS = 40;
const COPY_ATTEMPTS = 3;

export interface Job {
  readonly record: JobRecord;
  readonly how: HowToReach;
  readonly stops: Stops;
  readonly phases: Phases;
  /** Returns once the command has started. */
  readonly detach: boolean;
}

/** The progress of a job. */
export interface Progressed {
  stage: Stage;
  exitCode: number | undefined;
  fetched: string[];
  /** The last state read of the instance. */
  instance: Instance | undefined;
}

/**
 * Runs the command on a rented instance and copies the results. If it throws, `progress` shows what
 * was done. An earlier command is resumed where its output stopped.
 */
export async function runOn(job: Job, progress: Progressed, context: Context): Promise<void> {
  const { record, stops, phases } = job;
  const shell = await connected(job, progress, context);
  progress.stage = 'connecting';
  phases.begin('Connecting');
  const there = await probed(shell, stops.any, context);
  const copying: Omit<Copying, 'signal'> = {
    shell,
    hasRsync: there.hasRsync && (await hasRsync(context)),
    startPiped: (program) => context.startPiped(program),
    onChanged: (what) => context.err.warn('copy', `Changed while it was copied: ${what}`),
    onProgress: phases.bytes,
  };
  if (!there.isStarted) {
    await copyFiles(job, progress, { ...copying, signal: stops.any }, context);
    progress.stage = 'running';
    await start(shell, record.command, stops.any);
  }
  progress.stage = 'running';
  if (job.detach) return;
  phases.begin('Running');
  phases.clear();
  const output = createJobOutput(context, stops.last);
  progress.exitCode = await followToEnd(job, shell, output, context);
  progress.stage = 'fetching';
  await fetchAll(job, progress, { ...copying, signal: stops.last }, context);
  if (output.lost !== undefined) throw output.lost;
  if (progress.exitCode === undefined) {
    throw new CliError('runFailed', 'The command was killed together with its supervisor.');
  }
}

async function connected(job: Job, progress: Progressed, context: Context): Promise<RemoteShell> {
  const { record, how, phases, stops } = job;
  progress.stage = 'starting';
  phases.begin('Starting');
  phases.clear();
  // The deadline ends this wait too.
  const stoppable: Context = Object.create(context, { signal: { value: stops.any } });
  const reached = await reach(record.id, how, stoppable);
  progress.instance = reached.instance;
  return createRemoteShell(reached.endpoint, reached.ssh, context);
}

/** Checks the tools of the instance. Tries again until the keys are in place there. */
async function probed(shell: RemoteShell, signal: AbortSignal, { clock }: Context) {
  for (let attempt = 1; ; attempt += 1) {
    const { code, stdout, stderr } = await shell.run(PROBE, '', signal);
    const lines = stdout.split('\n');
    if (lines.includes('gpucloud-run ready')) {
      // rsync can't work with a login shell that prints something first.
      const greets = !stdout.startsWith('gpucloud-run ');
      return {
        isStarted: lines.includes(STARTED),
        hasRsync: !greets && lines.includes('gpucloud-run rsync'),
      };
    }
    if (attempt === SIGN_IN_ATTEMPTS) throw noSignIn(code, stderr);
    await clock.sleep(PAUSE, signal);
  }
}

function noSignIn(code: number, stderr: string): CliError {
  const reason = stderr.trim().split('\n').at(-1) || `ssh ended with ${code}`;
  return new CliError('refused', `Could not sign in with SSH: ${reason}`);
}

async function hasRsync({ start, host }: Context): Promise<boolean> {
  // rsync on Windows uses its own ssh and its own paths.
  if (host.platform === 'win32') return false;
  const hear = () => undefined;
  const running = await start({ file: 'rsync', args: ['--version'], hear, timeout: 5_000 });
  return (await running.ended.catch(() => 127)) === 0;
}

async function copyFiles(
  job: Job,
  progress: Progressed,
  copying: Copying,
  context: Context,
): Promise<void> {
  const { sync, exclude } = job.record;
  if (sync === null) return;
  // The start of an instance takes minutes, in which files come and go.
  const files = await listFiles(sync, exclude);
  progress.stage = 'copying';
  job.phases.begin('Copying', files);
  await repeated(() => copyIn(files, copying), copying.signal, context);
}

/** A copy may be repeated as a whole. */
async function repeated(
  copy: () => Promise<void>,
  signal: AbortSignal,
  { clock }: Context,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copy();
    } catch (error) {
      const again = error instanceof CliError && error.retryable && attempt < COPY_ATTEMPTS;
      if (!again || signal.aborted) throw error;
      await clock.sleep(PAUSE, signal);
    }
  }
}

/** Starts the command once: a second request finds it started. */
async function start(
  shell: RemoteShell,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  let reason = '';
  for (let attempt = 1; attempt <= COPY_ATTEMPTS; attempt += 1) {
    const running = await shell.start(START, [], signal);
    running.stdin.end(supervisorOf(command));
    let printed = '';
    for await (const chunk of running.stdout) {
      printed += String(chunk);
      // The supervisor keeps this connection open, but does not need it.
      if (printed.split('\n').includes(STARTED)) {
        running.kill();
        return;
      }
    }
    signal.throwIfAborted();
    reason = `ssh ended with ${await running.ended}`;
  }
  throw new CliError('refused', `Could not start the command: ${reason}.`);
}

async function followToEnd(
  { record, stops, phases }: Job,
  shell: RemoteShell,
  output: JobOutput,
  context: Context,
): Promise<number | undefined> {
  const { clock, err, interrupts } = context;
  const offsets = { ...record.printed };
  const position = createPosition(record, offsets, context);
  const interrupt = () => {
    if (stops.last.aborted) return;
    phases.clear();
    err.note(`Interrupting the command. Ctrl-C again terminates ${record.name} without copying.`);
    shell.run(INTERRUPT, '', stops.last).catch((error: unknown) => {
      if (!isInterrupt(error)) err.warn('connection', 'The command could not be interrupted.');
    });
  };
  interrupts.first.addEventListener('abort', interrupt, { once: true });
  if (interrupts.first.aborted) interrupt();
  try {
    const { exitCode } = await follow({
      shell,
      offsets,
      clock,
      signal: stops.last,
      async print(from, bytes) {
        phases.clear();
        await output.print(from, bytes);
        position.moved();
      },
      onCut: async (reason, isNew) => {
        await ensureRunning(record, context);
        if (!isNew) return;
        err.warn(
          'connection',
          `The connection to ${record.name} was lost (${reason || 'closed'}). The command is still running; reconnecting.`,
        );
      },
      onBack: () => err.note(`Reconnected to ${record.name}.`),
    });
    return exitCode;
  } finally {
    interrupts.first.removeEventListener('abort', interrupt);
    await position.close();
  }
}

/** Milliseconds until it is written how far the output was printed. */
const SAVE_AFTER = 1_000;

/** Writes how far the output was printed, a while after it moved. A full disk ends no job. */
function createPosition(record: JobRecord, offsets: JobRecord['printed'], context: Context) {
  const closed = new AbortController();
  let saving: Promise<void> | undefined;
  let isLost = false;
  async function save(): Promise<void> {
    const [fault] = await failuresOf(writeJob({ ...record, printed: { ...offsets } }, context));
    if (fault !== undefined && !isLost) context.err.warn('local_storage', fault.message);
    isLost ||= fault !== undefined;
  }
  async function saveLater(): Promise<void> {
    await context.clock.sleep(SAVE_AFTER, closed.signal).catch(() => undefined);
    saving = undefined;
    await save();
  }
  return {
    moved() {
      saving ??= saveLater();
    },
    async close() {
      closed.abort();
      await saving;
      await save();
    },
  };
}

/** Throws if somebody else ended the instance: no other attempt to connect can succeed. */
async function ensureRunning({ id, name }: JobRecord, context: Context): Promise<void> {
  const status = await (await context.api()).instances.get(id, BRIEFLY).then(
    (found) => found.status,
    // What can't be read now is read at the next attempt.
    () => undefined,
  );
  if (status === undefined || !INSTANCE_STATUSES.includes(status)) return;
  if (leadsTo('ACTIVE', status)) return;
  throw new CliError('wrongState', `${name} is ${status}, and its command has ended with it.`, {
    resource: id,
  });
}

/** Copies all it can, then throws the first failure. */
async function fetchAll(
  { record, phases }: Job,
  progress: Progressed,
  copying: Copying,
  context: Context,
): Promise<void> {
  let failure: CliError | undefined;
  for (const one of record.fetch) {
    phases.begin('Fetching', one.remote);
    try {
      await repeated(() => copyOut(one, copying), copying.signal, context);
      progress.fetched.push(one.local);
    } catch (error) {
      if (!(error instanceof CliError) || copying.signal.aborted) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
