import type { Context } from '../../context.ts';
import { failuresOf } from '../../errors.ts';
import type { Job } from '../job.ts';
import { type Bytes, readEnded, readJob, writeJob } from '../record/record.ts';

/** Delay before saving a new position, in milliseconds. */
const SAVE_AFTER = 1_000;

/**
 * Saves the position in the printed output shortly after it changes. A full disk doesn't fail the
 * job.
 */
export function createPosition(job: Job, offsets: Bytes, context: Context) {
  const closed = new AbortController();
  let isWaiting = false;
  let isLost = false;
  let isHeld = false;
  let saved = Promise.resolve();
  async function saveNow(): Promise<void> {
    const printed = { ...offsets };
    job.record = { ...job.record, printed };
    if ((await readEnded(job.record, context)) !== undefined) return;
    // The job may have ended or been kept since.
    const stored = readJob(job.record.id, context).catch(() => job.record);
    const [fault] = await failuresOf(
      stored.then((record) => writeJob({ ...record, printed }, context)),
    );
    if (fault !== undefined && !isLost) context.err.warn('local_storage', fault.message);
    isLost ||= fault !== undefined;
  }
  /** Saves in turn, so that an older position never replaces a newer one. */
  function save(): Promise<void> {
    saved = saved.then(saveNow);
    return saved;
  }
  return {
    moved() {
      if (isWaiting || isHeld) return;
      isWaiting = true;
      context.clock.sleep(SAVE_AFTER, closed.signal).then(
        () => {
          isWaiting = false;
          return isHeld ? undefined : save();
        },
        // Ignores the abort, since `close` saves the position.
        () => undefined,
      );
    },
    /** Saves nothing until {@link resume}, since others write the record. */
    hold() {
      isHeld = true;
      return save();
    },
    resume() {
      isHeld = false;
    },
    close() {
      closed.abort();
      return save();
    },
  };
}
