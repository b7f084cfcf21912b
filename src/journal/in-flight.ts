import type { JournalSettings } from './contract.ts';
import { isRunning } from './process.ts';
import { type OpenRequest, readAgain } from './requests.ts';

/**
 * The requests with what became of them by now: of those without an outcome, which ones have a
 * process that waits for its answer.
 *
 * A process may write the outcome, file the request away and end, all between the reading of its
 * file and the question whether it runs. So the file of one that runs no more is read once again:
 * what it says then is the last word, and one that lies there no more has been filed away, its
 * machine written down before.
 */
export function asOfNow(
  open: readonly OpenRequest[],
  { clock, isAlive }: Pick<JournalSettings, 'clock' | 'isAlive'>,
): OpenRequest[] {
  return open.flatMap((request) => {
    const { intent, outcome, isSpoilt } = request;
    if (outcome !== undefined || isSpoilt === true) return [request];
    const age = clock.now() - Date.parse(intent.asked_at);
    if (isRunning(intent.process, age, isAlive)) return [{ ...request, isInFlight: true }];
    return readAgain(request) ?? [];
  });
}
