import type { Api, Instance } from '../api/index.ts';
import { createGate, type Gate, READS_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { asCliError, CliError, ensureCliError, type LoggedEvent } from '../errors.ts';
import { mask } from '../output/mask.ts';
import { clockTime, inSeconds } from '../output/time.ts';
import { SECRETS } from '../rules/secrets.ts';
import { hasSsh } from '../rules/statuses.ts';
import type { WaitTimes } from '../watch/flags.ts';
import { answersSsh, isSandbox, STANDARD_PORT, sshAddress } from '../watch/ssh-endpoint.ts';
import { createOutage, LONGEST_WITHIN_MS } from '../watch/transient.ts';
import { type Also, waitForStatus } from '../watch/wait.ts';
import { attempt, type Changed, withBill } from './change/outcome.ts';
import { instanceIn, readInstance } from './read.ts';
import type { Target } from './resolve.ts';

/** An instance to wait for. */
export interface Awaited {
  readonly target: Target;
  /** A status of the service, or `ssh`. */
  readonly until: string;
  /** Instance status before the wait, such as the status that `create` returned. */
  readonly after?: string;
  /** Overrides the service's SSH port. */
  readonly sshPort?: number | undefined;
  /** Stops the wait; defaults to the first interrupt. */
  readonly signal?: AbortSignal;
  /** Limits concurrent reads while waiting for several instances. */
  readonly gate?: Gate;
  /** Receives each read, so that the caller has the last one if the wait stops early. */
  onReading?(instance: Instance): void;
}

/**
 * Waits for several instances in parallel, each with its own deadline. Returns earlier failures
 * unchanged.
 */
export function waitForEach(
  each: readonly ((Target & { readonly status?: string }) | CliError)[],
  until: string,
  times: WaitTimes,
  context: Context,
): Promise<(Changed | CliError)[]> {
  const gate = createGate(READS_AT_ONCE);
  return Promise.all(
    each.map((one) => {
      if (one instanceof CliError) return one;
      const { status: after, ...target } = one;
      const awaited = { target, until, gate, ...(after === undefined ? {} : { after }) };
      return attempt(target, async () => {
        const { name, status, paid_until } = await waitFor(awaited, times, context);
        const { id, ends_at } = target;
        return { id, name: name ?? target.name, status, paid_until, ends_at };
      });
    }),
  );
}

/**
 * Waits for an instance with a progress line, and returns the last read. If the wait stops early,
 * the error explains the billing.
 */
export async function waitFor(
  awaited: Awaited,
  times: WaitTimes,
  context: Context,
): Promise<Instance> {
  const { err, clock } = context;
  const { target, until, after, signal = context.signal, gate = createGate(1) } = awaited;
  const ended = { ...awaited, profile: context.flags.profile };
  const failed = (error: unknown) => {
    throw withBill(asCliError(error), ended, undefined);
  };
  const api = await context.api().catch(failed);
  const isSsh = until === 'ssh';
  let last: Instance | undefined;
  const outage = createOutage(clock, {
    lost(fault, retryAfter) {
      const goesOn =
        retryAfter === undefined ? 'Still waiting.' : `Trying again in ${inSeconds(retryAfter)}.`;
      err.warn('retrying', `Could not read ${target.name}: ${fault.message} ${goesOn}`);
    },
    over: () => err.note(`${target.name} is readable again: ${last?.status}.`),
  });
  const progress = err.progress(`${target.name}: waiting`);
  let line = target.name;
  const show = (phase: string, elapsed: number) => {
    line = `${target.name}: ${phase} (${Math.round(elapsed / 1000)} s)`;
    // Skips the last phase, since the command's result shows it.
    if (phase !== until) progress.update(line);
  };
  try {
    const instance = await waitForStatus({
      target: isSsh ? 'ACTIVE' : until,
      read: (timeoutMs) =>
        gate(async () =>
          instanceIn(
            await readInstance(target.id, api, { timeoutMs, longestPauseMs: LONGEST_WITHIN_MS }),
          ),
        ),
      ...(isSsh ? { also: sshOf(awaited, signal, context) } : {}),
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
        const isRequested = fault.retryAfterMs !== undefined;
        outage.failed(fault, isRequested ? pause : undefined);
        const again = isRequested
          ? `trying again at ${clockTime(clock.now() + pause)}`
          : 'trying again';
        show(`read failed; ${again}`, elapsed);
      },
    });
    progress.done(`${line} ✔`);
    return instance;
  } catch (thrown) {
    // Service faults are CliErrors, so anything else is a bug.
    const error = asCliError(thrown);
    const events = error.failure === 'otherEnd' ? await lastEvents(target.id, api) : [];
    throw withBill(error, ended, last?.status, events);
  } finally {
    progress.done();
  }
}

/**
 * Waits for SSH: the address may appear after the status, and sshd may start after both. Throws
 * CliError 'notUnderstood' for an invalid address, since it never becomes valid.
 */
function sshOf({ sshPort }: Awaited, signal: AbortSignal, context: Context): Also<Instance> {
  return {
    text: 'SSH did not respond',
    before: hasSsh,
    async holds(instance, longest) {
      // Rejects an empty address, since it would mean this computer.
      if (instance.ip_address == null || instance.ip_address === '') return false;
      // In the sandbox, each connection starts its own server.
      if (await isSandbox(context)) return true;
      const ssh_port = instance.ssh_port ?? STANDARD_PORT;
      const address = sshAddress({ ...instance, ssh_port }, sshPort);
      return answersSsh(address, longest, signal);
    },
  };
}

/** Log entries to print for an instance that reached another final status. */
const LAST_EVENTS = 5;
/** Milliseconds. Short, since the log only adds details. */
const LOG_TIMEOUT_MS = 5_000;

/** Returns the last log entries, oldest first; empty if the log can't be read. */
async function lastEvents(id: string, api: Api): Promise<LoggedEvent[]> {
  try {
    const page = await api.instances.events(
      id,
      { limit: LAST_EVENTS },
      { timeoutMs: LOG_TIMEOUT_MS },
    );
    return page.data
      .slice(0, LAST_EVENTS)
      .reverse()
      .map((event) => mask(event, SECRETS.event, false))
      .map(({ created_at, type, message }) => ({
        created_at: String(created_at ?? ''),
        type: String(type ?? ''),
        message: String(message ?? ''),
      }));
  } catch (error) {
    ensureCliError(error);
    return [];
  }
}
