import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { copyIn } from '../files/copy-in.ts';
import { type CopyingOut, leftText } from '../files/copy-out.ts';
import { copyOutEach, type Wanted, worstOf } from '../files/copy-out-each.ts';
import { listFiles } from '../files/files.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import { filesText } from '../phases.ts';
import { note, timeNow } from '../record/note.ts';
import type { StoredFetch } from '../record/record.ts';
import type { SignedIn } from '../remote/probe.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { ensureRunning } from './follow-to-end.ts';
import { repeated } from './repeated.ts';

/** Copies the folder of `--sync` to the instance. */
export async function copyFiles(
  job: Job,
  { shell, hasRsync }: SignedIn,
  context: Context,
): Promise<void> {
  const { sync, exclude, gitignore, on: isAgain } = job.record;
  if (sync === null) return;
  // Lists the files again, since they may have changed while the instance started.
  const files = await listFiles(sync, { exclude, gitignore });
  job.phases.begin('copying', filesText(files));
  const { startPiped, clock } = context;
  const copying = {
    shell,
    signal: job.stops.any,
    onChanged: copyingFrom(shell, job.stops.any, context).onChanged,
    onProgress: showBytes(job),
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

function showBytes({ phases, together, record }: Job): CopyingOut['onProgress'] {
  if (together === undefined) return phases.bytes;
  return (count, total) => together.copied(record.name, count, total);
}

/**
 * Copies the results that are not on this computer yet, as many as possible. Then throws the first
 * failure, preferably not a missing path. `isOver`: the command can't change them any more.
 */
export async function fetchAll(
  job: Job,
  shell: RemoteShell,
  output: JobOutput | undefined,
  isOver: boolean,
  context: Context,
): Promise<void> {
  const { record, stops, phases } = job;
  const { interrupts, err, host, clock } = context;
  const explain = () => {
    if (stops.last.aborted) return;
    const ends = record.on ? 'leaves' : 'terminates';
    const what = job.together?.what ?? record.name;
    // An agent has no second Ctrl-C.
    const again = host.session ? '' : ` Ctrl-C again ${ends} ${what} and skips the rest.`;
    err.note(`Still fetching results.${again}`);
  };
  const noteFetch = async ({ remote, local }: Wanted, change: Partial<StoredFetch>) => {
    // A command that still runs changes its results.
    if (!isOver) return;
    const isIt = (one: StoredFetch) => one.remote === remote && one.local === local;
    const fetch = job.record.fetch.map((one) => (isIt(one) ? { ...one, ...change } : one));
    await note(job, { fetch }, context);
  };
  if (job.by === 'run') interrupts.first.addEventListener('abort', explain);
  try {
    const failures = await copyOutEach(record.fetch, {
      ...copyingFrom(shell, stops.last, context),
      onProgress: showBytes(job),
      clock,
      onBegin: ({ remote }) => phases.begin('fetching', remote),
      async onFetched(one) {
        job.fetched = [...new Set([...job.fetched, one.local])];
        await noteFetch(one, { fetched_at: timeNow(context), unplaced: null });
      },
      onUnplaced: (one, unplaced) => noteFetch(one, { unplaced }),
      onCut: patienceOf(job, context),
    });
    const worst = worstOf(failures);
    if (worst !== undefined) throw worst;
  } finally {
    interrupts.first.removeEventListener('abort', explain);
    output?.endLine();
  }
}

/** Returns options for copying results. By default, its warnings are printed. */
export function copyingFrom(
  shell: RemoteShell,
  signal: AbortSignal,
  { host, err }: Context,
  warn = (what: string) => err.warn('copy', what),
): Omit<CopyingOut, 'onUnplaced' | 'onProgress'> {
  return {
    shell,
    signal,
    home: host.home,
    copier: host,
    onChanged: (what) => warn(`Changed during the copy: ${what}`),
    onSkipped(named, count) {
      warn(
        `Not fetched (devices, pipes, sockets, links out of the folder, or duplicate names): ${leftText({ named, count })}`,
      );
    },
    onLack: warn,
  };
}

/** Attempts while the service reports that the instance runs, and other instances bill meanwhile. */
const ATTEMPTS = 4;

/**
 * Retries after a lost connection until the deadline. `reap` does not retry, since it runs again
 * later.
 */
function patienceOf({ record, by, together }: Job, context: Context) {
  if (by === 'reap') return undefined;
  let last: string | undefined;
  let failed = 0;
  return async (error: CliError) => {
    const { message } = error;
    // Without a network, the other instances can't be terminated either.
    if (await ensureRunning(record, context, last === undefined)) failed += 1;
    if (together !== undefined && failed === ATTEMPTS) throw error;
    if (message !== last) {
      context.err.warn(
        'connection',
        `${message}. The results are still on the instance; trying again.`,
      );
    }
    last = message;
  };
}
