import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { asCliError, type CliError, doubt, usageError } from '../errors.ts';
import { endOne, hasTriedToEnd } from '../instances/change/ending.ts';
import { armCommand, noteLoop, readEnforcement } from '../instances/deadlines/armed.ts';
import { deadlineField } from '../instances/deadlines/deadline.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import { type Gates, obtain } from '../instances/rent/capacity.ts';
import { type Chosen, warnIfDearer } from '../instances/rent/hardware.ts';
import { OverMaxPrice, rentWithin } from '../instances/rent/max-price.ts';
import { nothingCreated, runPreflight } from '../instances/rent/preflight.ts';
import { minuteText } from '../output/time.ts';
import { isSameName } from '../rules/names.ts';
import { costAtMost } from './end/cost.ts';
import { runFailed } from './end/end-job.ts';
import { costOf } from './end/receipt.ts';
import { type JobEnd, NO_RECEIPT, reportOf } from './end/report.ts';
import type { JobPlan } from './job.ts';
import { namesText } from './phases.ts';
import { ensureGrace, needsReap } from './plan.ts';
import { type Noted, note, timeNow } from './record/note.ts';
import { type RentedRecord, removeJob, stopAsked } from './record/record.ts';
import { createStops, earlyText, graceFor, type Stops } from './stops.ts';

/** A rented instance, whose deadline counts from its request. */
export interface Rented {
  readonly record: RentedRecord;
  readonly instance: Instance;
  /** By the service's clock (ISO 8601). */
  readonly deadline: string;
  readonly stops: Stops;
  /** Why the wait for the instance stopped early. */
  readonly early: CliError | undefined;
}

/**
 * Rents the instance of a job from the first offer that the service accepts. Stores each request
 * before it is sent, and the ID as soon as it is known.
 */
export async function rentFor(
  job: Noted,
  plan: JobPlan,
  context: Context,
  gates?: Gates,
): Promise<Rented> {
  const { request, offers, retryFor, how } = plan;
  const { timeout = 0, interval = 0 } = how.wait ?? {};
  let stops: Stops | undefined;
  let deadline: string | undefined;
  try {
    const { instance, early } = await obtain(
      {
        name: request.instance_name,
        offers,
        retryFor,
        // With only one offer, the job itself waits for the instance.
        until: offers.length === 1 && retryFor === undefined ? undefined : 'ACTIVE',
        times: { timeout, interval },
        ...(gates === undefined ? {} : { gates }),
        signal: () => stops?.any,
        async rent(offer) {
          stops?.close();
          stops = undefined;
          const sent = await rentFrom(offer, job, plan, context);
          deadline = sent.deadline;
          const { id } = sent.instance;
          job.record = { ...job.record, id };
          await note(job, { rented_at: timeNow(context) }, context);
          const isAsked = await stopAsked(job.record.uid, context);
          const { grace } = job.record;
          const triesLast = plan.here === undefined;
          stops = createStops({ id, deadline, grace, leaves: false, triesLast, isAsked }, context);
          return sent.instance;
        },
      },
      context,
    );
    if (stops === undefined || deadline === undefined) throw new Error('an instance has a request');
    // A detached run reports it once the command runs.
    if (!plan.detach) noteDeadline(deadline, job.record.grace, context);
    const record = { ...job.record, id: instance.id };
    return { record, instance, deadline, stops, early };
  } catch (error) {
    stops?.close();
    throw error;
  }
}

function noteDeadline(deadline: string, grace: number, { err }: Context): void {
  const ends = `Deadline: ${minuteText(Date.parse(deadline))}.`;
  const early = earlyText(grace);
  err.note(early === undefined ? ends : `${ends} The command is interrupted ${early}.`);
}

