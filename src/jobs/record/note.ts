import type { Context } from '../../context.ts';
import { failuresOf } from '../../errors.ts';
import { type JobRecord, readEnded, writeJob } from './record.ts';

/** A record that this process writes. */
export interface Noted<R extends JobRecord = JobRecord> {
  record: R;
  /** Whether the last change could not be written, for example on a full disk. */
  isUnsaved?: boolean | undefined;
  /** Another process writes the record from now on. */
  readonly isHandedOver?: boolean;
}

type Change = Partial<Omit<JobRecord, 'id' | 'uid' | 'version'>>;

/**
 * Stores what happened to a job. On a full disk, warns once and continues. Writes nothing if another
 * process has completed the job.
 */
export async function note<R extends JobRecord>(
  job: Noted<R>,
  change: Change,
  context: Context,
): Promise<void> {
  job.record = { ...job.record, ...change };
  if (job.isHandedOver === true) return;
  if ((await readEnded(job.record.uid, context)) !== undefined) return;
  const [fault] = await failuresOf(writeJob(job.record, context));
  if (fault !== undefined && !job.isUnsaved) context.err.warn('local_storage', fault.message);
  job.isUnsaved = fault !== undefined;
}

/** Returns the present time of this computer, for a record. */
export function timeNow({ clock }: Pick<Context, 'clock'>): string {
  return new Date(clock.now()).toISOString();
}
