import type { Api } from '../../api/index.ts';
import { oneOf, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { throwAll, usageError } from '../../errors.ts';
import { readKnownInstances } from '../../instances/known-instances.ts';
import { exactCosts } from '../../jobs/end/cost.ts';
import { namesText } from '../../jobs/phases.ts';
import type { InstanceSpending, Spending } from '../../json-results/money.ts';
import { spendingByInstance, unchargedIn } from '../../money/by-instance.ts';
import { wholeHistory } from '../../money/history.ts';
import {
  type Books,
  labelOf,
  netOf,
  openBooks,
  type Spent,
  STEPS,
  type Step,
  startOf,
  zoneText,
} from '../../money/spend.ts';
import { type Block, type Column, field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { local, localTime } from '../../output/time.ts';
import { inRoubles, kopecksText, roublesText, zero } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { since, until } from '../../rules/times.ts';
import { periodAt } from './period.ts';

function rowOf(spent: Spent, by: Step): Spending {
  const { sums, other, count, from, to } = spent;
  return {
    period: labelOf(by, startOf(by, from)),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    spent: kopecksText(netOf(spent)),
    charged: kopecksText(sums.charged),
    refunded: kopecksText(sums.refunded),
    deposited: kopecksText(sums.deposited),
    bonus: kopecksText(sums.bonus),
    other: other.map(({ type, direction, amount, count: times }) => ({
      type,
      direction: direction ?? null,
      amount: kopecksText(amount),
      count: times,
    })),
    transactions: count,
  };
}

const columns: readonly Column<Spending>[] = [
  field('period', 'PERIOD'),
  field('spent', 'SPENT', { kind: 'money' }),
  field('charged', 'CHARGED', { kind: 'money' }),
  field('refunded', 'REFUNDED', { kind: 'money' }),
  field('deposited', 'DEPOSITED', { kind: 'money' }),
  field('bonus', 'BONUS', { kind: 'money' }),
  {
    id: 'other',
    header: 'OTHER',
    value: (r) => r.other.map(({ type, amount }) => `${type} ${amount}`).join(' '),
    hidden: true,
  },
  field('transactions', 'TRANSACTIONS', { hidden: true }),
  field('from', 'FROM', { kind: 'time', hidden: true }),
  field('to', 'TO', { kind: 'time', hidden: true }),
];

const spendView: View<Spending> = {
  columns,
  id: (r) => r.period,
  empty: 'No transactions.',
};

/** Names the row of the rest, which is below zero if the estimates exceed the charges. */
function restName({ cost_estimate: rest }: InstanceSpending): string {
  return rest?.startsWith('-') === true ? 'not charged' : 'not attributed';
}

const byInstanceView: View<InstanceSpending> = {
  columns: [
    { id: 'name', header: 'NAME', value: (row) => row.name ?? restName(row) },
    field('id', 'ID', { spared: true }),
    field('status', 'STATUS', { kind: 'status' }),
    field('price_per_hour', 'PER HOUR', { kind: 'money' }),
    field('hours', 'HOURS'),
    field('cost_estimate', 'COST ESTIMATE', { kind: 'money' }),
  ],
  id: (r) => r.id,
  empty: 'No known instances.',
};

/** For people, if the hours of a row may count too much. */
const withStops: View<InstanceSpending> = {
  ...byInstanceView,
  columns: [
    ...byInstanceView.columns,
    { id: 'was_stopped', header: 'NOTE', value: (row) => row.was_stopped && 'was stopped' },
  ],
};

/**
 * Shows a bar per period in proportion to its spending. Only the bar's length is rounded, never an
 * amount.
 */
function spendBlocks(rows: readonly Spending[]): Block[] {
  const most = Math.max(0, ...rows.map(({ spent }) => Number(spent)));
  const bars = rows.map(({ period, spent }) => ({
    label: period,
    value: roublesText(spent),
    share: Number(spent) / most,
  }));
  return [{ kind: 'bars', bars }];
}

/** Default --since: periods before the current one. */
const BACK: Readonly<Record<Step, number>> = { day: 29, week: 11, month: 11 };

export const spend = verb({
  summary: 'Show spending by day, week, month or instance',
  tool: { allow: 'read' },
  view: spendView,
  notes:
    'Spent is charges minus refunds. Deposits, bonuses and other types have their own ' +
    'columns. Only COMPLETED transactions count.\n\n' +
    'Days, weeks (from Monday) and months are in your time zone; set TZ=UTC for UTC. The ' +
    'default is 30 days, 12 weeks or 12 months. The service has no time filter, so ' +
    'spend reads the full transaction history.\n\n' +
    "The service's charges don't name instances. --by instance estimates the cost of each known " +
    'instance: its price times the hours since its creation, or until paid_until if it is stopped or ' +
    'ended. The last row is the rest of the charges, such as drives. If the estimates exceed the ' +
    'charges, it is "not charged" and below zero.',
  examples: [
    'gpucloud billing spend',
    'gpucloud billing spend --by month --since 2026-01-01',
    'gpucloud billing spend --by week --since 90d -o csv > weeks.csv',
    'gpucloud billing spend --by instance --since 7d',
    'TZ=UTC gpucloud billing spend --json | jq -r ".[-1].spent"',
  ],
  takes: (command) =>
    command
      .option(
        '--by <step>',
        `${STEPS.join(', ')} or instance (default: day)`,
        oneOf('--by', [...STEPS, 'instance']),
      )
      .option(
        '--since <time>',
        'include transactions after this time (a date: its start, 90d: 90 days ago)',
        ruled('--since', since),
      )
      .option(
        '--until <time>',
        'include transactions before this time (a date: its end, 7d: 7 days ago)',
        ruled('--until', until),
      ),
  run: async (context, { by: unit = 'day', ...flags }) => {
    const by = unit === 'instance' ? 'day' : unit;
    const { out, err } = context;
    const api = await context.api();
    const period = periodAt(flags, context);
    const range = () => {
      const now = context.serviceClock.now();
      const to = period?.().to ?? Number.POSITIVE_INFINITY;
      const from =
        period === undefined || flags.since === undefined
          ? startOf(by, Math.min(to - 1, now), -BACK[by])
          : period().from;
      if (from > now) {
        throw usageError(`--since is in the future: ${local(from)}`);
      }
      return { from, to };
    };
    const { books, from, to } = await readBooks(by, range, api, context);
    // Only people see a sum with gaps, together with the error: a program would take it for whole.
    if (out.format !== 'table') books.left.assertWhole();
    const end = context.serviceClock.now();
    if (unit === 'instance') {
      await showByInstance(books, { from, to: Math.min(to, end) }, api, context);
      return books.left.assertWhole();
    }
    const rows = books
      .rows(end, { trimmed: flags.since === undefined })
      .map((spent) => rowOf(spent, by));
    if (out.people && out.terminal && rows.length > 0) await out.screen(spendBlocks(rows), end);
    else await out.list(rows, spendView);
    if (out.format === 'table' && rows.length > 0) {
      for (const line of totalLines(books, from, Math.min(to, end))) err.note(line);
      err.note(`Times are local: ${zoneText(end)}.`);
    }
    for (const line of books.left.notes()) err.note(line);
    for (const line of books.left.warnings()) err.warn('odd_response', line);
    books.left.assertWhole();
  },
});

/** Prints the estimates. Throws afterwards if an instance could not be read. */
async function showByInstance(
  books: Books,
  { from, to }: Range,
  api: Api,
  context: Context,
): Promise<void> {
  const { out, err } = context;
  const how = { all: true, drives: api.drives.list(), now: context.clock.now() };
  const { rows, faults, driveFault } = await readKnownInstances(how, api, context);
  const charged = netOf(books.total());
  const exact = await exactCosts(rows, context);
  const spending = spendingByInstance(rows, charged, { from, to }, exact);
  const stopped = spending.filter(({ was_stopped }) => was_stopped === true);
  await out.list(spending, out.people && stopped.length > 0 ? withStops : byInstanceView);
  err.note(`Spent ${inRoubles(charged)} ${rangeText(from, to)}.`);
  err.note(
    'Estimates: price times hours since creation, for an instance that is stopped or ended until paid_until, or the exact cost of a finished job.',
  );
  const [first, ...others] = stopped;
  if (first !== undefined) {
    const [were, their] = others.length === 0 ? ['was', 'its'] : ['were', 'their'];
    const events = ['instances', 'events', typedName(first.name ?? '', first.id ?? '')];
    err.note(
      `${namesText(stopped.map(({ name }) => name ?? ''))} ${were} stopped for a time, which ${their} hours and cost may count too. To see ${their} charges: ${gpucloud(...events, '--type', 'BILLING')}`,
    );
  }
  const rest = spending.at(-1)?.cost_estimate ?? '';
  if (rest.startsWith('-')) {
    const uncharged = unchargedIn(rows, { from, to });
    const most = uncharged?.gt(0) ? ` (up to ${inRoubles(uncharged)} now)` : '';
    err.note(
      `The charges are ${roublesText(rest.slice(1))} less than the estimates: these also count time before an instance started, while it was stopped, and since its last charge${most}.`,
    );
  }
  throwAll([...faults, ...(driveFault === undefined ? [] : [driveFault])]);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Computes `range` after the first response: that sets the service's clock. */
async function readBooks(
  step: Step,
  range: () => Range,
  api: Api,
  context: Context,
): Promise<Range & { readonly books: Books }> {
  const progress = context.err.progress('Reading transactions');
  let opened: (Range & { readonly books: Books }) | undefined;
  const open = () => {
    const { from, to } = range();
    return { from, to, books: openBooks({ step, from, to }) };
  };
  let count = 0;
  try {
    for await (const page of wholeHistory(api, {})) {
      opened ??= open();
      for (const transaction of page) opened.books.add(transaction);
      count += page.length;
      progress.update(`Reading transactions: ${count}`);
    }
  } finally {
    progress.done();
  }
  return opened ?? open();
}

/**
 * Prints spending and other types on separate lines, since one line would not fit most terminals.
 */
function totalLines(books: Books, from: number, to: number): string[] {
  const { sums, other } = books.total();
  const spent = inRoubles(netOf({ sums }));
  const named = [
    { name: 'refunded', amount: sums.refunded },
    { name: 'deposited', amount: sums.deposited },
    { name: 'bonuses', amount: sums.bonus },
  ];
  const also = [
    ...named
      .filter(({ amount }) => !amount.eq(zero()))
      .map(({ name, amount }) => `${name} ${inRoubles(amount)}`),
    ...other.map(
      ({ type, direction, amount }) =>
        `${type} ${inRoubles(amount)} (${direction?.toLowerCase() ?? 'unknown direction'}, not included)`,
    ),
  ];
  return [
    `Spent ${spent} ${rangeText(from, to)}.`,
    ...(also.length === 0 ? [] : [`Also: ${also.join(', ')}.`]),
  ];
}

/** Formats `from 2026-03-01 to 2026-03-31 18:00`. An end at midnight is shown as the day before. */
function rangeText(from: number, to: number): string {
  const [first, last] = [dayAndTime(from), dayAndTime(to)];
  const end = isMidnight(last) ? dayAndTime(to - 1).day : `${last.day} ${last.time}`;
  return `from ${isMidnight(first) ? first.day : `${first.day} ${first.time}`} to ${end}`;
}

function isMidnight({ time }: { readonly time: string }): boolean {
  return time === '00:00';
}

function dayAndTime(at: number): { readonly day: string; readonly time: string } {
  const [day = '', time = ''] = localTime(at).split(' ');
  return { day, time: time.slice(0, 5) };
}
