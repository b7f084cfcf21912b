import type { AccountReading } from '../../money/account.ts';
import { burnJson, chargesJson, type MoneyFacts, runwayJson } from '../../money/facts.ts';
import { type Block, field, type View } from '../../output/output.ts';
import { minuteText, spanText } from '../../output/time.ts';
import type { Runway } from '../../results/money.ts';
import { isAboveZero, kopecksText, roublesText } from '../../rules/money.ts';
import type { Limit } from './fail-below.ts';

type RunwayReport = ReturnType<typeof reportOf>;

/** The JSON of `billing runway`. Amounts are roubles. */
export function reportOf(
  reading: AccountReading,
  facts: MoneyFacts,
  failBelow: Limit | undefined,
  below: boolean | null,
) {
  return {
    as_of: new Date(reading.now).toISOString(),
    /** As the service wrote it; null if it was not read. */
    balance: reading.user?.balance ?? null,
    /** The known burn rate plus unexplained charges; null if a part could not be read. */
    per_hour: facts.read.instances && facts.read.drives ? kopecksText(facts.perHour) : null,
    /** null if the charges were not compared with known things. */
    unexplained_per_hour:
      facts.charges === undefined ? null : kopecksText(facts.unexplainedPerHour),
    ...runwayJson(facts),
    burn: burnJson(facts),
    charges: chargesJson(facts.charges),
    fail_below: failBelow?.text ?? null,
    /** Whether the limit is missed; null without a limit, or if too little is known. */
    below,
    /** The parts that could not be read. */
    unread: reading.faults.map(({ part }) => part),
  } satisfies Runway;
}

export const runwayView: View<RunwayReport> = {
  columns: [
    field('balance', 'BALANCE', { kind: 'money' }),
    field('per_hour', 'PER HOUR', { kind: 'money' }),
    field('hours_left', 'HOURS LEFT'),
    field('runs_out_at', 'RUNS OUT', { kind: 'time' }),
    field('unexplained_per_hour', 'UNEXPLAINED', { kind: 'money', hidden: true }),
    field('below', 'BELOW', { kind: 'yes', hidden: true }),
    field('as_of', 'AS OF', { kind: 'time', hidden: true }),
  ],
  id: () => null,
  empty: 'No balance.',
};

function lastsText(report: RunwayReport): string {
  const { hours_left: hours, runs_out_at: end, as_of: now, balance, unread, burn } = report;
  if (end !== null) return spanText(Math.floor((Date.parse(end) - Date.parse(now)) / 1000));
  if (hours !== null) return spanText(Math.floor(Number(hours) * 3600));
  const isUnsure = unread.length > 0 || burn.not_counted.length > 0;
  if (balance === null || isUnsure) return 'unknown';
  return 'nothing known is billing';
}

export function runwayBlocks(report: RunwayReport): Block[] {
  const { balance, per_hour, unexplained_per_hour: unexplained, runs_out_at: end } = report;
  return [
    {
      kind: 'facts',
      facts: [
        { label: 'Balance', text: balance === null ? 'unknown' : roublesText(balance) },
        { label: 'Per hour', text: per_hour === null ? 'unknown' : roublesText(per_hour) },
        {
          label: '',
          text:
            unexplained !== null && isAboveZero(unexplained)
              ? `${roublesText(unexplained)} of it from unexplained charges`
              : '',
        },
        { label: 'Lasts', text: lastsText(report) },
        { label: 'Until', text: end === null ? '' : minuteText(Date.parse(end)) },
        { label: 'Limit', text: limitText(report) },
      ],
    },
  ];
}

/** Shows that 24, typed for hours, was read as roubles. */
function limitText({ fail_below: limit, below }: RunwayReport): string {
  if (limit === null) return '';
  return `${roublesText(limit)}${below === true ? ': not met' : ''}`;
}
