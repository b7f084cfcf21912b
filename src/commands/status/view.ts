import type { Block, Cell, Fact, View } from '../../output/output.ts';
import { minuteText, relative, spanText } from '../../output/time.ts';
import { isAboveZero, kopecksText, money, roublesText, zero } from '../../rules/money.ts';
import type { Overview } from './overview.ts';
import { byPrice, type DriveRow, type InstanceRow } from './rows.ts';

/** The whole of it in one row, for the formats that are rows; JSON and people have more. */
export const statusView: View<Overview> = {
  columns: [
    { id: 'as_of', header: 'AS OF', kind: 'time', value: (s) => s.as_of },
    { id: 'balance', header: 'BALANCE', kind: 'money', value: (s) => s.balance },
    { id: 'per_hour', header: 'PER HOUR', kind: 'money', value: (s) => s.burn.per_hour },
    { id: 'per_day', header: 'PER DAY', kind: 'money', value: (s) => s.burn.per_day },
    { id: 'per_month', header: 'PER 30 DAYS', kind: 'money', value: (s) => s.burn.per_month },
    { id: 'hours_left', header: 'HOURS LEFT', value: (s) => s.hours_left },
    { id: 'runs_out_at', header: 'RUNS OUT', kind: 'time', value: (s) => s.runs_out_at },
    {
      id: 'unexplained',
      header: 'UNEXPLAINED',
      kind: 'money',
      value: (s) => s.charges?.unexplained,
    },
    { id: 'instances', header: 'INSTANCES', value: (s) => s.instances.length },
    { id: 'drives', header: 'DRIVES', value: (s) => s.drives.length },
    { id: 'attention', header: 'ATTENTION', value: (s) => s.attention.length },
    { id: 'unread', header: 'UNREAD', value: (s) => s.unread.map(({ part }) => part).join(' ') },
  ],
  // There is one status to an account, and it has no id.
  id: () => null,
  empty: 'There is no status.',
};

/** What `-q` prints: of these instances the ids alone. */
export const idView: View<InstanceRow> = {
  columns: [],
  id: ({ id }) => id,
  empty: 'No machine bills.',
};

export interface ScreenOf {
  /** A terminal shows the first of many; a pipe shows all. */
  readonly all: boolean;
  /** Puts a profile that was named by a flag into commands. */
  readonly typed: (command: string) => string;
}

/** Rows of a table that still leave the rest of the screen to be seen. */
const MOST_ROWS = 12;

export function statusBlocks(status: Overview, { all, typed }: ScreenOf): Block[] {
  const now = Date.parse(status.as_of);
  return [
    { kind: 'facts', facts: [...moneyFacts(status, now), ...emptyFacts(status)] },
    {
      kind: 'items',
      heading: 'Needs attention',
      items: status.attention.map(({ message, command }) => ({
        text: command === null ? typed(message) : `${typed(message)}:`,
        colour: 'yellow',
        command: command === null ? undefined : typed(command),
      })),
    },
    instanceTable(status.instances, { all, typed }, now),
    driveTable(status, all, now),
    {
      kind: 'facts',
      heading: 'Next',
      facts: status.next.map(({ command, purpose }) => ({
        label: `  ${purpose}`,
        text: typed(command),
        command: true,
      })),
    },
  ];
}

function moneyFacts(status: Overview, now: number): Fact[] {
  const unexplained = status.charges?.unexplained ?? '0';
  const isUnexplained = isAboveZero(unexplained);
  return [
    { label: 'Balance', text: balanceText(status) },
    { label: 'Lasts', ...lastsOf(status, now) },
    { label: 'Burn rate', text: burnText(status) },
    { label: '', text: partsText(status) },
    { label: 'Not in it', text: notCountedText(status) },
    {
      label: 'Unknown',
      text: isUnexplained
        ? `${roublesText(unexplained)} charged that nothing known here explains`
        : '',
      colour: 'red',
    },
  ];
}

function burnText({ burn }: Overview): string {
  const { per_hour: hour, per_day: day, per_month: month } = burn;
  if (hour !== null && day !== null && month !== null) {
    return `${roublesText(hour)} an hour, ${roublesText(day)} a day, ${roublesText(month)} in 30 days`;
  }
  const { instances_per_hour: instances, drives_per_hour: drives } = burn;
  if (instances !== null) return `${roublesText(instances)} an hour for machines; drives not known`;
  return drives === null
    ? 'not known'
    : `${roublesText(drives)} an hour for drives; machines not known`;
}

function balanceText({ balance, unread }: Overview): string {
  if (balance !== null) return roublesText(balance);
  return unread.some(({ part }) => part === 'profile') ? 'could not be read' : 'not told';
}

function lastsOf(status: Overview, now: number): Pick<Fact, 'text' | 'colour'> {
  const { hours_left: hours, runs_out_at: end, instances, drives, balance } = status;
  if (hours === null) {
    const isWhole = balance !== null && status.burn.per_hour !== null;
    const idle = isWhole ? 'nothing that is known here is billing' : '';
    return { text: [...instances, ...drives].some(({ bills }) => bills !== false) ? '' : idle };
  }
  const seconds = Math.floor(Number(hours) * 3600);
  const more = isAboveZero(status.charges?.unexplained) ? ' and what is unknown' : '';
  const until = end === null ? '' : `, until ${minuteText(Date.parse(end))}`;
  const left = end === null ? seconds : Math.floor((Date.parse(end) - now) / 1000);
  return {
    text: left <= 0 ? 'used up' : `${spanText(left)}${until}, at this rate${more}`,
    colour: left < 24 * 3600 ? 'red' : undefined,
  };
}

