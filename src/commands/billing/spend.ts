import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { labelOf, STEPS, type Step, startOf, stepsBack, zoneText } from '../../money/calendar.ts';
import { wholeHistory } from '../../money/history.ts';
import { type LeftOut, netOf, openBooks, type Spent } from '../../money/spend.ts';
import type { Messages } from '../../output/output.ts';
import { localTime } from '../../output/time.ts';
import { type Moment, since, timeOf, until } from '../../rules/moment.ts';
import { kopecksText } from '../../rules/money.ts';
import { type SpendRow, spendBlocks, spendView } from './spend-view.ts';

/** How far back is looked without `--since`. */
const BACK: Readonly<Record<Step, number>> = { day: 29, week: 11, month: 11 };

export function registerSpend(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: spendView,
    notes:
      'Spent is what was charged, less what was refunded; deposits and bonuses stand apart, and types\n' +
      'that the published API does not have under their own names. Only COMPLETED transactions count,\n' +
      'exact to the last digit. Days, weeks (from Monday) and months are those of the time zone of this\n' +
      'computer (TZ=UTC before the command for UTC). The service has no filter by time, so the whole\n' +
      'history is read. Without --since: 30 days, 12 weeks or 12 months.',
    examples: [
      'gpucloud billing spend',
      'gpucloud billing spend --by month --since 2026-01-01',
      'gpucloud billing spend --by week --since 90d -o csv > weeks.csv',
      'TZ=UTC gpucloud billing spend --json | jq -r ".[-1].spent"',
    ],
  })
    .option('--by <step>', `${STEPS.join(', ')} (default: day)`, oneOf('--by', STEPS))
    .option('--since <time>', 'from this date, time, or so long ago (90d)', ruled('--since', since))
    .option('--until <time>', 'up to this date or time', ruled('--until', until))
    .action(({ by = 'day', ...period }, command) =>
      spend({ by, ...period }, frame.context(command)),
    );
}

export interface SpendInput {
  readonly by: Step;
  readonly since?: Moment | undefined;
  readonly until?: Moment | undefined;
}

export async function spend(input: SpendInput, context: Context): Promise<void> {
  const { by } = input;
  const api = await context.api();
  const now = context.serviceClock.now();
  const to = input.until === undefined ? Number.POSITIVE_INFINITY : timeOf(input.until, now);
  const from =
    input.since === undefined
      ? stepsBack(by, Math.min(to - 1, now), BACK[by])
      : timeOf(input.since, now);
  if (from >= to) {
    throw usageError(
      `--since is not before --until: from ${new Date(from).toISOString()}, before ${new Date(to).toISOString()}`,
    );
  }
  if (from > now) {
    throw usageError(`--since lies in the future: ${new Date(from).toISOString()}`);
  }
  const books = openBooks({ step: by, from, to });
  const progress = context.err.progress('Reading the history');
  let count = 0;
  try {
    for await (const page of wholeHistory(api, {}, context)) {
      for (const transaction of page) books.add(transaction);
      count += page.length;
      progress.update(`Reading the history: ${count} transactions`);
    }
  } finally {
    progress.done();
  }

  const rows = books
    .rows(now, { trimmed: input.since === undefined })
    .map((spent) => rowOf(spent, by));
  const { out, err } = context;
  if (out.people && out.terminal && rows.length > 0) await out.screen(spendBlocks(rows), now);
  else await out.list(rows, spendView);
  if (out.format === 'table' && rows.length > 0) {
    const total = rowOf({ from, to: Math.min(to, now), ...books.total() }, by);
    for (const line of totalLines(total, from, Math.min(to, now))) err.note(line);
    err.note(`Times are those of this computer: ${zoneText(now)}.`);
  }
  tellLeftOut(books.left, err);
}

function rowOf(spent: Spent, by: Step): SpendRow {
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

/** A line each for what was spent and for the rest: together they are wider than most terminals. */
function totalLines(total: SpendRow, from: number, to: number): string[] {
  const also = [
    isNothing(total.refunded) ? '' : `refunded ${total.refunded} RUB`,
    isNothing(total.deposited) ? '' : `deposited ${total.deposited} RUB`,
    isNothing(total.bonus) ? '' : `bonuses ${total.bonus} RUB`,
    ...total.other.map(
      ({ type, direction, amount }) =>
        `${type} ${amount} RUB (${direction?.toLowerCase() ?? 'direction not told'}, in no sum)`,
    ),
  ].filter((part) => part !== '');
  const spent = `Spent ${total.spent} RUB from ${shortTime(from)} to ${shortTime(to)}.`;
  return also.length === 0 ? [spent] : [spent, `Besides: ${also.join(', ')}.`];
}

/** `2026-03-01`, and with the time of day where that is not midnight. */
function shortTime(at: number): string {
  const [day, time = ''] = localTime(at).split(' ');
  return time === '00:00:00' ? `${day}` : `${day} ${time.slice(0, 5)}`;
}

function isNothing(amount: string): boolean {
  return /^-?0*\.?0*$/.test(amount);
}

/** Told in every format: a sum that leaves something out is another sum. */
function tellLeftOut({ statuses, unreadable, undated, negative }: LeftOut, err: Messages): void {
  const waiting = [...statuses].map(([word, times]) => `${times} ${word}`).join(', ');
  if (waiting !== '') err.note(`Not counted, since only COMPLETED counts: ${waiting}.`);
  const told = (what: string, ids: readonly string[]) => {
    if (ids.length === 0) return;
    const more = ids.length > 3 ? `, and ${ids.length - 3} more` : '';
    err.warn(`${what}: ${ids.length}: ${ids.slice(0, 3).join(', ')}${more}.`);
  };
  told('Not counted, amount not readable', unreadable);
  told('Not counted, time not readable', undated);
  told('Counted with its sign, though amounts should be absolute', negative);
}
