import type { Instance } from '../../api/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { positiveDuration } from '../../rules/durations.ts';
import { answersSsh } from '../../watch/ssh.ts';
import { waitForStatus } from '../../watch/wait.ts';
import { Option } from '../kit/command.ts';
import { ofWords, oneOf, ruled } from '../kit/parse.ts';
import type { Target } from './resolve.ts';
import { keepSighting, sightingOf } from './sighting.ts';

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
  const progress = context.err.progress(`${target.name}: waiting`);
  try {
    const instance = await waitForStatus({
      target: until === 'ssh' ? 'ACTIVE' : until,
      read: () => api.instances.get(target.id),
      ...times,
      clock: context.clock,
      signal: context.signal,
      ...(after === undefined ? {} : { after }),
      onReading: (machine, elapsed) =>
        progress.update(`${target.name}: ${machine.status} (${Math.round(elapsed / 1000)} s)`),
      onFault: (fault) => progress.update(`${target.name}: ${fault.message}; trying again`),
    });
    if (until === 'ssh') {
      progress.update(`${target.name}: waiting for SSH`);
      await waitForSsh(instance, times, context);
    }
    await keepSighting(sightingOf(instance), context);
    return instance;
  } catch (error) {
    throw error instanceof CliError ? withBill(error, awaited) : error;
  } finally {
    progress.done();
  }
}

async function waitForSsh(instance: Instance, times: WaitTimes, context: Context): Promise<void> {
  const { ip_address: host, ssh_port: port } = instance;
  if (host == null) {
    throw new CliError(
      'notUnderstood',
      'The machine is ACTIVE but the service gave no address for it.',
      {
        resource: instance.id,
      },
    );
  }
  const deadline = context.clock.now() + times.timeout;
  while (!(await answersSsh(host, port ?? 22, context.signal))) {
    if (context.clock.now() + times.interval > deadline) {
      throw new CliError(
        'deadline',
        `SSH at ${host} has not answered in time; the machine is ACTIVE.`,
        {
          retryable: true,
          resource: instance.id,
        },
      );
    }
    await context.clock.sleep(times.interval, context.signal);
  }
}

/** Whether the machine costs money for as long as the wait is not over. */
function billsMeanwhile(until: string): boolean {
  return until !== 'TERMINATED' && until !== 'STOPPED';
}

function withBill(error: CliError, { target, until }: Awaited): CliError {
  const interrupted = ['interrupted', 'terminated', 'hungUp'].includes(error.failure);
  if (!interrupted && error.failure !== 'deadline' && error.failure !== 'otherEnd') {
    return error;
  }
  const what = interrupted
    ? `${error.message} Nobody waits for ${target.name} (${target.id}) any more`
    : `${target.name} (${target.id}): ${error.message}`;
  const billing = billsMeanwhile(until) || error.failure !== 'interrupted';
  return new CliError(
    error.failure,
    billing
      ? `${what} It may still be billing.`
      : `${what}; what was asked for goes on at the service.`,
    {
      hint: `see it with "gpucloud instances get ${target.id}", end it with "gpucloud instances terminate ${target.id}"`,
      resource: target.id,
      retryable: error.retryable,
      mayBeBilling: billing,
      cause: error,
    },
  );
}

/** The status that a `--wait` flag of a starting machine means; undefined without the flag. */
export function statusFor(wait: Started | true | undefined): string | undefined {
  if (wait === undefined) {
    return undefined;
  }
  return wait === 'ssh' ? 'ssh' : 'ACTIVE';
}
