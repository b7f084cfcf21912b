import type { Api } from '../../api/index.ts';
import { oneOf, ruled } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { STEPS, type Step, startOf, zoneText } from '../../money/calendar.ts';
import { wholeHistory } from '../../money/history.ts';
import { type Books, netOf, openBooks } from '../../money/spend.ts';
import { localTime } from '../../output/time.ts';
import { inRoubles, zero } from '../../rules/money.ts';
import { since, until } from '../../rules/times.ts';
import { periodAt } from './period.ts';
import { rowOf, spendBlocks, spendView } from './spend-view.ts';

/** The default of --since. */
const BACK: Readonly<Record<Step, number>> = { day: 29, week: 11, month: 11 };

export const spend = action({
  view: spendView,
  notes:
    'Spent is charges minus refunds. Deposits, bonuses and other types have their own ' +
    'columns. Only COMPLETED transactions count.\n\n' +
    'Days, weeks (from Monday) and months are in your time zone; set TZ=UTC for UTC. The ' +
    'default is 30 days, 12 weeks or 12 months. The service has no time filter, so the ' +
    'whole history is read.',
  examples: [
    'gpucloud billing spend',
    'gpucloud billing spend --by month --since 2026-01-01',
    'gpucloud billing spend --by week --since 90d -o csv > weeks.csv',
    'TZ=UTC gpucloud billing spend --json | jq -r ".[-1].spent"',
  ],
  takes: (command) =>
    command
      .option('--by <step>', `${STEPS.join(', ')} (default: day)`, oneOf('--by', STEPS))
      .option(
        '--since <time>',
        'start at this date, time or age, such as 90d',
        ruled('--since', since),
      )
      .option('--until <time>', 'end at this date or time', ruled('--until', until)),
  run: async (context, { by = 'day', ...flags }) => {
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
        throw usageError(`--since is in the future: ${new Date(from).toISOString()}`);
      }
      return { from, to };
    };
    const { books, from, to } = await readBooks(by, range, api, context);
    const end = context.serviceClock.now();
    const rows = books
      .rows(end, { trimmed: flags.since === undefined })
      .map((spent) => rowOf(spent, by));
    if (out.people && out.terminal && rows.length > 0) await out.screen(spendBlocks(rows), end);
    else await out.list(rows, spendView);
    if (out.format === 'table' && rows.length > 0) {
      for (const line of totalLines(books, from, Math.min(to, end))) err.note(line);
      err.note(`Times are local: ${zoneText(end)}.`);
    }
    // In every format, since a sum with gaps is a different sum.
    for (const line of books.left.notes()) err.note(line);
    for (const line of books.left.warnings()) err.warn('incomplete', line);
  },
});

interface Range {
  readonly from: number;
  readonly to: number;
}

/** `range` is computed after the first response has set the service's clock. */
async function readBooks(
  step: Step,
  range: () => Range,
  api: Api,
  context: Context,
): Promise<Range & { readonly books: Books }> {
  const progress = context.err.progress('Reading the history');
  let opened: (Range & { readonly books: Books }) | undefined;
  const open = () => {
    const { from, to } = range();
    return { from, to, books: openBooks({ step, from, to }) };
  };
  let count = 0;
  try {
    for await (const page of wholeHistory(api, {}, context)) {
      opened ??= open();
      for (const transaction of page) opened.books.add(transaction);
      count += page.length;
      progress.update(`Reading the history: ${count} transactions`);
    }
  } finally {
    progress.done();
  }
  return opened ?? open();
}

/** One line for spending and one for the rest: together they exceed most terminals. */
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
        `${type} ${inRoubles(amount)} (${direction?.toLowerCase() ?? 'unknown direction'}, not in any sum)`,
    ),
  ];
  return [
    `Spent ${spent} from ${shortTime(from)} to ${shortTime(to)}.`,
    ...(also.length === 0 ? [] : [`Besides: ${also.join(', ')}.`]),
  ];
}

/** `2026-03-01`, with the time of day if that is not midnight. */
function shortTime(at: number): string {
  const [day, time = ''] = localTime(at).split(' ');
  return time === '00:00:00' ? `${day}` : `${day} ${time.slice(0, 5)}`;
}
