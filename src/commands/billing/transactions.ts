import type { Transaction, TransactionsQuery } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { noteUndocumented, typesOf } from '../../command-line/documented-words.ts';
import { noteOtherPages, pageView } from '../../command-line/pagination.ts';
import { ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import { lazy } from '../../lazy.ts';
import { wholeHistory } from '../../money/history.ts';
import { createTotals } from '../../money/ledger.ts';
import { instant } from '../../output/time.ts';
import { count } from '../../rules/numbers.ts';
import { since, until } from '../../rules/times.ts';
import { periodAt, periodText } from './period.ts';
import { transactionView } from './view.ts';

/** Documented types (API document: Transaction). Accepts others, since the service may add some. */
const TYPES: readonly string[] = ['DEPOSIT', 'USAGE_CHARGE', 'BONUS', 'REFUND'];

export const transactions = verb({
  summary: 'List deposits, charges, bonuses and refunds',
  tool: { allow: 'read' },
  view: transactionView,
  completes: { '--type': { list: TYPES.map((type) => type.toLowerCase()) } },
  notes:
    'Totals below the rows count only COMPLETED transactions. The service has no time ' +
    'filter, so --since and --until read the full history and filter it on this computer. ' +
    'Dates are in your time zone.',
  examples: [
    'gpucloud billing transactions',
    'gpucloud billing transactions --type deposit,bonus --all',
    'gpucloud billing transactions --since 7d',
    'gpucloud billing transactions --since 2026-01-01 -o csv > 2026.csv',
  ],
  takes: (command) =>
    command
      .option(
        '--type <types>',
        `${TYPES.join(', ').toLowerCase()}; separate several by commas`,
        typesOf(TYPES),
      )
      .option('--page <number>', 'page to print', ruled('--page', count))
      .option('--limit <number>', 'transactions per page', ruled('--limit', count))
      .addOption(new Option('--all', 'print all pages').conflicts('page'))
      .option(
        '--since <time>',
        'show transactions after this time (a date: its start, 7d: 7 days ago)',
        ruled('--since', since),
      )
      .option(
        '--until <time>',
        'show transactions before this time (a date: its end, 1d: 1 day ago)',
        ruled('--until', until),
      ),
  run: async (context, { all = false, page, limit, type = [], ...flags }) => {
    const { out, err } = context;
    const api = await context.api();
    const period = periodAt(flags, context);
    noteUndocumented(type, TYPES, context);
    const noteFilter = lazy(() => {
      if (period === undefined) return;
      const what = page === undefined ? 'the full transaction history' : `only page ${page}`;
      err.note(
        `Filtering ${what} on this computer, since the service has no time filter: ${periodText(period())}.`,
      );
    });

    // Totals are for people only: a script's output may have a million rows.
    const totals = out.format === 'table' ? createTotals() : undefined;
    let undated = 0;
    const within = (rows: readonly Transaction[]): readonly Transaction[] => {
      if (period === undefined) return rows;
      const { from, to } = period();
      return rows.filter((row) => {
        const time = instant(row.created_at);
        if (time === undefined) undated += 1;
        return time === undefined || (time >= from && time < to);
      });
    };
    async function* chosen(
      pages: Iterable<readonly Transaction[]> | AsyncIterable<readonly Transaction[]>,
    ): AsyncGenerator<readonly Transaction[]> {
      for await (const page of pages) {
        noteFilter();
        const rows = within(page);
        for (const row of rows) totals?.add(row);
        yield rows;
      }
    }

    const query: TransactionsQuery = {
      ...(limit === undefined ? {} : { limit }),
      ...(type.length === 0 ? {} : { type }),
    };
    if (all || (period !== undefined && page === undefined)) {
      await out.list({ pages: chosen(wholeHistory(api, query)) }, transactionView);
    } else {
      const asked = page === undefined ? query : { ...query, page };
      const { meta, data } = await api.billing.transactions(asked);
      const shown = { meta, rows: data.length, asked: page, what: 'transactions' };
      await out.list({ pages: chosen([data]) }, pageView(transactionView, shown));
      noteOtherPages(shown, context);
    }
    if (undated > 0)
      err.warn('odd_response', `Included transactions with an unreadable time: ${undated}.`);
    for (const line of totals?.lines() ?? []) err.note(line);
    totals?.assertWhole();
  },
});