/** Counts the deadline from the request: that may be sent hours after gpucloud started. */
async function rentFrom(offer: Chosen, job: Noted, plan: JobPlan, context: Context) {
  const body = { ...plan.request, offer_id: offer.id };
  const asked = await runPreflight(context, nothingCreated, () =>
    deadlineField(plan.ends, body.instance_name, context),
  );
  const { deadline } = asked;
  if (deadline === undefined) throw usageError('--terminate-after is missing');
  const time = Date.parse(deadline) - context.serviceClock.now();
  const { grace = graceFor(time) } = plan;
  ensureGrace(plan, time);
  const { instance_name: name, offer_id } = body;
  const request = { operation: 'create', name, offer_id, body, ...asked } as const;
  job.record = { ...job.record, id: null };
  await note(job, { grace, requested_at: timeNow(context), rented_at: null }, context);
  const instance = await rentWithin(plan.maxPrice, request, context, (api, options) =>
    api.instances.create(body, options),
  );
  warnIfDearer(instance, offer, context);
  return { instance, deadline };
}

/** Only warns, since a run enforces its own deadline. The plan has checked what only `reap` does. */
export function warnIfUnarmed(plan: JobPlan, context: Context): Promise<void> {
  return runPreflight(context, nothingCreated, async () => {
    const { names, ends } = plan;
    if (ends.unenforced === true || needsReap(plan)) return;
    const journal = await ownJournal(context);
    const account = await journal.account();
    const enforcement = await readEnforcement({ account }, context);
    if (enforcement.deadline.isArmed) return noteLoop(enforcement, context);
    const [its, them] = names.length === 1 ? ['its deadline', 'it'] : ['their deadlines', 'them'];
    context.err.warn(
      'deadline_unenforced',
      `If this run is killed, nothing terminates ${namesText(names)} at ${its}. If its terminal closes, it terminates ${them} without copying files back. To schedule termination: ${await armCommand(context)}`,
    );
  });
}

/** Finishes a job without a usable instance. Terminates the instance if it was created. */
export async function endUnusable(
  thrown: unknown,
  { request: { instance_name: name } }: Pick<JobPlan, 'request'>,
  context: Context,
): Promise<JobEnd> {
  const error = asCliError(thrown);
  const { message, hint, mayBeBilling, resource: id, httpStatus = 0 } = error;
  const start = {
    command_exit_code: null,
    stage: 'renting',
    fetched: [],
    ...NO_RECEIPT,
  } as const;
  if (error instanceof OverMaxPrice) {
    const { instance } = error;
    const cost_at_most = costAtMost(instance, context.serviceClock.now());
    const cost = await costOf(instance, 'run', context);
    const rented = { ...start, instance: { id: instance.id, name }, cost, cost_at_most };
    return { ...rented, terminated: true, error: runFailed(error) };
  }
  if (!mayBeBilling) return { ...start, instance: null, terminated: false, error };
  // An ID in a refusal may belong to an instance of another request. Without an ID, `resource` is
  // the name.
  const isMade = httpStatus < 400 && id !== undefined && !isSameName(id, name);
  if (!isMade) {
    const unknown = { ...start, instance: { id: null, name }, terminated: 'unknown' } as const;
    if (error.failure === 'outcomeUnknown') return { ...unknown, error };
    return { ...unknown, error: doubt(message, { hint, resource: id, cause: error }) };
  }
  const instance = { id, name };
  if (hasTriedToEnd(error)) return { ...start, instance, terminated: 'unknown', error };
  const end = await endOne(instance, context);
  if (end.kind !== 'ended') return { ...start, instance, terminated: 'unknown', error: end.error };
  const cost_at_most = costAtMost(end.instance, context.serviceClock.now());
  const cost = await costOf(end.instance, 'run', context);
  return { ...start, instance, terminated: true, cost, cost_at_most, error: runFailed(error) };
}

/** Stores the end of a job without a usable instance. Removes a job that rented nothing. */
export async function saveUnrented(end: JobEnd, job: Noted, context: Context): Promise<void> {
  const { instance, terminated } = end;
  const { uid, started_at } = job.record;
  if (instance === null) return removeJob(uid, context);
  job.record = { ...job.record, id: instance.id };
  const report = reportOf(end, started_at, context);
  const reason = report.error;
  const ended = { ended_at: timeNow(context), report, reason };
  await note(job, terminated === true ? ended : { reason }, context);
}
