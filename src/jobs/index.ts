import type { Context } from '../context.ts';
import { createJob, driveAndPrint, printEnd, printHandedOver } from './driver.ts';
import { notifyOfEnd } from './end/notify.ts';
import { type JobEnd, reportOf, saveReport } from './end/report.ts';
import type { JobPlan } from './job.ts';
import { newRecord } from './new-record.ts';
import { createPhases } from './phases.ts';
import { withJob } from './record/lock.ts';
import type { Noted } from './record/note.ts';
import { endUnusable, type Rented, rentFor, saveUnrented, warnIfUnarmed } from './rent.ts';
import { storeJob } from './same-target.ts';

/** Rents an instance and runs the job to its end. */
export async function runJob(plan: JobPlan, context: Context): Promise<void> {
  const { how, toStart: command, detach, request } = plan;
  const { instance_name: name } = request;
  const sync = plan.files?.folder ?? null;
  const start = { id: null, name, on: false, here: false, sync, grace: 0 };
  await warnIfUnarmed(plan, context);
  const job: Noted = { record: await newRecord(plan, start, context) };
  const handedOver = await withJob(job.record, context, async () => {
    // On disk before the request: if this process is killed, another one finds the job.
    const from = (at: number) => plan.given.from('fetch', at);
    await storeJob(job.record, { name, from }, context);
    const phases = createPhases(name, context);
    phases.begin('renting');
    let rented: Rented;
    try {
      rented = await rentFor(job, plan, context).finally(phases.clear);
    } catch (error) {
      const end = await endUnusable(error, plan, context);
      return finishUnrented(end, job, context);
    }
    const by = detach ? 'detach' : 'run';
    const driven = { ...rented, how, by, command } as const;
    return driveAndPrint(await createJob(driven, context), context);
  });
  await printHandedOver(handedOver, context);
}

/** Stores and prints the end of a job that has no usable instance. */
async function finishUnrented(end: JobEnd, job: Noted, context: Context): Promise<undefined> {
  const { started_at, report_file } = job.record;
  await saveUnrented(end, job, context);
  await saveReport(report_file, reportOf(end, started_at, context), context);
  await notifyOfEnd(end, started_at, context);
  await printEnd(end, job, context);
}
