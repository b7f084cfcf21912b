import type { Transaction, TransactionsQuery } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { pageView, tellOtherPages } from '../../cli/one-page.ts';
import { ruled } from '../../cli/parse.ts';
import { tellUndocumented, typesOf } from '../../cli/types.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { wholeHistory } from '../../money/history.ts';
import { type Moment, since, until } from '../../rules/moment.ts';
import { count } from '../../rules/numbers.ts';
import { isWithin, type Period, periodOf, periodWords } from './period.ts';
import { createTotals, type Totals } from './totals.ts';
import { transactionView } from './view.ts';

/** API document: Transaction. New types may come, so that others are let through. */
const TYPES: readonly string[] = ['DEPOSIT', 'USAGE_CHARGE', 'BONUS', 'REFUND'];

export function registerTransactions(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: transactionView,
    completes: { '--type': { list: TYPES.map((type) => type.toLowerCase()) } },
    notes:
      'The totals below the rows are exact, and of COMPLETED transactions alone. The service has no\n' +
      'filter by time: --since and --until read the whole history (or the one --page) and filter here.',
    examples: [
      'gpucloud billing transactions',
      'gpucloud billing transactions --type deposit,bonus --all',
      'gpucloud billing transactions --since 7d',
      'gpucloud billing transactions --since 2026-01-01 --until 2026-01-31 -o csv > january.csv',
    ],
  })
    .option(
      '--type <types>',
      `${TYPES.join(', ').toLowerCase()}: one or more, by commas`,
      typesOf(TYPES),
    )
    .option('--page <number>', 'which page', ruled('--page', count))
    .option('--limit <number>', 'transactions on a page', ruled('--limit', count))
    .option('--all', 'every page')
    .option('--since <time>', 'from this date, time, or so long ago (7d)', ruled('--since', since))
    .option('--until <time>', 'up to this date or time', ruled('--until', until))
    .action(({ all, ...flags }, command) =>
      transactions({ ...flags, all: all === true }, frame.context(command)),
    );
}

export interface TransactionsInput {
  readonly type?: string[] | undefined;
  readonly page?: number | undefined;
  readonly limit?: number | undefined;
  readonly all: boolean;
  readonly since?: Moment | undefined;
  readonly until?: Moment | undefined;
}

export async function transactions(input: TransactionsInput, context: Context): Promise<void> {
  const { page, limit, type = [] } = input;
  if (input.all && page !== undefined) {
    throw usageError('--all and --page exclude each other');
  }
  const period = periodOf(input, context.clock.now());
  tellWhatIsAsked(input, period, context);

  const query: TransactionsQuery = {
    ...(limit === undefined ? {} : { limit }),
    ...(type.length === 0 ? {} : { type }),
  };
  const api = await context.api();
  // People alone read them; a script has the rows, and a million of them to go through fast.
  const totals = context.out.format === 'table' ? createTotals() : undefined;
  let undated = 0;
  const chosen = (page: readonly Transaction[]): readonly Transaction[] =>
    period === undefined
      ? page
      : page.filter((row) => {
          const inside = isWithin(row, period);
          if (inside === undefined) undated += 1;
          return inside !== false;
        });

  if (input.all || (period !== undefined && page === undefined)) {
    const history = wholeHistory(api, query, context);
    await context.out.list({ pages: counted(history, chosen, totals) }, transactionView);
  } else {
    const answer = await api.billing.transactions({
      ...query,
      ...(page === undefined ? {} : { page }),
    });
    const { meta, data } = answer;
    const shown = { meta, rows: data.length, asked: page, what: 'transactions' };
    const rows = { pages: counted([data], chosen, totals) };
    await context.out.list(rows, pageView(transactionView, shown));
    tellOtherPages(shown, context);
  }
  if (undated > 0) {
    context.err.warn(`Shown although their time could not be read: ${undated}.`);
  }
  for (const line of totals?.lines() ?? []) {
    context.err.note(line);
  }
}

async function* counted(
  pages: Iterable<readonly Transaction[]> | AsyncIterable<readonly Transaction[]>,
  chosen: (page: readonly Transaction[]) => readonly Transaction[],
  totals: Totals | undefined,
): AsyncGenerator<readonly Transaction[]> {
  for await (const page of pages) {
    const rows = chosen(page);
    for (const row of rows) totals?.add(row);
    yield rows;
  }
}

function tellWhatIsAsked(
  { type = [], page }: TransactionsInput,
  period: Period | undefined,
  context: Context,
): void {
  tellUndocumented(type, TYPES, context);
  if (period !== undefined) {
    const read = page === undefined ? 'the whole history is read' : `page ${page} alone is read`;
    context.err.note(
      `The service has no filter by time: ${read} and filtered here, ${periodWords(period)}.`,
    );
  }
}
