import { sentence } from '../api/calls/errors.ts';
import type { Api, Instance } from '../api/index.ts';
import { createGate, type Gate } from '../bounded.ts';
import type { Context } from '../context.ts';
import {
  CliError,
  type Failure,
  isInterrupt,
  type LoggedEvent,
  SeveralErrors,
  unforeseen,
} from '../errors.ts';
import { clockTime } from '../output/time.ts';
import { hasSsh, mayBill } from '../rules/statuses.ts';
import type { WaitTimes } from '../watch/flags.ts';
import { answersSsh } from '../watch/ssh.ts';
import { sshAddress } from '../watch/ssh-endpoint.ts';
import { LONGEST_WITHIN_MS } from '../watch/transient.ts';
import { type Also, waitForStatus } from '../watch/wait.ts';
import type { Target } from './resolve.ts';

export interface Awaited {
  readonly target: Target;
  /** A status of the service, or `ssh`. */
  readonly until: string;
  /** The status that the answer before the wait told. */
  readonly after?: string;
  /** Where SSH is to answer, in the place of the port that the service tells. */
  readonly sshPort?: number | undefined;
  /** Lets a few readings through at a time, where several machines are awaited at once. */
  readonly gate?: Gate;
  /** Gets each reading, so that a wait which ends early leaves the last one. */
  onReading?(machine: Instance): void;
}

/** As many readings at once as is polite to a service whose rate limits are not documented. */
const READINGS_AT_ONCE = 8;

/** For several machines that are awaited at once, each under its own deadline. */
export function politely(): Gate {
  return createGate(READINGS_AT_ONCE);
}

/**
 * Waits for a machine with a line of progress that tells its phases, and answers its last reading.
 * Every way in which the wait can end early says what that means for the bill.
 */
export async function waitFor(
  awaited: Awaited,
  times: WaitTimes,
  context: Context,
): Promise<Instance> {
  const { target, until, after, gate = politely() } = awaited;
  const { err, clock, signal } = context;
  const api = await context.api().catch((error: unknown) => {
    throw error instanceof CliError ? withBill(error, awaited, undefined) : error;
  });
  let last: Instance | undefined;
  let failing = false;
  let asked = false;
  const progress = err.progress(`${target.name}: waiting`);
  let told = target.name;
  const tell = (words: string, elapsed: number) => {
    told = `${target.name}: ${words} (${Math.round(elapsed / 1000)} s)`;
    progress.update(told);
  };
  try {
    const instance = await waitForStatus({
      target: until === 'ssh' ? 'ACTIVE' : until,
      read: (timeoutMs) =>
        gate(() => api.instances.get(target.id, { timeoutMs, longestPauseMs: LONGEST_WITHIN_MS })),
      ...(until === 'ssh' ? { also: sshOf(awaited, signal) } : {}),
      ...times,
      clock,
      signal,
      ...(after === undefined ? {} : { after }),
      onReading(machine, elapsed) {
        last = machine;
        awaited.onReading?.(machine);
        if (failing) err.note(`${target.name} can be read again: ${machine.status}.`);
        failing = false;
        asked = false;
        const isNear = until === 'ssh' && hasSsh(machine.status);
        tell(isNear ? `${machine.status}, waiting for SSH` : machine.status, elapsed);
      },
      onFault(fault, elapsed, pause) {
        const asks = fault.retryAfterMs !== undefined;
        // In the log of a script as well: a silent outage looks like a machine that takes its time.
        if (!failing || (asks && !asked)) {
          const goesOn = asks
            ? `It is read again in ${Math.ceil(pause / 1000)} s.`
            : 'Waiting goes on.';
          err.warn(`${target.name} could not be read: ${fault.message} ${goesOn}`);
        }
        failing = true;
        asked ||= asks;
        const again = asks ? `reading again at ${clockTime(clock.now() + pause)}` : 'trying again';
        tell(`could not be read; ${again}`, elapsed);
      },
    });
    // Beside others that go on, the line of this one stays.
    progress.update(`${told} ✔`);
    return instance;
  } catch (thrown) {
    // A fault of our own ends the wait as well, and nothing else.
    const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
    if (error.failure !== 'otherEnd') throw withBill(error, awaited, last?.status);
    throw withBill(error, awaited, last?.status, await lastEvents(target.id, api));
  } finally {
    progress.done();
  }
}

/**
 * An address may come after the status does, and sshd after both. What can be no address is no
 * matter of time: it throws CliError('notUnderstood').
 */
function sshOf({ sshPort }: Awaited, signal: AbortSignal): Also<Instance> {
  return {
    words: 'SSH has not answered',
    before: hasSsh,
    // An empty address would be this computer.
    holds: async (machine, longest) =>
      machine.ip_address != null &&
      machine.ip_address !== '' &&
      (await answersSsh(
        sshAddress({ ...machine, ssh_port: machine.ssh_port ?? 22 }, sshPort),
        longest,
        signal,
      )),
  };
}

