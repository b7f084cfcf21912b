import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { copyOut, type Unplaced } from '../files/copy-out.ts';
import { removeStaging } from '../files/merge.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { copyingFrom } from './copies.ts';

/**
 * Copies the paths of `--fetch` repeatedly while the command runs, each file completely or not at all. Only
 * warns about a failure, since the results are copied again at the end. Returns a function that stops
 * copying and waits for the current copy.
 */
export function fetchEvery(
  job: Job,
  shell: RemoteShell,
  output: JobOutput,
  context: Context,
): () => Promise<void> {
  const { fetch, fetch_every: every } = job.record;
  if (every === null) return async () => undefined;
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, job.stops.last]);
  const warned = new Set<string>();
  const warn = (message: string) => {
    if (warned.has(message) || signal.aborted) return;
    warned.add(message);
    job.phases.clear();
    output.endLine();
    context.err.warn('copy', message);
  };
  const copying = {
    ...copyingFrom(shell, signal, warn, context),
    onProgress: () => undefined,
  };
  /** What the last copy of each path could not move to its place. */
  const left = new Map<object, string>();
  async function copyAll(): Promise<void> {
    for (const one of fetch) {
      const before = left.get(one);
      const onUnplaced = ({ staging }: Unplaced) => left.set(one, staging);
      let isCopied = false;
      try {
        await copyOut(one, { ...copying, onUnplaced });
        isCopied = true;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        warn(`${error.message}. The command is still running; trying again.`);
      }
      if (before !== undefined && (isCopied || left.get(one) !== before)) {
        await removeStaging(before);
        if (isCopied) left.delete(one);
      }
      signal.throwIfAborted();
    }
  }
  const { clock } = context;
  async function copyAgainAndAgain(time: number): Promise<void> {
    for (;;) {
      await clock.sleep(time, signal);
      await copyAll();
    }
  }
  const ended = copyAgainAndAgain(every).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  // The caller gets the error when it stops the copies.
  ended.catch(() => undefined);
  return async () => {
    done.abort(new CliError('interrupted', 'The command has ended.'));
    await ended;
  };
}
