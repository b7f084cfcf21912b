import type { Fact } from '../../output/output.ts';
import { minuteText, spanText } from '../../output/time.ts';
import { isAboveZero, roublesText } from '../../rules/money.ts';
import type { Overview } from './overview.ts';

/** Balance, runway and burn rate, for the screen. */
export function moneyLines(status: Overview, now: number): Fact[] {
  const unexplained = status.charges?.unexplained ?? '0';
  const isUnexplained = isAboveZero(unexplained);
  return [
    { label: 'Balance', text: balanceText(status) },
    { label: 'Lasts', ...lastsOf(status, now) },
    { label: 'Burn rate', text: burnText(status) },
    { label: '', text: partsText(status) },
    { label: 'Excluded', text: notCountedText(status) },
    {
      label: 'Unknown',
      text: isUnexplained ? `${roublesText(unexplained)} in unexplained charges` : '',
      colour: 'red',
    },
  ];
}

function burnText({ burn }: Overview): string {
  const { per_hour: hour, per_day: day, per_month: month } = burn;
  if (hour !== null && day !== null && month !== null) {
    return `${roublesText(hour)} per hour, ${roublesText(day)} per day, ${roublesText(month)} per 30 days`;
  }
  const { instances_per_hour: instances, drives_per_hour: drives } = burn;
  if (instances !== null) return `${roublesText(instances)} per hour for instances; drives unknown`;
  return drives === null
    ? 'unknown'
    : `${roublesText(drives)} per hour for drives; instances unknown`;
}

function balanceText({ balance, unread }: Overview): string {
  if (balance !== null) return roublesText(balance);
  return unread.some(({ part }) => part === 'profile') ? 'could not be read' : 'unknown';
}

function lastsOf(status: Overview, now: number): Pick<Fact, 'text' | 'colour'> {
  const { hours_left: hours, runs_out_at: end, instances, drives, balance } = status;
  if (status.hours_left_unknown === 'price_not_told') {
    return { text: 'unknown: a price is missing' };
  }
  if (hours === null) {
    const isWhole = balance !== null && status.burn.per_hour !== null;
    const idle = isWhole ? 'nothing known is billing' : '';
    return { text: [...instances, ...drives].some(({ bills }) => bills !== false) ? '' : idle };
  }
  const seconds = Math.floor(Number(hours) * 3600);
  const more = isAboveZero(status.charges?.unexplained) ? ' plus unexplained charges' : '';
  const until = end === null ? '' : `, until ${minuteText(Date.parse(end))}`;
  const left = end === null ? seconds : Math.floor((Date.parse(end) - now) / 1000);
  return {
    text: left <= 0 ? 'used up' : `${spanText(left)}${until}, at this rate${more}`,
    colour: left < 24 * 3600 ? 'red' : undefined,
  };
}

/** How much of the rate belongs to instances and drives, if both bill. */
function partsText({ burn }: Overview): string {
  const { instances_per_hour: instances, drives_per_hour: drives } = burn;
  if (instances === null || drives === null) return '';
  const both = isAboveZero(instances) && isAboveZero(drives);
  return both ? `instances ${roublesText(instances)}, drives ${roublesText(drives)} per hour` : '';
}

function notCountedText({ burn }: Overview): string {
  const counts = new Map<string, number>();
  let isPriced = true;
  for (const { kind, id, status, reason } of burn.not_counted) {
    // The attention list has more about a pending request.
    if (id === null) continue;
    isPriced &&= reason !== 'price_not_told';
    const text =
      reason === 'price_not_told' ? `${kind}(s) of unknown price` : `${status} ${kind}(s)`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  if (counts.size === 0) return '';
  const list = [...counts].map(
    ([text, count]) => `${count} ${text.replace('(s)', count === 1 ? '' : 's')}`,
  );
  const most =
    burn.per_hour_at_most === null
      ? ''
      : `; with ${burn.not_counted.length === 1 ? 'it' : 'them'} ${roublesText(burn.per_hour_at_most)} per hour at most`;
  const unknown = isPriced ? "the API doesn't document the cost" : 'cost unknown';
  return `${list.join(', ')}: ${unknown}${most}`;
}
