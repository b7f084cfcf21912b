import { deadlineHeader, type Enforcement, shortHeader } from '../../instances/deadlines/armed.ts';
import { idleText } from '../../instances/deadlines/idle-time.ts';
import type { AccountDrive, AccountInstance, Overview } from '../../json-results/money.ts';
import { byPrice } from '../../money/rows.ts';
import {
  type Block,
  type Cell,
  type Fact,
  field,
  type Item,
  type View,
} from '../../output/output.ts';
import { minuteText, relative, spanText } from '../../output/time.ts';
import { inRoubles, isAboveZero, priceIn, roublesText, zero } from '../../rules/money.ts';
import { GONE, mayBill, UNKNOWN } from '../../rules/statuses.ts';
import type { Typed } from './overview.ts';

/** The whole status in one row, for row formats. JSON and the screen show more. */
export const statusView: View<Overview> = {
  columns: [
    field('as_of', 'AS OF', { kind: 'time' }),
    field('balance', 'BALANCE', { kind: 'money' }),
    { id: 'per_hour', header: 'PER HOUR', kind: 'money', value: (s) => s.burn.per_hour },
    { id: 'per_day', header: 'PER DAY', kind: 'money', value: (s) => s.burn.per_day },
    { id: 'per_month', header: 'PER 30 DAYS', kind: 'money', value: (s) => s.burn.per_month },
    field('hours_left', 'HOURS LEFT'),
    field('runs_out_at', 'RUNS OUT', { kind: 'time' }),
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
  // A status has no ID.
  id: () => null,
  empty: 'No status.',
  // Ignores charges, since their window moves with the clock. A new charge also changes the
  // balance.
  steady: ({ as_of, hours_left, runs_out_at, charges, ...status }) => ({
    ...status,
    instances: status.instances.map(({ age_seconds, idle_seconds, ...row }) => row),
    attention: status.attention.map(({ code, resource }) => [code, resource]),
    unread: status.unread.map(({ part, code }) => [part, code]),
  }),
};

/** IDs for `-q`. */
export const idView: View<AccountInstance> = {
  columns: [],
  id: ({ id }) => id,
  empty: 'No billing instances.',
};

type Attention = Overview['attention'][number];

interface ScreenOf {
  /** The account that pays; undefined with a single profile. */
  readonly account: string | undefined;
  readonly enforcement: Enforcement;
  /** Whether to show all rows, as in a pipe. A terminal shows only the first rows. */
  readonly all: boolean;
  readonly typed: Typed;
}

/** Rows per table, so that the rest of the screen stays visible. */
const MOST_ROWS = 12;
/** Kinds of problems, for the same reason. */
const MOST_PROBLEMS = 3;
/** Problems of one kind that differ in more than a name. */
const MOST_ALIKE = 2;
/** Names per problem. */
const MOST_NAMES = 3;

export function statusBlocks(
  status: Overview,
  { account = '', enforcement, all, typed }: ScreenOf,
): Block[] {
  const now = Date.parse(status.as_of);
  const isDated = status.instances.some(
    ({ ends_at, bills }) => ends_at !== null && bills !== false,
  );
  const { by } = enforcement.deadline;
  const facts = [
    { label: 'Account', text: account },
    ...moneyLines(status, now),
    { label: 'Deadlines', text: isDated && by !== undefined ? `enforced ${by}` : '' },
  ];
  return [
    { kind: 'facts', facts: [...facts, ...emptyFacts(status)] },
    {
      kind: 'items',
      heading: 'Needs attention',
      items: all ? status.attention.map(itemOf) : problemsOf(status, typed),
    },
    instanceTable(status.instances, { enforcement, all, typed }, now),
    driveTable(status, { all, typed }, now),
    {
      kind: 'facts',
      heading: 'Next',
      facts: status.next.map(({ command, purpose }) => ({
        label: `  ${purpose}`,
        text: command,
        command: true,
      })),
    },
  ];
}

function itemOf({ message, command }: Pick<Attention, 'message' | 'command'>): Item {
  const text = command === null ? message : `${message}:`;
  return { text, colour: 'yellow', command: command ?? undefined };
}

/** Shows the first problems of the most serious kinds, and counts the others. */
function problemsOf({ attention, instances, drives }: Overview, typed: Typed): Item[] {
  const nameOf = (id: string | null) =>
    [...instances, ...drives].find((row) => row.id === id)?.name ?? id ?? '';
  /** Equal for problems that differ only in what they name. */
  const shapeOf = ({ message, command, resource }: Attention) =>
    [message, command]
      .join()
      .replaceAll(nameOf(resource), '')
      .replaceAll(resource ?? '', '');
  const kinds = [...new Set(attention.map(({ code }) => code))];
  // Counting one hidden kind takes the same space.
  const shown = kinds.length > MOST_PROBLEMS + 1 ? kinds.slice(0, MOST_PROBLEMS) : kinds;
  const groups = shown.flatMap((kind) => {
    const all = attention.filter(({ code }) => code === kind);
    const shapes = [...new Set(all.map(shapeOf))].slice(0, MOST_ALIKE);
    return shapes.map((shape) => all.filter((one) => shapeOf(one) === shape));
  });
  const items = groups.flatMap(([first, ...alike]) => {
    if (first === undefined) return [];
    const names = alike.slice(0, MOST_NAMES).map(({ resource }) => nameOf(resource));
    const more = alike.length > MOST_NAMES ? ` and ${alike.length - MOST_NAMES} more` : '';
    const same = `The same for ${names.join(', ')}${more}`;
    return [
      itemOf(first),
      ...(alike.length === 0 ? [] : [itemOf({ message: same, command: null })]),
    ];
  });
  const hidden = attention.length - groups.flat().length;
  if (hidden === 0) return items;
  const message = `${hidden} more ${hidden === 1 ? 'problem' : 'problems'}`;
  return [...items, itemOf({ message, command: typed(['status', '--all']) })];
}

function emptyFacts({ instances, drives, burn, unread }: Overview): Fact[] {
  const isRead = (name: string) => !unread.some(({ part }) => part === name);
  // A record that is unreadable here may be of an instance.
  const isWhole = isRead('instances') && burn.instances_per_hour !== null;
  return [
    {
      label: 'Instances',
      text: instances.length === 0 && isWhole ? 'no known instances' : '',
    },
    { label: 'Drives', text: drives.length === 0 && isRead('drives') ? 'none' : '' },
  ];
}

function instanceTable(
  instances: readonly AccountInstance[],
  { enforcement, all, typed }: Omit<ScreenOf, 'account'>,
  now: number,
): Block {
  const sorted = [...instances].sort((a, b) => rank(a) - rank(b) || byPrice(a, b));
  const shown = firstRows(sorted, all);
  // Shows the deadline instead of the paid time: 80 columns have room for one, and the paid time
  // renews itself.
  const isAny = shown.some(({ ends_at }) => ends_at !== null);
  const isIdle = shown.some(({ if_idle_seconds: rule }) => rule !== null);
  return {
    kind: 'table',
    heading: `Instances known to this computer: ${instances.length}`,
    columns: [
      { header: 'NAME' },
      { header: 'STATUS', kind: 'status' },
      { header: 'PER HOUR', kind: 'money' },
      isAny
        ? { header: deadlineHeader(enforcement), short: shortHeader(enforcement), kind: 'time' }
        : { header: 'PAID UNTIL', kind: 'time' },
      { header: 'AGE' },
      ...(isIdle ? [{ header: 'IDLE' }] : []),
      { header: 'OFFER' },
    ],
    rows: shown.map((row) => [
      row.name,
      statusCell(row, now),
      row.price_per_hour_snapshot,
      isAny ? row.ends_at : mayBill(row.status) ? row.paid_until : null,
      row.age_seconds === null ? null : spanText(row.age_seconds),
      ...(isIdle ? [idleText(row)] : []),
      row.offer,
    ]),
    // On a narrow terminal, the deadline matters more than a whole name, and both more than the rest.
    needed: 4,
    more: moreText(sorted.slice(shown.length), typed(['instances', 'list'])),
  };
}

/** Shows one extra row, since a line that counts the hidden row needs the same space. */
function firstRows<T>(rows: readonly T[], all: boolean): readonly T[] {
  return all || rows.length <= MOST_ROWS + 1 ? rows : rows.slice(0, MOST_ROWS);
}

/** Sorts rows that need attention first, then rows that bill, then the rest. */
function rank({ status, bills, unread }: AccountInstance): number {
  if (status === UNKNOWN) return 0;
  if (status === GONE || status === 'ERROR' || unread) return 1;
  return bills === true ? 2 : bills === null ? 3 : 4;
}

function statusCell({ status, unread, last_seen_at: seen }: AccountInstance, now: number): Cell {
  return unread && seen !== null ? `${status} ${relative(Date.parse(seen), now)}` : status;
}

function moreText(rows: readonly AccountInstance[], command: string): string | undefined {
  if (rows.length === 0) return undefined;
  const billing = rows.filter(({ bills }) => bills === true);
  const sum = billing.reduce(
    (total, row) => total.plus(priceIn(row.price_per_hour_snapshot) ?? 0),
    zero(),
  );
  return `and ${rows.length} more, ${inRoubles(sum)} per hour: ${command}, or status --all`;
}

function driveTable(
  { drives, instances }: Overview,
  { all, typed }: Pick<ScreenOf, 'all' | 'typed'>,
  now: number,
): Block {
  const sorted = [...drives].sort((a, b) => driveRank(a) - driveRank(b));
  const shown = firstRows(sorted, all);
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
      { header: 'INSTANCE' },
      ...(isAny ? [{ header: 'LEFT' }] : []),
    ],
    rows: shown.map((row) => {
      const instance = row.current_instance_id;
      return [
        row.name ?? row.id,
        row.status,
        row.price_per_hour,
        row.size_gb,
        // A drive without an instance must not match a request, whose ID is null too.
        instance === null ? null : (names.get(instance) ?? instance),
        ...(isAny ? [leftCell(row, now)] : []),
      ];
    }),
    more:
      shown.length === sorted.length
        ? undefined
        : `and ${sorted.length - shown.length} more: ${typed(['drives', 'list'])}, or status --all`,
  };
}

