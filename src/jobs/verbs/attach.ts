import type { Context } from '../../context.ts';
import type { HowToReach } from '../../ssh/reach.ts';
import { createJob, driveAndPrint, printHandedOver } from '../driver.ts';
import type { Fetch } from '../files/copy-out.ts';
import { storedFetch } from '../new-record.ts';
import { ensureOpen, findJob } from '../record/find-job.ts';
import { withJob } from '../record/lock.ts';
import { note } from '../record/note.ts';
import { type JobRecord, receivedPaths } from '../record/record.ts';
import { ensureOwnTargets } from '../same-target.ts';
import { adopted } from './adopt.ts';
import { signInOf } from './sign-in-of.ts';

interface Changed {
  readonly report: string | undefined;
  /** Replaces the paths that are not copied yet; empty for no change. */
  readonly fetch: readonly Fetch[];
}

/** Takes over a job whose process has exited, and follows the job to its end. */
export async function attachJob(
  typed: string,
  given: HowToReach,
  { report, fetch }: Changed,
  context: Context,
): Promise<void> {
  const found = ensureOpen(await findJob(typed, context), context);
  const skips = ({ uid }: JobRecord) => uid === found.uid;
  await ensureOwnTargets(fetch, { name: found.name, from: () => '--fetch', skips }, context);
  const handedOver = await withJob(found, context, async () => {
    // Reads the record again: the process that followed the job may have completed it.
    const stored = await adopted(found.uid, context);
    const held = { record: stored };
    if (fetch.length > 0) {
      const paths = [...receivedPaths(stored), ...storedFetch(fetch)];
      await note(held, { fetch: paths, uncopied: null }, context);
    }
    const record = { ...held.record, report_file: report ?? stored.report_file };
    const how = signInOf(record, given);
    return driveAndPrint(await createJob({ record, how, by: 'attach' }, context), context);
  });
  await printHandedOver(handedOver, context);
}
