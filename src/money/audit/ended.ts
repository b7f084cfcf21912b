import type { Instance } from '../../api/index.ts';
import type { KnownInstance } from '../../journal/index.ts';
import { instant } from '../../output/time.ts';
import { priceIn } from '../../rules/money.ts';
import { mayBill } from '../../rules/statuses.ts';
import type { readArchived } from '../archived.ts';
import { LATE } from '../charges.ts';
import { type Check, resultsOf } from './check.ts';
import { sumOf } from './instances.ts';

/** Instances that ended here, then ran again or were charged later. */
export function endedButCharged(ended: Awaited<ReturnType<typeof readArchived>>): Check {
  const { ok, finding, unknown } = resultsOf('ended_but_charged');
  const charges = ended.read.flatMap(({ known, instance }) =>
    instance === undefined ? [] : [{ known, instance, ...chargeAfterEnd(known, instance) }],
  );
  const charged = charges.filter(({ why }) => why === 'runs' || why === 'charged');
  const [first] = charged;
  if (first !== undefined) {
    return finding('An instance that was TERMINATED runs again, or was charged later.', {
      evidence: charged.map(({ known, text }) => `${known.name} (${known.id}) ${text}`),
      perHour: sumOf(charged.map(({ instance }) => priceIn(instance.price_per_hour_snapshot))),
      command: `gpucloud instances get ${first.known.id}`,
    });
  }
  const faults = ended.read.flatMap(({ fault }) => fault ?? []);
  if (faults[0] !== undefined) {
    return unknown(`${faults.length} terminated instances could not be read: ${faults[0].message}`);
  }
  const { length } = charges;
  const count = ended.left === 0 ? String(length) : `the newest ${length}`;
  const late = charges.filter(({ why }) => why === 'late');
  const lateText =
    late.length === 0
      ? ''
      : ` Billed late, within a day of the end: ${late.map(({ known }) => known.name).join(', ')}.`;
  return ok(
    `No terminated instance is charged (${count} ${length === 1 ? 'was' : 'were'} read).${lateText}`,
    { evidence: late.map(({ known, text }) => `${known.name} (${known.id}) ${text}`) },
  );
}

function chargeAfterEnd(
  { last }: KnownInstance,
  instance: Instance,
): { why?: 'runs' | 'charged' | 'late'; text?: string } {
  const { status, last_billed_at: billed, terminated_at: ended } = instance;
  if (mayBill(status)) {
    return { why: 'runs', text: `was TERMINATED when last seen, and is ${status} now` };
  }
  const [billedAt, endedAt] = [instant(billed), instant(ended ?? last?.seen_at)];
  // The last hour may be charged at its end.
  if (billedAt === undefined || endedAt === undefined || billedAt <= endedAt + HOUR) return {};
  const text = `ended at ${ended ?? last?.seen_at}, and was charged at ${billed}`;
  return { why: billedAt <= endedAt + LATE ? 'late' : 'charged', text };
}

const HOUR = 3_600_000;
