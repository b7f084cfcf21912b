import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import type { Job } from '../job.ts';
import { MOST_KEPT, openKept } from '../kept.ts';
import type { JobOutput } from '../output.ts';
import type { Received } from '../received.ts';
import { ensureSameHost } from '../remote/failed-ssh.ts';
import { follow, offsetsOf } from '../remote/follow.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import type { Connected } from './connect.ts';
import { fetchAll, patienceOf } from './copies.ts';
import { noteFullDisk } from './follow-to-end.ts';
import { repeated } from './repeated.ts';

/** Copies the results and the output of a command that has exited. Throws the first failure. */
export async function collect(
  job: Job,
  there: Pick<Connected, 'shell'>,
  output: JobOutput | undefined,
  context: Context,
): Promise<void> {
  job.collection = 'begun';
  const failures = await failuresOf(fetchAll(job, there, output, context));
  const { stops, by } = job;
  const keep = () => keepOutput(job, there.shell, context);
  const onCut = by === 'run' ? undefined : patienceOf(job, context);
  // Copies the output even if a result is missing, since the output often explains why.
  const faults = await failuresOf(repeated(keep, stops.last, context.clock, onCut));
  // The output was already printed, so a failure to keep it is only a warning.
  if (by !== 'run') failures.push(...faults);
  else if (faults[0] !== undefined && !stops.last.aborted) {
    context.err.warn('copy', faults[0].message);
  }
  // A file missing on the instance can't be copied later. Other causes can be fixed on this
  // computer.
  const [first] = failures;
  const failure = failures.find(({ failure }) => failure !== 'notFound') ?? first;
  if (failure !== undefined) throw failure;
  job.collection = 'done';
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
  let count = 0;
  try {
    await followNow(
      job,
      shell,
      {
        offsets: { ...kept.end },
        async receive(from, bytes) {
          count += bytes.length;
          // Both ends, and what a child of the command may write meanwhile.
          if (count > 4 * MOST_KEPT) throw tooLong();
          kept.append(from, bytes);
          kept.dropBefore(from, kept.end[from]);
          if (kept.fault !== undefined) throw kept.fault;
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
  const { isDiskFull } = await follow({
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
    onBack: () => undefined,
  });
  if (isDiskFull) noteFullDisk(job, context);
}

function tooLong(): CliError {
  return new CliError('notUnderstood', 'The instance sent more output than it had.');
}
