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
import { createOutage } from '../watch/outage.ts';
import { answersSsh } from '../watch/ssh.ts';
import { sshAddress } from '../watch/ssh-endpoint.ts';
import { LONGEST_WITHIN_MS } from '../watch/transient.ts';
import { type Also, waitForStatus } from '../watch/wait.ts';
import type { Target } from './resolve.ts';

/** What is waited for. */
export interface Awaited {
  readonly target: Target;
  /** A status of the service, or `ssh`. */
  readonly until: string;
  /** The status in the response before the wait. */
  readonly after?: string;
  /** Replaces the SSH port that the service gives. */
  readonly sshPort?: number | undefined;
  /** Lets a few readings through at a time, if several instances are awaited at once. */
  readonly gate?: Gate;
  /** Gets each reading, so that a wait which ends early leaves the last one. */
  onReading?(instance: Instance): void;
}

/** What became of one instance. */
export interface Changed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly paid_until?: string | null | undefined;
}

/** What became of several; `failure` is that of all that failed. */
export interface Outcome {
  readonly changed: readonly Changed[];
  readonly failure: CliError | undefined;
}

export function outcomeOf(
  each: readonly (Changed | CliError)[],
  targets: readonly Target[],
): Outcome {
  const [first, ...others] = each.filter((one) => one instanceof CliError);
  return {
    changed: each.filter((one): one is Changed => !(one instanceof CliError)),
    failure: first === undefined ? undefined : errorOfSeveral([first, ...others], targets),
  };
}

/** Returns the failure of one instance, with its name, so that it does not stop the others. */
export async function attempt(
  { id, name }: Target,
  work: () => Promise<Changed>,
): Promise<Changed | CliError> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const isNamed = error.message.includes(id) || error.message.includes(name);
    return isNamed ? error : error.with(`${name}: ${error.message}`, { resource: id });
  }
}

/** As many readings at once as is polite to a service whose rate limits are not documented. */
const READINGS_AT_ONCE = 8;

/**
 * Waits for several instances at once, each under its own deadline. What failed before is passed on.
 */
export function waitForEach(
  each: readonly ((Target & { readonly status?: string }) | CliError)[],
  until: string,
  times: WaitTimes,
  context: Context,
): Promise<(Changed | CliError)[]> {
  const gate = createGate(READINGS_AT_ONCE);
  return Promise.all(
    each.map((one) => {
      if (one instanceof CliError) return one;
      const { status: after, ...target } = one;
      const awaited = { target, until, gate, ...(after === undefined ? {} : { after }) };
      return attempt(target, async () => {
        const { name, status, paid_until } = await waitFor(awaited, times, context);
        return { id: target.id, name: name ?? target.name, status, paid_until };
      });
    }),
  );
}

/**
 * Waits for an instance with a line of progress that shows its phases, and returns its last reading.
 * Every way in which the wait can end early says what that means for the bill.
 */
