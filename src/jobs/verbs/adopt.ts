import { recoverLine } from '../../command-line/hints.ts';
import type { Context } from '../../context.ts';
import { doubt } from '../../errors.ts';
import { isSameName } from '../../rules/names.ts';
import { ensureOpen } from '../record/find-job.ts';
import { type Noted, note, timeNow } from '../record/note.ts';
import { isRented, type JobRecord, type RentedRecord, readJob } from '../record/record.ts';

/**
 * Finds the instance of a job whose process was killed while it rented: a living instance of the
 * job's name that was requested since the job began. Without one, ends the job, unless the outcome
 * of a request is still unknown. The caller holds the job's lock.
 */
export async function adopt(job: JobRecord, context: Context): Promise<JobRecord> {
  if (isRented(job) || job.ended_at !== null) return job;
  const journal = await context.journal();
  const isOf = ({ name, asked_at }: { readonly name: string; readonly asked_at: string }) =>
    isSameName(name, job.name) && Date.parse(asked_at) >= Date.parse(job.started_at);
  const { instances } = await journal.read();
  const made = instances.find((one) => one.origin === 'create' && isOf(one));
  const held: Noted = { record: job };
  if (made !== undefined) {
    held.record = { ...job, id: made.id };
    await note(held, { rented_at: made.asked_at }, context);
  } else if (!(await journal.requests()).some(isOf)) {
    const reason = 'The run was killed before it rented an instance.';
    await note(held, { ended_at: timeNow(context), reason }, context);
  }
  return held.record;
}

/** Reads an open job and its instance again. Throws CliError if it has ended or has no instance. */
export async function adopted(uid: string, context: Context): Promise<RentedRecord> {
  const job = ensureOpen(await adopt(await readJob(uid, context), context), context);
  if (isRented(job)) return job;
  throw doubt(`The outcome of the request for ${job.name} is unknown. It may be billing.`, {
    resource: job.name,
    hint: `list the options: ${recoverLine(job.name)}`,
  });
}
