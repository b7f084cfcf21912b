import type { Api, CallOptions, Instance } from '../../api/index.ts';
import { eachBounded } from '../../bounded.ts';
import { type CliError, isOfOneReading } from '../../errors.ts';
import type { Known, KnownInstance } from '../../journal/index.ts';
import { instant } from '../../output/time.ts';
import { priceIn } from '../../rules/money.ts';
import { isTerminated, mayBill } from '../../rules/statuses.ts';
import { type Check, resultsOf } from './check.ts';
import { sumOf } from './instances.ts';

/** The newest instances that were seen TERMINATED here, read again. */
export interface EndedReading {
  readonly read: readonly { readonly known: KnownInstance; readonly instance: Instance }[];
  readonly faults: readonly CliError[];
  /** How many older ones were not read. */
  readonly left: number;
}

const MOST = 100;
const AT_ONCE = 20;

export async function readEnded(
  { instances }: Known,
  api: Api,
  options: CallOptions = {},
): Promise<EndedReading> {
  const ended = instances
    .filter(({ archived, untracked, last }) => archived && !untracked && isTerminated(last?.status))
    .sort((a, b) => (b.last?.seen_at ?? '').localeCompare(a.last?.seen_at ?? ''));
  const faults: CliError[] = [];
  const read = await eachBounded(ended.slice(0, MOST), AT_ONCE, async (known) => {
    try {
      return { known, instance: await api.instances.get(known.id, options) };
    } catch (error) {
      if (!isOfOneReading(error)) throw error;
      // It was seen TERMINATED, so a later 404 is no news.
      if (error.failure !== 'notFound') faults.push(error);
      return undefined;
    }
  });
  return {
    read: read.filter((one) => one !== undefined),
    faults,
    left: Math.max(0, ended.length - MOST),
  };
}

/** Milliseconds: the last hour may be charged at its end. */
const LATE = 3_600_000;

/** Instances that ended, then ran again or were charged later. */
export function endedButCharged(ended: EndedReading): Check {
  const { ok, finding, unknown } = resultsOf('ended_but_charged');
  const charged = ended.read.flatMap(({ known, instance }) => {
    const why = whyCharged(known, instance);
    return why === undefined ? [] : [{ known, instance, why }];
  });
  const [first] = charged;
  if (first !== undefined) {
    return finding('An instance that was TERMINATED runs again, or was charged later.', {
      evidence: charged.map(({ known, why }) => `${known.name} (${known.id}) ${why}`),
      perHour: sumOf(charged.map(({ instance }) => priceIn(instance.price_per_hour_snapshot))),
      command: `gpucloud instances get ${first.known.id}`,
    });
  }
  if (ended.faults[0] !== undefined) {
    return unknown(
      `${ended.faults.length} terminated instances could not be read: ${ended.faults[0].message}`,
    );
  }
  const { length } = ended.read;
  const count = ended.left === 0 ? String(length) : `the newest ${length}`;
  return ok(`No terminated instance is charged (${count} ${length === 1 ? 'was' : 'were'} read).`);
}

function whyCharged({ last }: KnownInstance, instance: Instance): string | undefined {
  const { status, last_billed_at: billed, terminated_at: ended } = instance;
  if (mayBill(status)) return `was TERMINATED when last seen, and is ${status} now`;
  const [billedAt, endedAt] = [instant(billed), instant(ended ?? last?.seen_at)];
  if (billedAt === undefined || endedAt === undefined || billedAt <= endedAt + LATE) {
    return undefined;
  }
  return `ended at ${ended ?? last?.seen_at}, and was charged at ${billed}`;
}