export async function waitFor(
  awaited: Awaited,
  times: WaitTimes,
  context: Context,
): Promise<Instance> {
  const { target, until, after, gate = createGate(1) } = awaited;
  const { err, clock, signal } = context;
  const api = await context.api().catch((error: unknown) => {
    throw error instanceof CliError ? withBill(error, awaited, undefined) : error;
  });
  let last: Instance | undefined;
  const outage = createOutage(clock, {
    lost(fault, asked) {
      const goesOn =
        asked === undefined
          ? 'Waiting goes on.'
          : `It is read again in ${Math.ceil(asked / 1000)} s.`;
      err.warn(`${target.name} could not be read: ${fault.message} ${goesOn}`);
    },
    over: () => err.note(`${target.name} can be read again: ${last?.status}.`),
  });
  const progress = err.progress(`${target.name}: waiting`);
  let line = target.name;
  const show = (phase: string, elapsed: number) => {
    line = `${target.name}: ${phase} (${Math.round(elapsed / 1000)} s)`;
    progress.update(line);
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
      onReading(reading, elapsed) {
        last = reading;
        awaited.onReading?.(reading);
        outage.mended();
        const { status } = reading;
        show(until === 'ssh' && hasSsh(status) ? `${status}, waiting for SSH` : status, elapsed);
      },
      onFault(fault, elapsed, pause) {
        const isAsked = fault.retryAfterMs !== undefined;
        outage.failed(fault, isAsked ? pause : undefined);
        const again = isAsked
          ? `reading again at ${clockTime(clock.now() + pause)}`
          : 'trying again';
        show(`could not be read; ${again}`, elapsed);
      },
    });
    // Beside others that go on, the line of this one stays.
    progress.update(`${line} ✔`);
    return instance;
  } catch (thrown) {
    // A fault of our own ends the wait as well, and nothing else.
    const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
    const events = error.failure === 'otherEnd' ? await lastEvents(target.id, api) : [];
    throw withBill(error, awaited, last?.status, events);
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

/** The wait is over; the service said nothing about this instance. */
const TIME_IS_OVER: readonly Failure[] = ['deadline', 'rateLimited'];

/** Says what the early end of a wait means for the instance and the bill. */
export function withBill(
  error: CliError,
  { target: { id, name }, until, after }: Pick<Awaited, 'target' | 'until' | 'after'>,
  seen: string | undefined,
  events: readonly LoggedEvent[] = [],
): CliError {
  const status = seen ?? after;
  const billing = mayBill(status);
  // What was asked for before the wait, such as another instance, may not be asked for twice.
  const details = { resource: id, retryable: error.retryable && after === undefined };
  const nobody = `Nobody waits for ${name} (${id}) any more.`;
  const interrupted = isInterrupt(error);
  if (!interrupted && error.failure !== 'otherEnd' && !TIME_IS_OVER.includes(error.failure)) {
    // A refused key, say, ends the wait and not the instance. Of one that was never seen, nothing is known.
    if (status === undefined || !billing || error.failure === 'notFound') return error;
    return error.with(
      `${sentence(error.message)} ${nobody} Count it as still billing. To end it: gpucloud instances terminate ${id}`,
      { ...details, mayBeBilling: true },
    );
  }
  const what = interrupted ? `${error.message} ${nobody}` : `${name} (${id}): ${error.message}`;
  const goesOn =
    (interrupted || error.failure === 'rateLimited') && ['STOPPED', 'TERMINATED'].includes(until)
      ? ' What was asked for goes on at the service.'
      : '';
  const meaning = billing ? 'Count it as still billing.' : 'It is not billing any more.';
  const { retryAfterMs } = error;
  const onceMore =
    retryAfterMs === undefined
      ? ''
      : `in ${Math.ceil(retryAfterMs / 1000)} s, wait on with "gpucloud instances wait ${id} --for ${until.toLowerCase()}"; `;
  const end = billing ? `, end it with "gpucloud instances terminate ${id}"` : '';
  return error.with(`${what}${goesOn} ${meaning}`, {
    ...details,
    hint: `${onceMore}see it with "gpucloud instances get ${id}"${end}`,
    mayBeBilling: billing,
    events,
  });
}

/**
 * What to throw when some of several instances failed. Ctrl-C ends all waits at once: a person gets
 * one line, and one command that ends the instances.
 */
export function errorOfSeveral(
  errors: readonly [CliError, ...CliError[]],
  targets: readonly Target[],
): CliError {
  const [first, second] = errors;
  if (second === undefined) return first;
  const left = targets.filter(({ id }) => errors.some(({ resource }) => resource === id));
  if (!errors.every(isInterrupt) || left.length !== errors.length) return new SeveralErrors(errors);
  const billing = errors.flatMap(({ resource, mayBeBilling }) =>
    mayBeBilling ? (resource ?? []) : [],
  );
  const names = left.map(({ id, name }) => `${name} (${id})`).join(', ');
  const what = first.cause instanceof Error ? first.cause.message : first.message;
  const meaning =
    billing.length === 0
      ? 'They are not billing any more.'
      : billing.length === left.length
        ? 'Count them as still billing.'
        : `Count as still billing: ${billing.join(', ')}.`;
  const hint =
    billing.length === 0
      ? 'see them with "gpucloud instances list --all"'
      : `see them with "gpucloud instances list", end them with "gpucloud instances terminate ${billing.join(' ')}"`;
  return new SeveralErrors(
    errors,
    new CliError(first.failure, `${what} Nobody waits for ${names} any more. ${meaning}`, { hint }),
  );
}
