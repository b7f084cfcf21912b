import type { Context } from '../../context.ts';
import { asCliError, CliError } from '../../errors.ts';
import type { Unplaced } from '../files/copy-out.ts';
import { copyOrPlace } from '../files/copy-out-each.ts';
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
    ...copyingFrom(shell, signal, context, warn),
    onProgress: () => undefined,
  };
  /** What the last copy of each path could not move to its place. */
  const left = new Map<object, Unplaced>();
  async function copyAll(): Promise<void> {
    for (const one of fetch) {
      // The command changes what was received, so it is received again.
      const onUnplaced = async (_one: object, { staging }: Unplaced) => {
        left.set(one, { staging, isWhole: false });
      };
      try {
        await copyOrPlace({ ...one, unplaced: left.get(one) }, { ...copying, onUnplaced });
        left.delete(one);
      } catch (error) {
        const { message } = asCliError(error);
        warn(`${message}. The command is still running; trying again.`);
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
  // Only the signal ends it.
  const ended = copyAgainAndAgain(every).catch(() => undefined);
  return async () => {
    done.abort(new CliError('interrupted', 'The command has ended.'));
    await ended;
  };
}
