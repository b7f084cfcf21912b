import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError, ensureCliError } from '../../errors.ts';
import { BRIEFLY, readInstance } from '../../instances/read.ts';
import type { Target } from '../../instances/resolve.ts';
import { failureReason } from '../../output/mask.ts';
import { isDocumented, leadsTo } from '../../rules/statuses.ts';
import type { Job } from '../job.ts';
import type { Received } from '../received.ts';
import { note } from '../record/note.ts';
import { ensureSameHost, scriptFailed } from '../remote/failed-ssh.ts';
import { follow } from '../remote/follow.ts';
import type { CommandEnd } from '../remote/frames.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { INTERRUPT } from '../remote/supervisor.ts';

/**
 * Receives the command's output until the command exits or the signal aborts. Returns the exit code,
 * or undefined without one. Throws Ended if the instance has ended.
 */
export async function followToEnd(
  job: Job,
  shell: RemoteShell,
  received: Received,
  signal: AbortSignal,
  context: Context,
): Promise<number | undefined> {
  const { record, phases } = job;
  const { clock, err, interrupts } = context;
  const { name } = record;
  /** Starts a new line for a message of gpucloud. */
  const begin = (isEchoed = false) => {
    phases.clear();
    received.output.endLine(isEchoed);
  };
  try {
    const end = await follow({
      shell,
      offsets: received.offsets,
      clock,
      signal,
      print: (from, bytes) => received.receive(from, bytes, signal),
      onCut: async ({ reason, isFirst, isNew }) => {
        ensureSameHost(reason, record);
        await ensureRunning(record, context, isFirst);
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
    received.isWhole = true;
    await noteOutputEnd(job, end, context);
    return end.exitCode;
  } finally {
    await received.settle();
    begin(interrupts.first.aborted && signal.aborted);
  }
}

/** Stores how long the command ran and how it used the cards, and warns of a full disk. */
export async function noteOutputEnd(
  job: Job,
  { gpu, took, isDiskFull }: Omit<CommandEnd, 'exitCode'>,
  context: Context,
): Promise<void> {
  await note(job, { ...(gpu && { gpu }), ...(took && { took }) }, context);
  if (isDiskFull !== true) return;
  // The command itself had the failed writes, so nobody knows how many bytes are missing.
  job.isOutputWhole = false;
  const { name } = job.record;
  context.err.warn(
    'incomplete',
    `The disk of ${name} is full: the end of the command's output may be missing.`,
  );
}

/** Throws a CliError; after a cut connection, it is retryable. */
export async function interruptCommand(shell: RemoteShell, signal: AbortSignal): Promise<void> {
  const printed = await shell.run(INTERRUPT, signal);
  if (printed.code !== 0) throw scriptFailed('Could not interrupt the command', printed);
}

/** The instance of a job has ended, or can't respond over SSH. */
export class Ended extends CliError {
  /** Whether the instance is TERMINATING or TERMINATED. */
  readonly isOver: boolean;

  constructor({ id, name }: Target, instance: Instance) {
    const { status } = instance;
    const reason = failureReason(instance);
    const why = reason === undefined ? '' : ` (${reason})`;
    super('wrongState', `${name} is ${status}${why}, so its job has ended.`, { resource: id });
    this.isOver = leadsTo('TERMINATED', status);
  }
}

/**
 * Throws Ended if the instance can't respond again, since no further connection can succeed. An
 * instance in ERROR may still respond once more (`isFirst`). Returns whether the service responded.
 */
export async function ensureRunning(
  { id, name }: Target,
  context: Context,
  isFirst = false,
): Promise<boolean> {
  const instance = await instanceNow(id, context);
  if (instance === undefined) return false;
  const { status } = instance;
  if (!isDocumented(status) || leadsTo('ACTIVE', status)) return true;
  if (status === 'ERROR' && isFirst) return true;
  throw new Ended({ id, name }, instance);
}

/** Returns undefined if nothing was read. A refused key must not end a job that SSH still reaches. */
export async function instanceNow(id: string, context: Context): Promise<Instance | undefined> {
  try {
    const reading = await readInstance(id, await context.api(), BRIEFLY);
    return reading.kind === 'there' ? reading.instance : undefined;
  } catch (error) {
    ensureCliError(error);
    return undefined;
  }
}
