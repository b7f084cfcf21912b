import { unexplainedCharges } from './charges.ts';
import type { Check } from './check.ts';
import { endedButCharged } from './ended.ts';
import { reservedBalance } from './exact.ts';
import { openRequests, rentedElsewhere, runningLong } from './instances.ts';
import { otherKeys } from './keys.ts';
import type { AuditReading } from './reading.ts';

export type { Check } from './check.ts';
export { type AuditReading, readAudit } from './reading.ts';

/** Costs that this computer does not know. Includes `reserved_balance` if it was read. */
export function checksOf(reading: AuditReading): Check[] {
  const { account, known, exact } = reading;
  return [
    openRequests(known, reading.requestPrices),
    rentedElsewhere(account, known),
    runningLong(account),
    endedButCharged(reading.ended),
    otherKeys(reading.keys, account.now),
    unexplainedCharges(account),
    ...(exact === undefined ? [] : [reservedBalance(exact, account, known)]),
  ];
}