/** Where both take part, how much of the rate is whose. */
function partsText({ burn }: Overview): string {
  const { instances_per_hour: instances, drives_per_hour: drives } = burn;
  if (instances === null || drives === null) return '';
  const both = isAboveZero(instances) && isAboveZero(drives);
  return both ? `machines ${roublesText(instances)}, drives ${roublesText(drives)} an hour` : '';
}

function notCountedText({ burn }: Overview): string {
  const counts = new Map<string, number>();
  let isPriced = true;
  for (const { kind, id, status, reason } of burn.not_counted) {
    // The attention list has more about a pending request.
    if (id === null) continue;
    isPriced &&= reason !== 'price_not_told';
    const text =
      reason === 'price_not_told' ? `${kind}(s) of untold price` : `${status} ${kind}(s)`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  if (counts.size === 0) return '';
  const list = [...counts].map(
    ([text, count]) => `${count} ${text.replace('(s)', count === 1 ? '' : 's')}`,
  );
  const most =
    burn.per_hour_at_most === null
      ? ''
      : `; with ${burn.not_counted.length === 1 ? 'it' : 'them'} ${roublesText(burn.per_hour_at_most)} an hour at most`;
  const who = isPriced ? 'the published API does not say' : 'nobody says';
  return `${list.join(', ')}: ${who} what that costs${most}`;
}

function emptyFacts({ instances, drives, unread }: Overview): Fact[] {
  const isRead = (name: string) => !unread.some(({ part }) => part === name);
  return [
    {
      label: 'Machines',
      text: instances.length === 0 && isRead('instances') ? 'none known to this computer' : '',
    },
    { label: 'Drives', text: drives.length === 0 && isRead('drives') ? 'none' : '' },
  ];
}

function instanceTable(
  instances: readonly InstanceRow[],
  { all, typed }: ScreenOf,
  now: number,
): Block {
  const sorted = [...instances].sort((a, b) => rank(a) - rank(b) || byPrice(a, b));
  const shown = all || sorted.length <= MOST_ROWS + 1 ? sorted : sorted.slice(0, MOST_ROWS);
  return {
    kind: 'table',
    heading: `Machines known to this computer: ${instances.length}`,
    columns: [
      { header: 'NAME' },
      { header: 'STATUS', kind: 'status' },
      { header: 'PER HOUR', kind: 'money' },
      { header: 'AGE' },
      { header: 'PAID UNTIL', kind: 'time' },
      { header: 'OFFER' },
    ],
    rows: shown.map((row) => [
      row.name,
      statusCell(row, now),
      row.price_per_hour_snapshot,
      row.age_seconds === null ? null : spanText(row.age_seconds),
      row.paid_until,
      row.offer,
    ]),
    more: moreText(sorted.slice(shown.length), typed('gpucloud instances list')),
  };
}

/** What has to be looked at first, then what bills, then the rest. */
function rank({ status, bills, unread }: InstanceRow): number {
  if (status === 'UNKNOWN') return 0;
  if (['GONE', 'ERROR', 'UNREAD'].includes(status) || unread) return 1;
  return bills === true ? 2 : bills === null ? 3 : 4;
}

function statusCell({ status, unread, last_seen_at: seen }: InstanceRow, now: number): Cell {
  return unread && seen !== null ? `${status} ${relative(Date.parse(seen), now)}` : status;
}

function moreText(rows: readonly InstanceRow[], command: string): string | undefined {
  if (rows.length === 0) return undefined;
  const prices = rows
    .filter(({ bills }) => bills === true)
    .map((row) => row.price_per_hour_snapshot);
  const sum = prices.reduce((total, price) => {
    const amount = money(price ?? '');
    return amount.ok ? total.plus(amount.value) : total;
  }, zero());
  return `and ${rows.length} more, ${kopecksText(sum)} ₽ an hour: ${command}, or status --all`;
}

function driveTable({ drives, instances }: Overview, all: boolean, now: number): Block {
  const sorted = [...drives].sort((a, b) => driveRank(a) - driveRank(b));
  const shown = all || sorted.length <= MOST_ROWS + 1 ? sorted : sorted.slice(0, MOST_ROWS);
  const names = new Map(instances.map(({ id, name }) => [id, name]));
  const isAny = shown.some(({ status }) => status === 'SUSPENDED');
  return {
    kind: 'table',
    heading: `Drives: ${drives.length}`,
    columns: [
      { header: 'NAME' },
      { header: 'STATUS', kind: 'status' },
      { header: 'PER HOUR', kind: 'money' },
      { header: 'SIZE', kind: 'gigabytes' },
      { header: 'MACHINE' },
      ...(isAny ? [{ header: 'LEFT' }] : []),
    ],
    rows: shown.map((row) => {
      const instance = row.current_instance_id;
      return [
        row.name ?? row.id,
        row.status,
        row.price_per_hour,
        row.size_gb,
        // A free drive is not at the instance whose id is not known either.
        instance === null ? null : (names.get(instance) ?? instance),
        ...(isAny ? [leftCell(row, now)] : []),
      ];
    }),
    more:
      shown.length === sorted.length
        ? undefined
        : `and ${sorted.length - shown.length} more: gpucloud drives list, or status --all`,
  };
}

function driveRank({ status }: DriveRow): number {
  return status === 'SUSPENDED' || status === 'ERROR' ? 0 : 1;
}

/** `6 days 20 h`: until a suspended drive may be deleted. */
function leftCell(row: DriveRow, now: number): Cell {
  if (row.status !== 'SUSPENDED') return null;
  return row.deleted_at_earliest === null
    ? '7 days at most'
    : spanText(Math.max(0, (Date.parse(row.deleted_at_earliest) - now) / 1000));
}
