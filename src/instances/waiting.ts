import type { Api, Instance } from '../api/index.ts';
import { createGate, type Gate } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, type LoggedEvent, unforeseen } from '../errors.ts';
import { clockTime } from '../output/time.ts';
import { hasSsh } from '../rules/statuses.ts';
import type { WaitTimes } from '../watch/flags.ts';
import { createOutage } from '../watch/outage.ts';
import { answersSsh } from '../watch/ssh.ts';
import { refuseSandbox, sshAddress } from '../watch/ssh-endpoint.ts';
import { LONGEST_WITHIN_MS } from '../watch/transient.ts';
import { type Also, waitForStatus } from '../watch/wait.ts';
import { attempt, type Changed, withBill } from './outcome.ts';
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
  const failed = (error: unknown) => {
    throw error instanceof CliError ? withBill(error, awaited, undefined) : error;
  };
  const api = await context.api().catch(failed);
  const isSsh = until === 'ssh';
  if (isSsh) await refuseSandbox(target, context).catch(failed);
  let last: Instance | undefined;
  const outage = createOutage(clock, {
    lost(fault, retryAfter) {
      const goesOn =
        retryAfter === undefined
          ? 'Waiting goes on.'
          : `It is read again in ${Math.ceil(retryAfter / 1000)} s.`;
      err.warn('retrying', `${target.name} could not be read: ${fault.message} ${goesOn}`);
    },
    over: () => err.note(`${target.name} can be read again: ${last?.status}.`),
  });
  const progress = err.progress(`${target.name}: waiting`);
  let line = target.name;
  const show = (phase: string, elapsed: number) => {
    line = `${target.name}: ${phase} (${Math.round(elapsed / 1000)} s)`;
    // The result shows that it is there.
    if (phase !== until) progress.update(line);
  };
  try {
    const instance = await waitForStatus({
      target: isSsh ? 'ACTIVE' : until,
      read: (timeoutMs) =>
        gate(() => api.instances.get(target.id, { timeoutMs, longestPauseMs: LONGEST_WITHIN_MS })),
      ...(isSsh ? { also: sshOf(awaited, signal) } : {}),
      ...times,
      clock,
      signal,
      ...(after === undefined ? {} : { after }),
      onReading(reading, elapsed) {
        last = reading;
        awaited.onReading?.(reading);
        outage.mended();
        const { status } = reading;
        show(isSsh && hasSsh(status) ? `${status}, waiting for SSH` : status, elapsed);
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
    progress.done(`${line} ✔`);
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
 * An address may come after the status does, and sshd after both. Time does not mend what can be no
 * address (throws CliError 'notUnderstood').
 */
function sshOf({ sshPort }: Awaited, signal: AbortSignal): Also<Instance> {
  return {
    words: 'SSH has not answered',
    before: hasSsh,
    async holds(instance, longest) {
      // An empty address would be this computer.
      if (instance.ip_address == null || instance.ip_address === '') return false;
      const address = sshAddress({ ...instance, ssh_port: instance.ssh_port ?? 22 }, sshPort);
      return answersSsh(address, longest, signal);
    },
  };
}

/** How many log entries are printed with an instance that ended elsewhere. */
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
