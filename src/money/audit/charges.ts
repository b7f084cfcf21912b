import { inRoubles } from '../../rules/money.ts';
import type { AccountReading } from '../account.ts';
import { groupText, moneyFacts, UNCHECKED, unexplainedText, windowText } from '../facts.ts';
import { type Check, resultsOf } from './check.ts';

/** Groups shown in the evidence. */
const SHOWN = 10;

/** Charges beyond the highest cost of known instances and drives. */
export function unexplainedCharges(account: AccountReading): Check {
  const { ok, finding, unknown } = resultsOf('unexplained_charges');
  const { charges, unexplainedPerHour } = moneyFacts(account);
  const command = 'gpucloud billing transactions --type usage-charge --since 24h';
  if (charges === undefined) {
    const fault = account.faults.find(({ part }) => part !== 'profile');
    return unknown(fault === undefined ? `${UNCHECKED}.` : fault.error.message, { command });
  }
  const { charged, atMost, unexplained, groups } = charges;
  if (unexplained.lte(0)) {
    return ok(
      `${inRoubles(charged)} was charged in the last ${windowText(charges)}. Known instances and drives explain up to ${inRoubles(atMost)}.`,
    );
  }
  const more = groups.length > SHOWN ? [`and ${groups.length - SHOWN} more groups`] : [];
  return finding(`${unexplainedText(charges)}.`, {
    evidence: [...groups.slice(0, SHOWN).map(groupText), ...more],
    perHour: unexplainedPerHour,
    command,
  });
}
