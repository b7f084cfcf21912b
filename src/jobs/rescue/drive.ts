import { LAST_TRY } from '../verbs/hand-over.ts';
import { type Before, nextStep, type Situation } from './state.ts';

/** What a pass can do to one instance. Each function stores what happened before it returns. */
export interface Steps {
  /**
   * The times now, with `due` stored. Returns undefined if another deadline or rescue applies by
   * now.
   */
  situation(): Promise<Omit<Situation, 'copied'> | undefined>;
  /** Returns what earlier passes did. */
  before(): Before;
  /** Copies and compares all paths, until `until`. `isLast`: the instance ends afterwards. */
  copy(until: number, isLast: boolean): Promise<'copied' | 'whole' | 'failed'>;
  pause(until: number): Promise<void>;
  /** Terminates the instance. `isWhole`: nothing is missing. */
  end(isWhole: boolean): Promise<void>;
}

/** Moves one instance on, until nothing is left for this pass. */
export async function driveRescue(steps: Steps): Promise<'left' | 'kept' | 'ended'> {
  let copied: Situation['copied'] = steps.before();
  for (;;) {
    const now = await steps.situation();
    if (now === undefined) return 'left';
    const until = (now.due ?? now.deadline ?? now.now) + now.paid;
    switch (nextStep({ ...now, copied })) {
      case 'wait':
        return 'left';
      case 'keep':
        return 'kept';
      case 'retry':
        await steps.pause(until);
        copied = 'again';
        break;
      case 'copy': {
        const limit = Math.max(until, now.deadline ?? until);
        const isPaid = limit > now.now;
        copied = await steps.copy(isPaid ? limit : now.now + LAST_TRY, now.due !== undefined);
        break;
      }
      case 'end':
        await steps.end(true);
        return 'ended';
      case 'give up':
        await steps.end(false);
        return 'ended';
    }
  }
}
