import type { Context } from '../context.ts';
import type { Job, JobPlan } from './job.ts';
import { createPhases } from './phases.ts';
import { withJob } from './record/lock.ts';
import { endUnusable, type Rented, rentFor } from './rent.ts';
import { runOn } from './stages/index.ts';
import { finishUnrented, supervise } from './supervise.ts';

/** Rents an instance and runs the job to its end. */
export async function runJob(plan: JobPlan, context: Context): Promise<void> {
  const started_at = new Date(context.clock.now()).toISOString();
  const { command, how, detach, report_file } = plan;
  const phases = createPhases(plan.request.instance_name, context);
  phases.begin('renting');
  let rented: Rented;
  try {
    rented = await rentFor(plan, context).finally(phases.clear);
  } catch (error) {
    const end = await endUnusable(error, plan, context);
    return finishUnrented(end, { command, started_at, report_file }, context);
  }
  const by = detach ? 'detach' : 'run';
  const work = (job: Job) => runOn(job, plan.toStart, context);
  await withJob(rented.record, context, () => supervise({ ...rented, how, by }, work, context));
}
