import type { Context } from '../../context.ts';
import { CliError, unforeseen } from '../../errors.ts';
import { BRIEFLY, type Reading, readInstance } from '../../instances/read.ts';
import { isDocumented, leadsTo } from '../../rules/statuses.ts';
import type { Job } from '../job.ts';
import type { JobOutput } from '../output.ts';
import type { JobRecord } from '../record/record.ts';
import { ensureSameHost, isCut, lastLine } from '../remote/failed-ssh.ts';
import { follow } from '../remote/follow.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { INTERRUPT } from '../remote/supervisor.ts';
import { createPosition } from './position.ts';
import { repeated } from './repeated.ts';

/**
 * Prints the command's output until the command exits. Returns the exit code, or undefined without
 * one.
 */
export async function followToEnd(
  job: Job,
  shell: RemoteShell,
  output: JobOutput,
  context: Context,
): Promise<number | undefined> {
  const { record, stops, phases } = job;
  const { clock, err, interrupts } = context;
  const { name, on } = record;
  const ends = on ? 'leaves' : 'terminates';
  const offsets = { ...record.printed };
  const position = createPosition(job, offsets, context);
  /** Starts a new line for a message of gpucloud. */
  const begin = (isEchoed = false) => {
    phases.clear();
    output.endLine(isEchoed);
  };
  const onCtrlC = () => {
    if (stops.last.aborted) return;
    begin(true);
    err.note(`Interrupting the command. Ctrl-C again ${ends} ${name} without copying results.`);
    interrupt();
  };
  const onNear = () => {
    if (stops.last.aborted) return;
    begin();
    err.warn(
      'deadline_near',
      `Interrupting the command to fetch results before ${name}'s deadline.`,
    );
    interrupt();
  };
  /** The reason why an interrupt failed. */
  let warned: string | undefined;
  const interrupt = () => {
    repeated(() => interruptCommand(shell, stops.last), stops.last, clock).catch(
      (error: unknown) => {
        if (stops.last.aborted) return;
        const { message } = error instanceof CliError ? error : unforeseen(error);
        if (message !== warned) err.warn('connection', message);
        warned = message;
      },
    );
  };
  // Only `run` interrupts its command.
  if (job.by === 'run') interrupts.first.addEventListener('abort', onCtrlC, { once: true });
  if (job.by === 'run' && interrupts.first.aborted) onCtrlC();
  stops.near.addEventListener('abort', onNear, { once: true });
  if (stops.near.aborted) onNear();
  try {
    const { exitCode } = await follow({
      shell,
      offsets,
      clock,
      signal: AbortSignal.any([stops.last, stops.half]),
      async print(from, bytes) {
        phases.clear();
        await output.print(from, bytes);
        position.moved();
      },
      onCut: async ({ reason, isFirst, isNew }) => {
        ensureSameHost(reason, record);
        await ensureRunning(record, context);
        if (!isNew) return;
        begin();
        const why = reason && ` (${reason.replace(/\.$/, '')})`;
        err.warn(
          'connection',
          isFirst
            ? `The connection to ${name} was lost${why}. The command is still running; reconnecting.`
            : `Still no connection to ${name}${why}.`,
        );
      },
      onBack: () => err.note(`Reconnected to ${name}.`),
    });
    return exitCode;
  } catch (error) {
    // Copies the existing results, since the command ignores SIGINT.
    if (stops.half.aborted && !stops.last.aborted) return undefined;
    throw error;
  } finally {
    interrupts.first.removeEventListener('abort', onCtrlC);
    stops.near.removeEventListener('abort', onNear);
    begin(interrupts.second.aborted);
    await position.close();
  }
}

/** Throws a CliError; after a cut connection, it is retryable. */
export async function interruptCommand(shell: RemoteShell, signal: AbortSignal): Promise<void> {
  const { code, stderr } = await shell.run(INTERRUPT, '', signal);
  if (code === 0) return;
  const reason = lastLine(stderr) || `exit code ${code}`;
  throw new CliError('refused', `Could not interrupt the command: ${reason}`, {
    retryable: isCut(code, stderr),
  });
}

/**
 * Throws if the instance was terminated elsewhere, since no further connection can succeed. Returns
 * whether the service responded.
 */
export async function ensureRunning({ id, name }: JobRecord, context: Context): Promise<boolean> {
  let reading: Reading;
  try {
    reading = await readInstance(id, await context.api(), BRIEFLY);
  } catch (error) {
    // A refused key must not end a job that SSH still reaches.
    if (!(error instanceof CliError)) throw error;
    return false;
  }
  if (reading.kind !== 'there') return false;
  const { status } = reading.instance;
  if (!isDocumented(status) || leadsTo('ACTIVE', status)) return true;
  throw new CliError('wrongState', `${name} is ${status}, so its job has ended.`, {
    resource: id,
  });
}