function driveRank({ status }: AccountDrive): number {
  return status === 'SUSPENDED' || status === 'ERROR' ? 0 : 1;
}

/** Formats the time until the service may delete a suspended drive: `6 days 20 h`. */
function leftCell(row: AccountDrive, now: number): Cell {
  if (row.status !== 'SUSPENDED') return null;
  return row.deleted_at_earliest === null
    ? 'within 7 days'
    : spanText(Math.max(0, (Date.parse(row.deleted_at_earliest) - now) / 1000));
}

/** Formats balance, runway and burn rate for the screen. */
function moneyLines(status: Overview, now: number): Fact[] {
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
  return unread.some(({ part }) => part === 'profile') ? 'unreadable' : 'unknown';
}

function lastsOf(status: Overview, now: number): Pick<Fact, 'text' | 'colour'> {
  const { hours_left: hours, hours_left_unknown: why, runs_out_at: end } = status;
  if (why === 'price_not_told') return { text: 'unknown: a price is missing' };
  if (hours === null) {
    const rows = [...status.instances, ...status.drives];
    const isIdle = why === 'nothing_is_spent' && rows.every(({ bills }) => bills === false);
    return { text: isIdle ? 'no known costs' : '' };
  }
  const more = isAboveZero(status.charges?.unexplained) ? ' plus unexplained charges' : '';
  const until = end === null ? '' : `, until ${minuteText(Date.parse(end))}`;
  const left = end === null ? Number(hours) * 3600 : (Date.parse(end) - now) / 1000;
  return {
    text: left <= 0 ? 'used up' : `${spanText(left)}${until}, at this rate${more}`,
    colour: left < 24 * 3600 ? 'red' : undefined,
  };
}

/** Splits the burn rate between instances and drives if both bill. */
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
    // Omits a pending request: the attention list describes it in detail.
    if (id === null) continue;
    isPriced &&= reason !== 'price_not_told';
    const text =
      reason === 'price_not_told' ? `${kind}(s) with an unknown price` : `${status} ${kind}(s)`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  if (counts.size === 0) return '';
  const list = [...counts].map(
    ([text, count]) => `${count} ${text.replace('(s)', count === 1 ? '' : 's')}`,
  );
  const isOne = [...counts.values()].reduce((sum, count) => sum + count, 0) === 1;
  const most =
    burn.per_hour_at_most === null
      ? ''
      : `. If ${isOne ? 'it bills' : 'they bill'} too, the burn rate is up to ${roublesText(burn.per_hour_at_most)} per hour`;
  const unknown = isPriced ? 'the API does not document the cost' : 'cost unknown';
  return `${list.join(', ')}: ${unknown}${most}`;
}
