import { OR_STDIN } from '../../../command-line/input.ts';
import { ruled } from '../../../command-line/parse.ts';
import { forEach, showDone } from '../../../command-line/several.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import type { Changed } from '../../../instances/change/outcome.ts';
import { endsNeed } from '../../../instances/deadlines/armed.ts';
import {
  deadlineFrom,
  type Expiry,
  setDeadline,
  type WantedDeadline,
} from '../../../instances/deadlines/deadline.ts';
import { warnUnenforced } from '../../../instances/deadlines/unenforced.ts';
import { ownJournal } from '../../../instances/recover/pending.ts';
import { instanceFinder } from '../../../instances/resolve.ts';
import { field, type View } from '../../../output/output.ts';
import { type ComingTime, idleTime, moment, positiveDuration } from '../../../rules/times.ts';
import { changedView, paidUntil } from '../view.ts';

const expiringView: View<Changed> = {
  ...changedView,
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('status', 'STATUS', { kind: 'status' }),
    field('ends_at', 'ENDS', { kind: 'time' }),
    field('if_idle_seconds', 'IF IDLE SECONDS', { hidden: true }),
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: paidUntil, hidden: true },
  ],
  empty: 'No deadlines changed.',
};

export const expire = verb({
  summary: 'Set or remove a deadline',
  view: expiringView,
  notes:
    "Sets a deadline by the service's clock, or an idle rule. " +
    '"instances reap" enforces both and terminates without asking. See "gpucloud help deadlines". ' +
    'Setting a deadline keeps the idle rule, and setting an idle rule keeps the deadline.',
  examples: [
    'gpucloud instances expire trainer --after 4h',
    'gpucloud instances expire trainer lab --at 2026-01-31T18:00',
    'gpucloud instances expire trainer --if-idle 45m',
    'gpucloud instances expire trainer --never',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', `names or IDs${OR_STDIN}`)
      .option(
        '--after <duration>',
        'terminate after this time, such as 4h',
        ruled('--after', positiveDuration),
      )
      .option(
        '--at <time>',
        'terminate at this time, such as 18:00 or 2026-01-31T18:00',
        ruled('--at', moment),
      )
      .option(
        '--if-idle <duration>',
        'terminate after this time without use, such as 45m',
        ruled('--if-idle', idleTime),
      )
      .option('--never', 'remove the deadline and the idle rule'),
  async run(context, typed, flags) {
    const wanted = wantedOf(flags);
    const journal = await ownJournal(context);
    const expiry = await expiryOf(wanted, flags.ifIdle, context);
    const find = instanceFinder(context);
    const work = async (text: string) =>
      setDeadline(await find(text, { changes: true }), expiry, journal, context);
    const { done, failed } = await forEach('INSTANCE', typed, work, context);
    if (done.length > 0 && expiry !== 'never') {
      await warnUnenforced(endsNeed(expiry), journal, context);
    }
    await showDone({ typed, done, failed }, expiringView, context);
  },
});

type Wanted = WantedDeadline | 'never' | undefined;

function wantedOf(flags: {
  after?: number | undefined;
  at?: ComingTime | undefined;
  never?: true | undefined;
  ifIdle?: number | undefined;
}): Wanted {
  const { after, at, never, ifIdle } = flags;
  const given = [after, at, never].filter((flag) => flag !== undefined).length;
  if (given > 1 || (given === 0 && ifIdle === undefined)) {
    throw usageError('use --after, --at, --if-idle or --never');
  }
  if (never === true && ifIdle !== undefined) {
    throw usageError("--never and --if-idle can't be combined");
  }
  if (never === true) return 'never';
  if (after !== undefined) return { after };
  return at === undefined ? undefined : { at };
}

async function expiryOf(
  wanted: Wanted,
  ifIdle: number | undefined,
  context: Context,
): Promise<Expiry> {
  if (wanted === 'never') return wanted;
  const deadline = wanted && (await deadlineFrom(wanted, context));
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...(ifIdle === undefined ? {} : { if_idle: ifIdle }),
  };
}
