import type { BurnJson, ChargesJson, RunwayJson } from '../../money/facts.ts';
import type { Block, View } from '../../output/output.ts';
import { minuteText, spanText } from '../../output/time.ts';
import { isAboveZero, roublesText } from '../../rules/money.ts';

/** The JSON of `billing runway`. Amounts are roubles. */
export interface RunwayReport extends RunwayJson {
  readonly as_of: string;
  /** As the service wrote it; null if it was not read. */
  readonly balance: string | null;
  /** The known burn rate and what only the charges show; null if a part could not be read. */
  readonly per_hour: string | null;
  /** null if the charges were not compared with what is known. */
  readonly unexplained_per_hour: string | null;
  readonly burn: BurnJson;
  readonly charges: ChargesJson | null;
  readonly fail_below: string | null;
  /** Whether the limit is not met; null without one, and if too little is known. */
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
        { label: 'Balance', text: balance === null ? 'not known' : roublesText(balance) },
        { label: 'Per hour', text: per_hour === null ? 'not known' : roublesText(per_hour) },
        {
          label: '',
          text:
            unexplained !== null && isAboveZero(unexplained)
              ? `${roublesText(unexplained)} of it only the charges show`
              : '',
        },
        { label: 'Lasts', text: lastsText(report) },
        { label: 'Until', text: end === null ? '' : minuteText(Date.parse(end)) },
        { label: 'Limit', text: limitText(report) },
      ],
    },
  ];
}

/** Shows a person who typed 24 for hours that it was read as roubles. */
function limitText({ fail_below: limit, below }: RunwayReport): string {
  if (limit === null) return '';
  return `${roublesText(limit)}${below === true ? ': not met' : ''}`;
}
