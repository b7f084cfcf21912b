import type { BurnJson, ChargesJson, RunwayJson } from '../../money/money-facts.ts';
import type { Block, View } from '../../output/output.ts';
import { minuteText, spanText } from '../../output/time.ts';
import { isAboveZero, kopecksText, money } from '../../rules/money.ts';

/** What `billing runway` tells, as its JSON form. Amounts are roubles. */
export interface RunwayReport extends RunwayJson {
  readonly as_of: string;
  /** As the service wrote it; null where it was not read. */
  readonly balance: string | null;
  /** What is known and what only the charges show; null where a part of it could not be read. */
  readonly per_hour: string | null;
  /** null where the charges were not compared with what is known. */
  readonly unexplained_per_hour: string | null;
  readonly burn: BurnJson;
  readonly charges: ChargesJson | null;
  readonly fail_below: string | null;
  /** Whether the limit is passed; null without one, and where too little is known to say so. */
  readonly below: boolean | null;
  /** The parts that could not be read. */
  readonly unread: readonly string[];
}

export const runwayView: View<RunwayReport> = {
  columns: [
    { id: 'balance', header: 'BALANCE', kind: 'money', value: (r) => r.balance },
    { id: 'per_hour', header: 'PER HOUR', kind: 'money', value: (r) => r.per_hour },
    { id: 'hours_left', header: 'HOURS LEFT', value: (r) => r.hours_left },
    { id: 'runs_out_at', header: 'RUNS OUT', kind: 'time', value: (r) => r.runs_out_at },
    {
      id: 'unexplained_per_hour',
      header: 'UNEXPLAINED',
      kind: 'money',
      value: (r) => r.unexplained_per_hour,
      hidden: true,
    },
    { id: 'below', header: 'BELOW', kind: 'yes', value: (r) => r.below, hidden: true },
    { id: 'as_of', header: 'AS OF', kind: 'time', value: (r) => r.as_of, hidden: true },
  ],
  id: () => null,
  empty: 'There is no balance.',
};

function lastsText(report: RunwayReport): string {
  const { hours_left: hours, runs_out_at: end, as_of: now, balance, unread, burn } = report;
  if (end !== null) return spanText(Math.floor((Date.parse(end) - Date.parse(now)) / 1000));
  if (hours !== null) return spanText(Math.floor(Number(hours) * 3600));
  const isUnsure = unread.length > 0 || burn.not_counted.length > 0;
  if (balance === null || isUnsure) return 'not known';
  return 'nothing that is known here is billing';
}

export function runwayBlocks(report: RunwayReport): Block[] {
  const { balance, per_hour, unexplained_per_hour: unexplained, runs_out_at: end } = report;
  return [
    {
      kind: 'facts',
      facts: [
        { label: 'Balance', text: balance === null ? 'not known' : rub(balance) },
        { label: 'Per hour', text: per_hour === null ? 'not known' : rub(per_hour) },
        {
          label: '',
          text:
            unexplained !== null && isAboveZero(unexplained)
              ? `${rub(unexplained)} of it only the charges show`
              : '',
        },
        { label: 'Lasts', text: lastsText(report) },
        { label: 'Until', text: end === null ? '' : minuteText(Date.parse(end)) },
        { label: 'Limit', text: limitText(report) },
      ],
    },
  ];
}

/** Whoever typed 24 and meant hours sees that it was taken for roubles. */
function limitText({ fail_below: limit, below }: RunwayReport): string {
  if (limit === null) return '';
  const amount = money(limit);
  return `${amount.ok ? rub(limit) : limit}${below === true ? ': not met' : ''}`;
}

function rub(amount: string): string {
  const read = money(amount);
  return read.ok ? `${kopecksText(read.value)} ₽` : amount;
}
