import { eachBounded, SSH_AT_ONCE } from '../../../concurrency.ts';
import type { Context } from '../../../context.ts';
import type { CliError } from '../../../errors.ts';
import { isIdleNow } from '../../../idle/end-idle.ts';
import { beginPass, type Pass } from '../../../instances/deadlines/reap.ts';
import type { JobRecord } from '../../../jobs/record/record.ts';
import { foreseeRescue, hasRescue } from '../../../jobs/rescue/pass.ts';
import { openJobs } from '../../../jobs/verbs/finish.ts';
import { ENDED, foreseeJob } from '../../../jobs/verbs/foresee.ts';
import type { Deadline } from '../../../journal/index.ts';
import type { ReapPlan } from '../../../json-results/instances.ts';
import { spanText } from '../../../output/time.ts';
import { mayBill } from '../../../rules/statuses.ts';

/** Milliseconds between two passes, for jobs and for the rest. */
interface Every {
  readonly job: number;
  readonly pass: number;
}

interface Foresight {
  readonly rows: readonly ReapPlan[];
  readonly errors: readonly CliError[];
}

type Foreseen = Pick<ReapPlan, 'action' | 'why'>;

/**
 * Returns what a pass of `reap` would do now to each instance with a deadline, an idle rule or a
 * job, by the rules of the pass, and the requests that it can't resolve. Reads only, and stores
 * nothing.
 */
export async function nextPass(every: Every, context: Context): Promise<Foresight> {
  const pass = await beginPass(context);
  const { open, newer } = await openJobs(context);
  const ruled = await pass.journal.deadlines();
  const others: Deadline[] = open.flatMap(({ id, name }) =>
    id === null || ruled.some((one) => one.id === id)
      ? []
      : [{ id, name, deadline: null, status: undefined }],
  );
  const all = [...ruled, ...others].filter(
    (one) => jobsOf(one, open).length > 0 || mayBill(one.status),
  );
  const rows = await eachBounded(all, SSH_AT_ONCE, async (one) => {
    const { id, name, deadline = null } = one;
    const foreseen = await foresee(one, { jobs: jobsOf(one, open), pass, every }, context);
    return { id, name, deadline, ...foreseen };
  });
  const unknown = (await pass.journal.requests()).filter(({ isInFlight }) => !isInFlight);
  const requests = unknown.map(({ name, deadline = null }) => {
    return { id: null, name, deadline, ...nothing('the outcome of its request is unknown') };
  });
  return {
    rows: [...requests, ...rows],
    errors: [...(pass.unproven === undefined ? [] : [pass.unproven]), ...newer],
  };
}

function jobsOf({ id }: Pick<Deadline, 'id'>, open: readonly JobRecord[]): JobRecord[] {
  return open.filter((job) => job.id === id);
}

interface Given {
  readonly jobs: readonly JobRecord[];
  readonly pass: Pass;
  readonly every: Every;
}

/** Jobs come first, as in a pass. */
async function foresee(
  one: Deadline,
  { jobs, pass, every }: Given,
  context: Context,
): Promise<Foreseen> {
  const ofJobs: Foreseen[] = [];
  for (const job of jobs) ofJobs.push(await foreseeJob(job, every.job, context));
  const ended = ofJobs.find(({ action }) => action === 'finish_job' || action === 'terminate');
  if (ended !== undefined) return ended;
  if (ofJobs.includes(ENDED)) return ENDED;
  if (one.deadline === undefined) return nothing('its deadline could not be read');
  const overdue = one.deadline === null ? -1 : pass.time.now() - Date.parse(one.deadline);
  const isPast = overdue >= 0;
  const why = `its deadline passed ${spanText(Math.floor(overdue / 1000))} ago`;
  if (isPast && one.rescue === undefined) return { action: 'terminate', why };
  const rule = one.if_idle;
  const isIdle =
    !isPast &&
    rule !== undefined &&
    (await isIdleNow({ ...one, rule }, { time: pass.time, every: every.pass }, context));
  const idle = isIdle ? rule : undefined;
  const idleText = `it was idle for ${spanText((idle?.after ?? 0) / 1000)}`;
  if (idle !== undefined && !hasRescue(one)) return { action: 'terminate', why: idleText };
  if (hasRescue(one)) {
    const rescued = await foreseeRescue(one, { pass, every: every.pass, idle: idle?.uid });
    if (rescued.action !== 'nothing') {
      return idle === undefined ? rescued : { ...rescued, why: idleText };
    }
    if (ofJobs.length === 0 && rule === undefined) return rescued;
  }
  const [ofJob] = ofJobs;
  if (ofJob !== undefined) return ofJob;
  return nothing(rule === undefined ? 'its deadline has not passed' : 'it is not due');
}

function nothing(why: string): Foreseen {
  return { action: 'nothing', why };
}
