import type { Journal, JournalSettings } from './contract.ts';
import { openStore } from './journal.ts';
import { known } from './known.ts';
import { owners } from './owners.ts';
import { sending } from './sending.ts';
import { transfer } from './transfer.ts';

export { AskedElsewhere } from './asked-elsewhere.ts';
export type * from './contract.ts';
export type { JournalExport, Origin, Outcome, Snapshot } from './record.ts';
export { parseExport } from './record.ts';
export { accountOfKey, type Scope } from './scope.ts';

/** Opens the journal of one account; nothing is read or written before it is asked for. */
export function openJournal(settings: JournalSettings): Journal {
  const journal = openStore(settings);
  const whose = owners(journal);
  return {
    openedAt: settings.clock.now(),
    ...sending(journal, whose),
    ...known(journal),
    ...whose,
    ...transfer(journal, whose),
  };
}
