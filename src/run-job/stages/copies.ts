import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { copyIn } from '../copy/copy-in.ts';
import type { CopyingOut } from '../copy/copy-out.ts';
import { copyOutEach, worstOf } from '../copy/copy-out-each.ts';
import { listFiles } from '../copy/files.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import { filesText } from '../phases.ts';
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
  const { sync, exclude, gitignore = true, on: isAgain } = job.record;
  if (sync === null) return;
  // Lists the files again, since they may have changed while the instance started.
  const files = await listFiles(sync, { exclude, gitignore });
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
      if (error instanceof CliError && error.retryable) await ensureRunning(job.record, context);
      throw error;
    }
  };
  await repeated(work, copying.signal, clock);
}

/** Copies as many results as possible, then throws the first failure, preferably not a missing path. */
export async function fetchAll(
  job: Job,
  { shell }: Pick<Connected, 'shell'>,
  output: JobOutput | undefined,
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
  };
  if (job.by === 'run') interrupts.first.addEventListener('abort', explain);
  try {
    await fetchEach(job, copying, patienceOf(job, context), context);
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
  { host }: Context,
): Omit<CopyingOut, 'onProgress'> {
  return {
    shell,
    signal,
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

/** Copies each path, then throws the failure that decides, preferably not a missing path. */
export async function fetchEach(
  job: Job,
  copying: CopyingOut,
  onCut: ReturnType<typeof patienceOf>,
  { clock }: Context,
): Promise<void> {
  const { record, phases } = job;
  job.fetched = [];
  const results = await copyOutEach(record.fetch, {
    ...copying,
    clock,
    onBegin: ({ remote }) => phases.begin('fetching', remote),
    async onFetched({ local }) {
      job.fetched = [...job.fetched, local];
    },
    onCut,
  });
  const worst = worstOf(results);
  const fetched = worst === undefined || worst.kind === 'missing';
  job.record = { ...job.record, fetched };
  if (worst !== undefined) throw worst.fault;
}

/**
 * Retries after a lost connection until the deadline. `reap` does not retry, since it runs again
 * later.
 */
export function patienceOf({ record, by }: Job, context: Context) {
  if (by === 'reap') return undefined;
  let last: string | undefined;
  return async ({ message }: CliError) => {
    await ensureRunning(record, context);
    if (message !== last) {
      context.err.warn(
        'connection',
        `${message}. The results are still on the instance; trying again.`,
      );
    }
    last = message;
  };
}
