import { type Journal, type JournalSettings, openJournal } from '../../src/journal/index.ts';
import { manualClock } from './clock.ts';

/** The request of most tests: it rents an instance named trainer. */
export const RENTAL = {
  operation: 'create',
  name: 'trainer',
  offer_id: 'offer-1',
  timeout_ms: 60_000,
} as const;

/** Opens a journal in a state folder, as a process of its own would. */
export function journalIn(state: string, settings: Partial<JournalSettings> = {}): Journal {
  return openJournal({
    state,
    scope: { service: 'sandbox', account: 'user-1' },
    clock: manualClock(),
    pid: 1,
    isAlive: () => false,
    warn: () => undefined,
    ...settings,
  });
}
