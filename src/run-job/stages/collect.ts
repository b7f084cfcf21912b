import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Context } from '../../context.ts';
import { CliError, failuresOf } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import { note, timeNow } from '../record/note.ts';
import { jobPath } from '../record/record.ts';
import { ensureSameHost } from '../remote/failed-ssh.ts';
import { follow, offsetsOf } from '../remote/follow.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import type { Connected } from './connect.ts';
import { fetchAll } from './copies.ts';
import { repeated } from './repeated.ts';

/** The number of bytes of each output to keep on this computer. */
const MOST_KEPT = 64 * 1024 * 1024;

/**
 * Copies the results and the output that are not on this computer yet. Throws the first failure.
 * `isOver`: the command has exited.
 */
export async function collect(
  job: Job,
  there: Pick<Connected, 'shell'>,
  output: JobOutput | undefined,
  isOver: boolean,
  context: Context,
): Promise<void> {
  const failures = await failuresOf(fetchAll(job, there, output, isOver, context));
  const { stops, by, record } = job;
  if (record.output_kept_at === null) {
    const keep = () => keepOutput(job, there.shell, context);
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
  // A file missing on the instance can't be copied later. Other causes can be fixed on this
  // computer.
  const [first] = failures;
  const failure = failures.find(({ failure }) => failure !== 'notFound') ?? first;
  if (failure !== undefined) throw failure;
}

/** Copies the end of both outputs to files beside the record. */
async function keepOutput(job: Job, shell: RemoteShell, context: Context): Promise<void> {
  const { record, stops } = job;
  const offsets = await offsetsOf(shell, ['-c', MOST_KEPT], stops.last);
  const cut = { ...offsets };
  const paths = {
    out: await jobPath(record.uid, 'out', context),
    err: await jobPath(record.uid, 'err', context),
  };
  const opened: FileHandle[] = [];
  const create = async (path: string) => {
    const file = await open(`${path}.new`, 'w', 0o600);
    opened.push(file);
    return file;
  };
  try {
    try {
      const files = { out: await create(paths.out), err: await create(paths.err) };
      await follow({
        shell,
        offsets,
        isOnce: true,
        clock: context.clock,
        signal: stops.last,
        async print(from, bytes) {
          await files[from].writeFile(bytes);
        },
        async onCut({ reason }) {
          ensureSameHost(reason, record);
          throw new CliError('refused', `Could not copy the output: ${reason}`, {
            retryable: true,
          });
        },
        onBack: () => undefined,
      });
    } finally {
      for (const file of opened) await file.close();
    }
    await rename(`${paths.out}.new`, paths.out);
    await rename(`${paths.err}.new`, paths.err);
  } catch (error) {
    stops.last.throwIfAborted();
    if (error instanceof CliError) throw error;
    const reason = `Could not keep the output: ${dirname(paths.out)} (${faultOf(error)}).`;
    throw new CliError('storage', reason, { cause: error });
  }
  job.record = { ...job.record, cut };
}
