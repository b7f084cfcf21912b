import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt } from '../errors.ts';
import { type HowToReach, reach } from '../reach/reach.ts';
import { type Copying, copyIn } from './copy/copy-in.ts';
import { copyOut } from './copy/copy-out.ts';
import type { FileList } from './copy/files.ts';
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
  /** The files to copy before the command starts; undefined without `--sync`. */
  files(): Promise<FileList | undefined>;
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
  const { record, how, phases } = job;
  progress.stage = 'starting';
  phases.begin('Starting');
  phases.clear();
  const reached = await reach(record.id, how, context);
  progress.instance = reached.instance;
  return createRemoteShell(reached.endpoint, reached.ssh, context);
}

/** Checks the tools of the instance. Tries again until the keys are in place there. */
async function probed(shell: RemoteShell, signal: AbortSignal, { clock }: Context) {
  for (let attempt = 1; ; attempt += 1) {
    const { code, stdout, stderr } = await shell.run(PROBE, '', signal);
    const lines = stdout.split('\n');
    if (lines.includes('gpucloud-run ready')) {
      return { isStarted: lines.includes(STARTED), hasRsync: lines.includes('gpucloud-run rsync') };
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
  const files = await job.files();
  if (files === undefined) return;
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
  const save = () => writeJob({ ...record, printed: { ...offsets } }, context);
  let savedAt = clock.now();
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
        if (clock.now() - savedAt < SAVE_EVERY) return;
        savedAt = clock.now();
        await save();
      },
      onCut: async (reason) => {
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
    await save();
  }
}

/** Milliseconds between two writes of the output position. */
const SAVE_EVERY = 1_000;

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
