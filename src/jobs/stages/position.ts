import type { Context } from '../../context.ts';
import type { Job } from '../job.ts';
import { note } from '../record/note.ts';
import type { Bytes } from '../record/record.ts';

/** Delay before saving a new position, in milliseconds. */
const SAVE_AFTER = 1_000;

/**
 * Saves the position in the printed output shortly after it changes. A full disk doesn't fail the
 * job.
 */
export function createPosition(job: Job, offsets: Bytes, context: Context) {
  const closed = new AbortController();
  let [isWaiting, isHeld] = [false, false];
  let saved = Promise.resolve();
  async function saveNow(): Promise<void> {
    await note(job, { printed: { ...offsets } }, context);
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
    /** Saves nothing until {@link resume}. */
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
