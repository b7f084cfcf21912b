import { inRoubles } from '../../rules/money.ts';
import type { AccountReading } from '../account.ts';
import { chargedText, groupText, moneyFacts, unexplainedText, whyUnchecked } from '../facts.ts';
import { type Check, resultsOf } from './check.ts';

/** Groups shown in the evidence. */
const SHOWN = 10;

/** Charges beyond the highest cost of known instances and drives. */
export function unexplainedCharges(account: AccountReading): Check {
  const { ok, finding, unknown } = resultsOf('unexplained_charges');
  const { charges, unexplainedPerHour } = moneyFacts(account);
  const command = 'gpucloud billing transactions --type usage-charge --since 24h';
  const why = whyUnchecked(charges);
  if (charges === undefined || why !== undefined) {
    const fault = account.faults.find(({ part }) => part !== 'profile');
    const evidence = charges?.unclear.map(groupText) ?? [];
    const isRead = fault === undefined || charges !== undefined;
    return unknown(isRead ? `${why}.` : fault.error.message, { evidence, command });
  }
  const { atMost, late, unexplained, groups } = charges;
  if (unexplained.lte(0)) {
    const lateText = late.gt(0)
      ? ` ${inRoubles(late)} of it is late billing, within a day of the end of an instance.`
      : '';
    return ok(
      `${chargedText(charges)}. Known instances and drives explain up to ${inRoubles(atMost)}.${lateText}`,
    );
  }
  const more = groups.length > SHOWN ? [`and ${groups.length - SHOWN} more groups`] : [];
  return finding(`${unexplainedText(charges)}.`, {
    evidence: [...groups.slice(0, SHOWN).map(groupText), ...more],
    perHour: unexplainedPerHour,
    command,
  });
}
