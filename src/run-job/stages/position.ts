import type { Context } from '../../context.ts';
import { failuresOf } from '../../errors.ts';
import type { Job } from '../job.ts';
import { type Bytes, readEnded, writeJob } from '../record/record.ts';

/** Delay before saving a new position, in milliseconds. */
const SAVE_AFTER = 1_000;

/**
 * Saves the position in the printed output shortly after it changes. A full disk doesn't end the
 * job.
 */
export function createPosition(job: Job, offsets: Bytes, context: Context) {
  const closed = new AbortController();
  let saving: Promise<void> | undefined;
  let isLost = false;
  async function save(): Promise<void> {
    job.record = { ...job.record, printed: { ...offsets } };
    if ((await readEnded(job.record, context)) !== undefined) return;
    const [fault] = await failuresOf(writeJob(job.record, context));
    if (fault !== undefined && !isLost) context.err.warn('local_storage', fault.message);
    isLost ||= fault !== undefined;
  }
  async function saveLater(): Promise<void> {
    await context.clock.sleep(SAVE_AFTER, closed.signal).catch(() => undefined);
    saving = undefined;
    await save();
  }
  return {
    moved() {
      saving ??= saveLater();
    },
    async close() {
      closed.abort();
      await saving;
      await save();
    },
  };
}
