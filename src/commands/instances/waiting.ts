import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { positiveDuration } from '../../rules/durations.ts';
import { answersSsh } from '../../watch/ssh.ts';
import { waitForStatus } from '../../watch/wait.ts';
import { Option } from '../kit/command.ts';
import { ofWords, oneOf, ruled } from '../kit/parse.ts';
import { keepSighting, sightingOf } from '../kit/sighting.ts';
import type { Target } from './resolve.ts';

/** How long a wait goes on, in milliseconds. */
export interface WaitTimes {
  readonly timeout: number;
  readonly interval: number;
}

export const DEFAULT_WAIT: WaitTimes = { timeout: 15 * 60_000, interval: 2_000 };

/** What a machine that starts can be waited for: the status, or an answer of its SSH server. */
export const STARTED = ['active', 'ssh'] as const;
export type Started = (typeof STARTED)[number];

/** `--wait[=active|ssh]`; bare `--wait` arrives as an empty value. */
export function waitStartedOption() {
  return new Option(
    '--wait [target]',
    'wait until the machine is active (--wait=ssh: until SSH answers)',
  ).argParser(
    ofWords(STARTED, (text: string) => oneOf('--wait', STARTED)(text === '' ? 'active' : text)),
  );
}

export function waitTimeoutOption() {
  return new Option('--wait-timeout <duration>', 'how long --wait waits')
    .default(DEFAULT_WAIT.timeout, '15m')
    .argParser(ruled('--wait-timeout', positiveDuration));
}

export function pollIntervalOption() {
  return new Option('--poll-interval <duration>', 'the time between two readings')
    .default(DEFAULT_WAIT.interval, '2s')
    .argParser(ruled('--poll-interval', positiveDuration));
}

export interface Awaited {
  readonly target: Target;
  /** A status of the service, or `ssh`. */
  readonly until: string;
  /** The status that the answer before the wait told. */
  readonly after?: string;
  /** Gets each reading, so that a wait which ends early leaves the last one. */
  onReading?(machine: Instance): void;
}

/**
 * Waits for a machine with a spinner that tells its phases, and answers its last reading.
 * Every way in which the wait can end early says what that means for the bill.
 */
export async function waitFor(
  awaited: Awaited,
  times: WaitTimes,
  context: Context,
): Promise<Instance> {
  const { target, until, after } = awaited;
  const api = await context.api();
  const deadline = context.clock.now() + times.timeout;
  let last: Instance | undefined;
  const progress = context.err.progress(`${target.name}: waiting`);
  try {
    const instance = await waitForStatus({
      target: until === 'ssh' ? 'ACTIVE' : until,
      read: () => api.instances.get(target.id),
      ...times,
      clock: context.clock,
      signal: context.signal,
      ...(after === undefined ? {} : { after }),
      onReading(machine, elapsed) {
        last = machine;
        awaited.onReading?.(machine);
        progress.update(`${target.name}: ${machine.status} (${Math.round(elapsed / 1000)} s)`);
      },
      onFault: (fault) => progress.update(`${target.name}: ${fault.message}; trying again`),
    });
    if (until === 'ssh') {
      progress.update(`${target.name}: waiting for SSH`);
      await waitForSsh(instance, deadline, times.interval, context);
    }
    await keepSighting(sightingOf(instance), context);
    return instance;
  } catch (error) {
    throw error instanceof CliError ? withBill(error, awaited, last?.status) : error;
  } finally {
    progress.done();
  }
}

/** `deadline` is that of the whole wait: the time until ACTIVE counts. */
async function waitForSsh(
  instance: Instance,
  deadline: number,
  interval: number,
  { clock, signal }: Context,
): Promise<void> {
  const { ip_address: host, ssh_port: port } = instance;
  if (host == null) {
    throw new CliError(
      'notUnderstood',
      'The machine is ACTIVE but the service gave no address for it.',
      { resource: instance.id },
    );
  }
  while (!(await answersSsh(host, port ?? 22, signal))) {
    const left = deadline - clock.now();
    if (left <= 0) {
      throw new CliError(
        'deadline',
        `SSH at ${host} has not answered in time; the machine is ACTIVE.`,
        { retryable: true, resource: instance.id },
      );
    }
    await clock.sleep(Math.min(interval, left), signal);
  }
}

/** Statuses after which a machine costs nothing more (API document: terminate, "billing stops"). */
const PAID_OFF: readonly string[] = ['TERMINATING', 'TERMINATED'];

/** Says what the early end of a wait means for the machine and the bill. */
function withBill(error: CliError, { target, until, after }: Awaited, seen?: string): CliError {
  const interrupted = ['interrupted', 'terminated', 'hungUp'].includes(error.failure);
  if (!interrupted && error.failure !== 'deadline' && error.failure !== 'otherEnd') {
    return error;
  }
  const { id, name } = target;
  const status = seen ?? after;
  const billing = status === undefined || !PAID_OFF.includes(status);
  const what = interrupted
    ? `${error.message} Nobody waits for ${name} (${id}) any more.`
    : `${name} (${id}): ${error.message}`;
  const meaning = billing ? 'It may still be billing.' : 'It is not billing any more.';
  const goesOn =
    interrupted && (until === 'STOPPED' || until === 'TERMINATED')
      ? ' What was asked for goes on at the service.'
      : '';
  return new CliError(error.failure, `${what}${goesOn} ${meaning}`, {
    hint:
      billing && until !== 'TERMINATED'
        ? `see it with "gpucloud instances get ${id}", end it with "gpucloud instances terminate ${id}"`
        : `see it with "gpucloud instances get ${id}"`,
    resource: id,
    retryable: error.retryable,
    mayBeBilling: billing,
    cause: error,
  });
}

/** The status that a `--wait` flag of a starting machine means; undefined without the flag. */
export function statusFor(wait: Started | true | undefined): string | undefined {
  if (wait === undefined) {
    return undefined;
  }
  return wait === 'ssh' ? 'ssh' : 'ACTIVE';
}
