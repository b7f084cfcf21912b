import type { Context } from '../../context.ts';
import type { HowToReach } from '../../ssh/reach.ts';
import { createJob, driveAndPrint, printHandedOver } from '../driver.ts';
import { ensureOpen, findJob } from '../record/find-job.ts';
import { withJob } from '../record/lock.ts';
import { adopted } from './adopt.ts';
import { signInOf } from './sign-in-of.ts';

/** Takes over a job whose process has exited, and follows the job to its end. */
export async function attachJob(
  typed: string,
  given: HowToReach,
  report: string | undefined,
  context: Context,
): Promise<void> {
  const found = ensureOpen(await findJob(typed, context), context);
  const handedOver = await withJob(found, context, async () => {
    // Reads the record again: the process that followed the job may have completed it.
    const stored = await adopted(found.uid, context);
    const record = { ...stored, report_file: report ?? stored.report_file };
    const how = signInOf(record, given);
    return driveAndPrint(await createJob({ record, how, by: 'attach' }, context), context);
  });
  await printHandedOver(handedOver, context);
}