/** How much of the log is told with a machine that ended elsewhere. */
const LAST_EVENTS = 5;
/** The log is a help, not the news: nobody waits long for it. */
const LOG_PATIENCE_MS = 5_000;

/** Oldest first; none where the log can't be had. */
async function lastEvents(id: string, api: Api): Promise<LoggedEvent[]> {
  try {
    const page = await api.instances.events(
      id,
      { limit: LAST_EVENTS },
      { timeoutMs: LOG_PATIENCE_MS },
    );
    return page.data
      .slice(0, LAST_EVENTS)
      .reverse()
      .map(({ created_at, type, message }) => ({
        created_at: String(created_at ?? ''),
        type: String(type ?? ''),
        message: String(message ?? ''),
      }));
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}

/** What the time of the wait has ended, and not a word of the service about this machine. */
const TIMES_OVER: readonly Failure[] = ['deadline', 'rateLimited'];

/** Says what the early end of a wait means for the machine and the bill. */
export function withBill(
  error: CliError,
  { target, until, after }: Pick<Awaited, 'target' | 'until' | 'after'>,
  seen: string | undefined,
  events: readonly LoggedEvent[] = [],
): CliError {
  const interrupted = isInterrupt(error);
  const { id, name } = target;
  const status = seen ?? after;
  const billing = mayBill(status);
  const timesOver = TIMES_OVER.includes(error.failure);
  if (!interrupted && !timesOver && error.failure !== 'otherEnd') {
    // Of a machine that was never seen, nothing is known.
    const isThere = status !== undefined && billing && error.failure !== 'notFound';
    return isThere ? leftBilling(error, target, after === undefined) : error;
  }
  const what = interrupted
    ? `${error.message} Nobody waits for ${name} (${id}) any more.`
    : `${name} (${id}): ${error.message}`;
  const meaning = billing ? 'Count it as still billing.' : 'It is not billing any more.';
  const goesOn =
    (interrupted || error.failure === 'rateLimited') &&
    (until === 'STOPPED' || until === 'TERMINATED')
      ? ' What was asked for goes on at the service.'
      : '';
  const next = billing
    ? `see it with "gpucloud instances get ${id}", end it with "gpucloud instances terminate ${id}"`
    : `see it with "gpucloud instances get ${id}"`;
  const { retryAfterMs } = error;
  const onceMore =
    retryAfterMs === undefined
      ? ''
      : `in ${Math.ceil(retryAfterMs / 1000)} s, wait on with "gpucloud instances wait ${id} --for ${until.toLowerCase()}"; `;
  return error.with(`${what}${goesOn} ${meaning}`, {
    hint: `${onceMore}${next}`,
    resource: id,
    // What was asked for before the wait, such as another machine, may not be asked for twice.
    retryable: error.retryable && after === undefined,
    mayBeBilling: billing,
    events,
  });
}

/** A refused key, say, ends the wait, and not the machine. The hint is what helps against it. */
function leftBilling(error: CliError, { id, name }: Target, isWaitAlone: boolean): CliError {
  return error.with(
    `${sentence(error.message)} Nobody waits for ${name} (${id}) any more. Count it as still billing. To end it: gpucloud instances terminate ${id}`,
    { resource: id, retryable: error.retryable && isWaitAlone, mayBeBilling: true },
  );
}

/**
 * What to throw when some of several machines failed. Ctrl-C ends all waits at once: a person gets
 * one line, and one command that ends the machines.
 */
export function errorOfSeveral(
  errors: readonly [CliError, ...CliError[]],
  targets: readonly Target[],
): CliError {
  const [first, second] = errors;
  if (second === undefined) return first;
  const left = targets.filter(({ id }) => errors.some(({ resource }) => resource === id));
  if (!errors.every(isInterrupt) || left.length !== errors.length) return new SeveralErrors(errors);
  const isBilling = ({ id }: Target) =>
    errors.some(({ resource, mayBeBilling }) => resource === id && mayBeBilling);
  const billing = left.filter(isBilling).map(({ id }) => id);
  const names = left.map(({ id, name }) => `${name} (${id})`).join(', ');
  const what = first.cause instanceof Error ? first.cause.message : first.message;
  const meaning =
    billing.length === 0
      ? 'They are not billing any more.'
      : billing.length === left.length
        ? 'Count them as still billing.'
        : `Count as still billing: ${billing.join(', ')}.`;
  return new SeveralErrors(
    errors,
    new CliError(first.failure, `${what} Nobody waits for ${names} any more. ${meaning}`, {
      hint:
        billing.length === 0
          ? 'see them with "gpucloud instances list --all"'
          : `see them with "gpucloud instances list", end them with "gpucloud instances terminate ${billing.join(' ')}"`,
    }),
  );
}
