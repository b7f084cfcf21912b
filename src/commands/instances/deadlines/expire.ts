import { OR_STDIN } from '../../../cli/input.ts';
import { ruled } from '../../../cli/parse.ts';
import { forEach, showDone } from '../../../cli/several.ts';
import { action } from '../../../cli/verb.ts';
import { usageError } from '../../../errors.ts';
import {
  deadlineFrom,
  setDeadline,
  type WantedDeadline,
} from '../../../instances/deadlines/deadline.ts';
import { warnUnenforced } from '../../../instances/deadlines/unenforced.ts';
import type { Changed } from '../../../instances/outcome.ts';
import { ownJournal } from '../../../instances/pending.ts';
import { instanceFinder } from '../../../instances/resolve.ts';
import { field, type View } from '../../../output/output.ts';
import { type ComingTime, moment, positiveDuration } from '../../../rules/times.ts';
import { changedView, paidUntil } from '../view.ts';

const expiringView: View<Changed> = {
  ...changedView,
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('status', 'STATUS', { kind: 'status' }),
    field('ends_at', 'ENDS', { kind: 'time' }),
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: paidUntil, hidden: true },
  ],
  empty: 'No deadline was changed.',
};

export const expire = action({
  view: expiringView,
  notes:
    "Sets a deadline by the service's clock. " +
    '"instances reap" terminates the instance after it, without asking: "gpucloud help deadlines".',
  examples: [
    'gpucloud instances expire trainer --after 4h',
    'gpucloud instances expire trainer lab --at 2026-01-31T18:00',
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
      .option('--never', 'remove the deadline'),
  async run(context, typed, flags) {
    const wanted = wantedOf(flags);
    const journal = await ownJournal(context);
    const deadline = wanted && (await deadlineFrom(wanted, context));
    const find = instanceFinder(context);
    const work = async (text: string) =>
      setDeadline(await find(text, { changes: true }), deadline, journal, context);
    const { done, failed } = await forEach('INSTANCE', typed, work, context);
    if (done.length > 0 && deadline !== undefined) await warnUnenforced(journal, context);
    await showDone({ typed, done, failed }, expiringView, context);
  },
});

/** undefined for `--never`. */
function wantedOf(flags: {
  after?: number | undefined;
  at?: ComingTime | undefined;
  never?: true | undefined;
}): WantedDeadline | undefined {
  const { after, at, never } = flags;
  if ([after, at, never].filter((flag) => flag !== undefined).length !== 1) {
    throw usageError('give one of --after, --at and --never');
  }
  if (after !== undefined) return { after };
  return at === undefined ? undefined : { at };
}
