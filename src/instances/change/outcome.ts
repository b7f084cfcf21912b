import { sentence } from '../../api/errors.ts';
import { calledBy } from '../../command-line/hints.ts';
import {
  CliError,
  ensureCliError,
  type Failure,
  isInterrupt,
  type LoggedEvent,
  MAY_BILL,
  SeveralErrors,
} from '../../errors.ts';
import { gpucloud, gpucloudLine } from '../../output/shell-line.ts';
import { inSeconds } from '../../output/time.ts';
import { typedName } from '../../rules/names.ts';
import { instanceStatus, mayBill } from '../../rules/statuses.ts';
import type { Target } from '../resolve.ts';

/** The outcome for one instance. */
export interface Changed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly paid_until?: string | null | undefined;
  /** Deadline in service time (ISO 8601). */
  readonly ends_at?: string | undefined;
  /** The idle rule, if one is set. */
  readonly if_idle_seconds?: number;
  readonly rescue?: readonly string[];
}

/** The outcomes for several instances; `failure` combines all failures. */
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

/**
 * Returns one instance's failure with its name instead of throwing, so that the other instances
 * continue.
 */
export async function attempt(
  { id, name }: Target,
  work: () => Promise<Changed>,
): Promise<Changed | CliError> {
  try {
    return await work();
  } catch (error) {
    ensureCliError(error);
    const named = calledBy(typedName(name, id), error);
    const isNamed = error.message.includes(id) || error.message.includes(name);
    return isNamed ? named : named.with(`${name}: ${error.message}`, { resource: id });
  }
}

/** States whether an instance with this status bills, just after reading it. */
export function billText(status: string | undefined): string {
  switch (instanceStatus(status).bills) {
    case 'yes':
      return 'It is billing.';
    case 'no':
      return 'It is no longer billing.';
    case 'undocumented':
      return MAY_BILL;
  }
}

/** Failures of the wait only: the instance is not affected. */
const TIME_IS_OVER: readonly Failure[] = ['deadline', 'rateLimited'];

interface EndedWait {
  readonly target: Target;
  /** The status to wait for, or `ssh`. */
  readonly until: string;
  /** The profile from a flag, for the suggested command. */
  readonly profile?: string | undefined;
  /** The status in the response, before the wait. */
  readonly after?: string;
}

/** Adds to a wait's error whether the instance may be billing, and the next command. */
export function withBill(
  error: CliError,
  { target: { id, name, last }, until, after, profile }: EndedWait,
  seen: string | undefined,
  events: readonly LoggedEvent[] = [],
): CliError {
  const status = seen ?? after ?? last;
  const billing = mayBill(status);
  // Marks only the wait as repeatable: repeating the request could rent a second instance.
  const details = { resource: id, retryable: error.retryable && after === undefined };
  const nobody = `Stopped waiting for ${name} (${id}).`;
  const typed = typedName(name, id);
  const interrupted = isInterrupt(error);
  if (!interrupted && error.failure !== 'otherEnd' && !TIME_IS_OVER.includes(error.failure)) {
    // A refused key, for example, stops the wait but not the instance.
    const isNowhere = status === undefined && error.failure === 'notFound';
    if (!billing || isNowhere) return error;
    if (status === undefined) return error.with(error.message, { ...details, mayBeBilling: true });
    return error.with(
      `${sentence(error.message)} ${nobody} ${MAY_BILL} To terminate it: ${gpucloudLine(['instances', 'terminate', typed], profile)}`,
      { ...details, mayBeBilling: true },
    );
  }
  const what = interrupted ? `${error.message} ${nobody}` : `${name} (${id}): ${error.message}`;
  const goesOn =
    (interrupted || error.failure === 'rateLimited') && ['STOPPED', 'TERMINATED'].includes(until)
      ? ' The service is still processing the request.'
      : '';
  const meaning = billing && seen === undefined ? billText(undefined) : billText(status);
  const { retryAfterMs } = error;
  const onceMore =
    retryAfterMs === undefined
      ? ''
      : `in ${inSeconds(retryAfterMs)}, wait again with "${gpucloud('instances', 'wait', typed, '--for', until.toLowerCase())}"; `;
  const end = billing ? `, terminate it with "${gpucloud('instances', 'terminate', typed)}"` : '';
  return error.with(`${what}${goesOn} ${meaning}`, {
    ...details,
    hint: `${onceMore}see it with "${gpucloud('instances', 'get', typed)}"${end}`,
    mayBeBilling: billing,
    events,
  });
}

/**
 * Returns the error if some of several instances failed. Ctrl-C stops all waits at once, so people
 * get one line, with one command that terminates the instances.
 */
function errorOfSeveral(
  errors: readonly [CliError, ...CliError[]],
  targets: readonly Target[],
): CliError {
  const [first, second] = errors;
  if (second === undefined) return first;
  const left = targets.filter(({ id }) => errors.some(({ resource }) => resource === id));
  if (!errors.every(isInterrupt)) return new SeveralErrors(errors);
  const billing = left.flatMap(({ id, name }) =>
    errors.some(({ resource, mayBeBilling }) => resource === id && mayBeBilling)
      ? typedName(name, id)
      : [],
  );
  const names = left.map(({ id, name }) => `${name} (${id})`).join(', ');
  const what = first.cause instanceof Error ? first.cause.message : first.message;
  const meaning =
    billing.length === 0
      ? 'They are no longer billing.'
      : billing.length === left.length
        ? 'They may still be billing.'
        : `May still be billing: ${billing.join(', ')}.`;
  const hint =
    billing.length === 0
      ? `see them with "${gpucloud('instances', 'list', '--all')}"`
      : `see them with "${gpucloud('instances', 'list')}", terminate them with "${gpucloud('instances', 'terminate', ...billing)}"`;
  return new SeveralErrors(
    errors,
    new CliError(first.failure, `${what} Stopped waiting for ${names}. ${meaning}`, { hint }),
  );
}
