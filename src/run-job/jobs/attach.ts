import type { Context } from '../../context.ts';
import type { HowToReach } from '../../reach/reach.ts';
import type { Job } from '../job.ts';
import { ensureOpen, findJob } from '../record/find-job.ts';
import { withJob } from '../record/lock.ts';
import { readJob } from '../record/record.ts';
import { runOn } from '../stages/index.ts';
import { supervise } from '../supervise.ts';
import { signInOf } from './sign-in-of.ts';

/** Takes over a job whose process has exited, and follows the job to its end. */
export async function attachJob(
  typed: string,
  given: HowToReach,
  report: string | undefined,
  context: Context,
): Promise<void> {
  const found = ensureOpen(await findJob(typed, context), context);
  await withJob(found, context, async () => {
    // Reads the record again: the process that followed the job may have completed it.
    const stored = ensureOpen(await readJob(found.id, context), context);
    const record = { ...stored, report_file: report ?? stored.report_file };
    const work = (job: Job) => runOn(job, undefined, context);
    await supervise({ record, how: signInOf(record, given), by: 'attach' }, work, context);
  });
}
