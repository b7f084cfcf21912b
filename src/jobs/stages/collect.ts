import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { worstOf } from '../files/copy-out-each.ts';
import type { Job } from '../job.ts';
import { MOST_KEPT, openKept } from '../kept.ts';
import type { JobOutput } from '../output.ts';
import type { Received } from '../received.ts';
import { note, timeNow } from '../record/note.ts';
import { hasFailedSetup } from '../record/record.ts';
import { ensureSameHost } from '../remote/failed-ssh.ts';
import { follow, offsetsOf } from '../remote/follow.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { fetchAll } from './copies.ts';
import { noteOutputEnd } from './follow-to-end.ts';
import { repeated } from './repeated.ts';

/**
 * Copies the results and the output that are not on this computer yet. Throws the first failure.
 * `isOver`: the command has exited.
 */
export async function collect(
  job: Job,
  shell: RemoteShell,
  output: JobOutput | undefined,
  isOver: boolean,
  context: Context,
): Promise<void> {
  const failures = hasFailedSetup(job.record)
    ? []
    : await failuresOf(fetchAll(job, shell, output, isOver, context));
  const { stops, by, record } = job;
  if (record.output_kept_at === null) {
    const keep = () => keepOutput(job, shell, context);
    // Copies the output even if a result is missing, since the output often explains why.
    const faults = await failuresOf(repeated(keep, stops.last, context.clock));
    // The output was already printed, so a failure to keep it is only a warning.
    if (by !== 'run') failures.push(...faults);
    else if (faults[0] !== undefined && !stops.last.aborted) {
      context.err.warn('copy', faults[0].message);
    }
    const isKept = faults.length === 0 || by === 'run';
    if (isKept && isOver) await note(job, { output_kept_at: timeNow(context) }, context);
  }
  const failure = worstOf(failures);
  if (failure !== undefined) throw failure;
}

/** Keeps the rest of both outputs on this computer. */
async function keepOutput(job: Job, shell: RemoteShell, context: Context): Promise<void> {
  const { record, stops, received } = job;
  const signal = stops.last;
  if (received !== undefined) {
    // The command ignored its interrupt, so its output goes on.
    if (!received.isWhole) await followNow(job, shell, received, context);
    return;
  }
  const last = await offsetsOf(shell, ['-c', MOST_KEPT], signal);
  const { out, err } = record.printed;
  const at = { out: Math.max(out, last.out), err: Math.max(err, last.err) };
  const kept = await openKept(record, at, context);
  try {
    await followNow(
      job,
      shell,
      {
        offsets: { ...kept.end },
        async receive(from, bytes) {
          kept.append(from, bytes);
          kept.dropBefore(from, kept.end[from]);
        },
      },
      context,
    );
    if (kept.fault !== undefined) throw kept.fault;
  } finally {
    kept.close();
  }
}

/** Receives the output up to its present end. */
async function followNow(
  job: Job,
  shell: RemoteShell,
  { offsets, receive }: Pick<Received, 'offsets' | 'receive'>,
  context: Context,
): Promise<void> {
  const signal = job.stops.last;
  const end = await follow({
    shell,
    offsets,
    isOnce: true,
    clock: context.clock,
    signal,
    print: (from, bytes) => receive(from, bytes, signal),
    async onCut({ reason }) {
      ensureSameHost(reason, job.record);
      throw new CliError('refused', `Could not copy the output: ${reason}`, { retryable: true });
    },
  });
  await noteOutputEnd(job, end, context);
}
