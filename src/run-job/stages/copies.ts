import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { copyFailed } from '../copy/copy-failed.ts';
import { copyIn } from '../copy/copy-in.ts';
import { type CopyingOut, copyOut } from '../copy/copy-out.ts';
import { listFiles } from '../copy/files.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import { filesText } from '../phases.ts';
import { note, timeNow } from '../record/note.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import type { Connected } from './connect.ts';
import { ensureRunning } from './follow-to-end.ts';
import { repeated } from './repeated.ts';

/** Copies the folder of `--sync` to the instance. */
export async function copyFiles(
  job: Job,
  { shell, hasRsync }: Connected,
  context: Context,
): Promise<void> {
  const { sync, exclude, on: isAgain } = job.record;
  if (sync === null) return;
  // Lists the files again, since they may have changed while the instance started.
  const files = await listFiles(sync, exclude);
  job.phases.begin('copying', filesText(files));
  const { startPiped, clock } = context;
  const copying = {
    shell,
    signal: job.stops.any,
    onChanged: (what: string) => context.err.warn('copy', `Changed during the copy: ${what}`),
    onProgress: job.phases.bytes,
    hasRsync,
    isAgain,
    startPiped,
    clock,
  };
  const work = async () => {
    try {
      await copyIn(files, copying);
    } catch (error) {
      if (error instanceof CliError && error.retryable) {
        await ensureRunning(job.record, context);
      }
      throw error;
    }
  };
  await repeated(work, copying.signal, clock);
}

/**
 * Copies the results that are not on this computer yet, as many as possible. Then throws the first
 * failure, preferably not a missing path. `isOver`: the command can't change them any more.
 */
export async function fetchAll(
  job: Job,
  { shell }: Pick<Connected, 'shell'>,
  output: JobOutput | undefined,
  isOver: boolean,
  context: Context,
): Promise<void> {
  const { record, stops, phases } = job;
  const { interrupts, err } = context;
  const explain = () => {
    if (stops.last.aborted) return;
    const ends = record.on ? 'leaves' : 'terminates';
    err.note(`Still fetching results. Ctrl-C again ${ends} ${record.name} and skips the rest.`);
  };
  const copying: CopyingOut = {
    ...copyingFrom(shell, stops.last, (what) => err.warn('copy', what), context),
    onProgress: phases.bytes,
    async print(from, bytes) {
      phases.clear();
      if (output === undefined) throw noStream(from);
      await output.print(from, bytes);
    },
  };
  if (job.by === 'run') interrupts.first.addEventListener('abort', explain);
  try {
    await fetchEach(job, copying, isOver, context);
  } finally {
    interrupts.first.removeEventListener('abort', explain);
    output?.endLine();
  }
}

/** Returns options for copying results that print its warnings. */
export function copyingFrom(
  shell: RemoteShell,
  signal: AbortSignal,
  warn: (what: string) => void,
  { clock, host }: Context,
): Omit<CopyingOut, 'onProgress' | 'print'> {
  return {
    shell,
    signal,
    clock,
    home: host.home,
    onChanged: (what) => warn(`Changed during the copy: ${what}`),
    onSkipped(named, count) {
      const more = count > named.length ? ` and ${count - named.length} more` : '';
      warn(
        `Not fetched (devices, pipes, sockets, links out of the folder, or duplicate names): ${named.join(', ')}${more}`,
      );
    },
    onLack: warn,
  };
}

/** Copies each path, then throws the first failure, preferably not a missing path. */
export async function fetchEach(
  job: Job,
  copying: CopyingOut,
  isOver: boolean,
  context: Context,
): Promise<void> {
  const { phases } = job;
  const onCut = patienceOf(job, context);
  let failure: CliError | undefined;
  for (const [at, one] of job.record.fetch.entries()) {
    if (one.fetched_at !== null) continue;
    phases.begin('fetching', one.remote);
    try {
      await repeated(() => copyOut(one, copying), copying.signal, copying.clock, onCut);
      job.fetched = [...new Set([...job.fetched, one.local])];
      if (!isOver) continue;
      const fetched = { ...one, fetched_at: timeNow(context) };
      await note(job, { fetch: job.record.fetch.with(at, fetched) }, context);
    } catch (error) {
      // An interrupt takes precedence over the failure of the copy that it interrupted.
      copying.signal.throwIfAborted();
      if (!(error instanceof CliError)) throw error;
      // A path that is missing can't be fetched later; other causes can be fixed.
      if (failure === undefined || failure.failure === 'notFound') failure = error;
    }
  }
  if (failure !== undefined) throw failure;
}

/** Returns the error for a finished run's terminal or pipe: it no longer exists. */
function noStream(from: 'out' | 'err'): CliError {
  return copyFailed(
    'out',
    `/dev/std${from} belongs to another process; fetch with gpucloud jobs attach`,
  );
}

/**
 * Retries after a lost connection until the deadline. `reap` does not retry, since it runs again
 * later.
 */
function patienceOf({ record, by }: Job, context: Context) {
  if (by === 'reap') return undefined;
  let last: string | undefined;
  return async ({ message }: CliError) => {
    await ensureRunning(record, context, last === undefined);
    if (message !== last) {
      context.err.warn(
        'connection',
        `${message}. The results are still on the instance; trying again.`,
      );
    }
    last = message;
  };
}
