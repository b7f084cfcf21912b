import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, doubt, isInterrupt, unforeseen, usageError } from '../errors.ts';
import { readEnforcement } from '../instances/deadlines/armed.ts';
import { deadlineField } from '../instances/deadlines/deadline.ts';
import { endOne } from '../instances/ending.ts';
import { OverMaxPrice, rentWithin } from '../instances/max-price.ts';
import { ownJournal } from '../instances/pending.ts';
import { nothingCreated, runPreflight } from '../instances/preflight.ts';
import { type Gates, obtain } from '../instances/rental/capacity.ts';
import { type Chosen, warnIfDearer } from '../instances/request/hardware.ts';
import { gpucloud } from '../output/shell-line.ts';
import { costAtMost } from './end/cost.ts';
import { runFailed } from './end/end-job.ts';
import type { JobEnd } from './end/report.ts';
import type { JobPlan } from './job.ts';
import { newRecord } from './new-record.ts';
import { namesText } from './phases.ts';
import type { JobRecord } from './record/record.ts';
import { graceFor } from './stops.ts';

export interface Rented {
  readonly record: JobRecord;
  /** The deadline by the service's clock (ISO 8601), if already known. */
  readonly deadline: string | undefined;
}

/** Rents the instance of a job, from the first offer that the service accepts. */
export async function rentFor(plan: JobPlan, context: Context): Promise<Rented> {
  const { instance_name: name } = plan.request;
  await warnIfUnarmed(plan, context);
  const { instance, deadline, grace, started_at } = await rentJob(plan, context);
  const sync = plan.files?.folder ?? null;
  const record = newRecord(plan, { id: instance.id, name, on: false, sync, grace, started_at });
  return { record, deadline };
}

export interface RentedJob extends Pick<JobRecord, 'grace' | 'started_at'> {
  readonly instance: Instance;
  readonly deadline: string;
}

/** Counts the deadline from the request: that may be sent hours after gpucloud started. */
async function rentFrom(offer: Chosen, plan: JobPlan, context: Context): Promise<RentedJob> {
  const body = { ...plan.request, offer_id: offer.id };
  const asked = await runPreflight(context, nothingCreated, () =>
    deadlineField(plan.ends, context),
  );
  const { deadline } = asked;
  if (deadline === undefined) throw usageError('--terminate-after is missing');
  const time = Date.parse(deadline) - context.serviceClock.now();
  const { grace = graceFor(time) } = plan;
  if (grace >= time) throw usageError('--grace must be shorter than the time until the deadline');
  const { instance_name: name, offer_id } = body;
  const request = { operation: 'create', name, offer_id, body, ...asked } as const;
  const started_at = new Date(context.clock.now()).toISOString();
  const instance = await rentWithin(plan.maxPrice, request, context, (api, options) =>
    api.instances.create(body, options),
  );
  warnIfDearer(instance, offer, context);
  return { instance, deadline, grace, started_at };
}

/**
 * Sends the requests of {@link rentFor}. If the wait is interrupted, the job itself terminates the
 * instance.
 */
export async function rentJob(plan: JobPlan, context: Context, gates?: Gates): Promise<RentedJob> {
  const { request, offers, retryFor, how } = plan;
  const { timeout = 0, interval = 0 } = how.wait ?? {};
  let rented: RentedJob | undefined;
  const { instance, early } = await obtain(
    {
      name: request.instance_name,
      offers,
      retryFor,
      // With only one offer, the job itself waits for the instance.
      until: offers.length === 1 && retryFor === undefined ? undefined : 'ACTIVE',
      times: { timeout, interval },
      ...(gates === undefined ? {} : { gates }),
      async rent(offer) {
        rented = await rentFrom(offer, plan, context);
        return rented.instance;
      },
    },
    context,
  );
  if (early !== undefined && !isInterrupt(early)) throw early;
  if (rented === undefined) throw new Error('an instance has a request');
  return { ...rented, instance };
}

/** Only warns, since a run enforces its own deadline. */
export function warnIfUnarmed({ names, ends }: JobPlan, context: Context): Promise<void> {
  return runPreflight(context, nothingCreated, async () => {
    if (ends.unenforced === true) return;
    const journal = await ownJournal(context);
    const account = await journal.account();
    if ((await readEnforcement({ account }, context)).deadline.isArmed) return;
    const its = names.length === 1 ? 'its deadline' : 'their deadlines';
    context.err.warn(
      'deadline_unenforced',
      `If this run is killed, nothing terminates ${namesText(names)} at ${its}. Schedule termination: ${gpucloud('instances', 'reap', '--install')}`,
    );
  });
}

/** Finishes a job without a usable instance. Terminates the instance if it was created. */
export async function endUnusable(
  thrown: unknown,
  { request: { instance_name: name } }: Pick<JobPlan, 'request'>,
  context: Context,
): Promise<JobEnd> {
  const error = thrown instanceof CliError ? thrown : unforeseen(thrown);
  const { message, hint, mayBeBilling, resource: id, httpStatus = 0 } = error;
  const start = {
    command_exit_code: null,
    stage: 'renting',
    fetched: [],
    cost_at_most: null,
  } as const;
  if (error instanceof OverMaxPrice) {
    const { instance } = error;
    const cost_at_most = costAtMost(instance, context.serviceClock.now());
    const rented = { id: instance.id, name };
    return { ...start, instance: rented, terminated: true, cost_at_most, error: runFailed(error) };
  }
  if (!mayBeBilling) return { ...start, instance: null, terminated: false, error };
  // An ID in a refusal may belong to an instance of another request. Without an ID, `resource` is
  // the name.
  const isMade = httpStatus < 400 && id !== name;
  if (!isMade || id === undefined) {
    const unknown = { ...start, instance: { id: null, name }, terminated: 'unknown' } as const;
    if (error.failure === 'outcomeUnknown') return { ...unknown, error };
    return { ...unknown, error: doubt(message, { hint, resource: id, cause: error }) };
  }
  const instance = { id, name };
  const end = await endOne(instance, context);
  if (!end.certain) return { ...start, instance, terminated: 'unknown', error: end.error };
  const cost_at_most = costAtMost(end.instance, context.serviceClock.now());
  return { ...start, instance, terminated: true, cost_at_most, error: runFailed(error) };
}
