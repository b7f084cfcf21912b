import type { Instance } from '../../../api/index.ts';
import { OR_STDIN } from '../../../command-line/input.ts';
import { ruled } from '../../../command-line/parse.ts';
import { forEach, showDone } from '../../../command-line/several.ts';
import { verb } from '../../../command-line/verb.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import type { Changed } from '../../../instances/change/outcome.ts';
import { choose, chooseAll } from '../../../instances/choose.ts';
import { endsNeed } from '../../../instances/deadlines/armed.ts';
import {
  type Before,
  type DeadlineFlags,
  deadlineFrom,
  deadlineText,
  type Expiry,
  laterDeadline,
  noteDisks,
  rescueBudgetOption,
  rescueOption,
  setDeadline,
  type ToRescue,
  type WantedDeadline,
} from '../../../instances/deadlines/deadline.ts';
import { warnUnenforced } from '../../../instances/deadlines/unenforced.ts';
import { instanceIn, readInstance } from '../../../instances/read.ts';
import { ownJournal } from '../../../instances/recover/pending.ts';
import { ensureDeadlineOptional } from '../../../instances/rent/guards.ts';
import { instanceFinder } from '../../../instances/resolve.ts';
import { ensureRescueSignIn, toRescue } from '../../../jobs/rescue/wanted.ts';
import { field, type View } from '../../../output/output.ts';
import { minuteText, spanText } from '../../../output/time.ts';
import { inRoubles, type Money, priceIn } from '../../../rules/money.ts';
import { typedName } from '../../../rules/names.ts';
import { instanceStatus } from '../../../rules/statuses.ts';
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
    {
      id: 'rescue',
      header: 'RESCUE',
      value: ({ rescue }) => rescue?.join(', '),
    },
    { id: 'paid_until', header: 'PAID UNTIL', kind: 'time', value: paidUntil, hidden: true },
  ],
};

export const expire = verb({
  summary: 'Set or remove a deadline',
  view: expiringView,
  notes:
    "Sets a deadline by the service's clock, or an idle rule. " +
    '"instances reap" enforces both and terminates without asking, which deletes the disk. See "gpucloud help deadlines". ' +
    'Setting one of a deadline, an idle rule and --rescue keeps the others. ' +
    '--all never moves a deadline later or lengthens an idle rule.\n\n' +
    '--rescue copies files here before "instances reap" terminates the instance, to LOCAL or ' +
    './NAME/. A relative REMOTE is in the home folder, or in the folder of the job of "run".',
  examples: [
    'gpucloud instances expire trainer --after 4h',
    'gpucloud instances expire trainer lab --at 2026-01-31T18:00',
    "gpucloud instances expire --all --at 'fri 18:00'",
    'gpucloud instances expire trainer --if-idle 45m',
    'gpucloud instances expire trainer --after 4h --rescue results',
    'gpucloud instances expire trainer --never',
  ],
  takes: (command) =>
    command
      .argument('[instance...]', `names or IDs${OR_STDIN}`)
      .option('-a, --all', 'all instances known to this computer that may bill')
      .option(
        '--after <duration>',
        'terminate after this time, such as 4h',
        ruled('--after', positiveDuration),
      )
      .option(
        '--at <time>',
        'terminate at this time, such as 18:00, "fri 18:00" or 2026-01-31T18:00',
        ruled('--at', moment),
      )
      .option(
        '--if-idle <duration>',
        'terminate after this time without use, such as 45m',
        ruled('--if-idle', idleTime),
      )
      .addOption(rescueOption())
      .addOption(rescueBudgetOption())
      .option('--never', 'remove the deadline, the idle rule and the rescue'),
  async run(context, typed, flags) {
    const wanted = wantedOf(flags);
    const { all = false } = flags;
    if (wanted === 'never') await ensureDeadlineOptional(context);
    if (all && flags.rescue !== undefined) throw usageError("--all and --rescue can't be combined");
    const rescue = await rescueOf(flags, typed, context);
    const { instances, left } = all
      ? await chooseAll(typed, 'has no new deadline', context)
      : await choose('change', typed, context);
    const journal = await ownJournal(context);
    const expiry = await expiryOf(wanted, { ifIdle: flags.ifIdle, rescue, all }, context);
    const find = instanceFinder(context);
    const work = async (text: string) => {
      const target = await find(text, { changes: true });
      if (typeof rescue === 'object') {
        const instance = instanceIn(await readInstance(target.id, await context.api()));
        await ensureRescueSignIn(instance, context);
      }
      const { before, ...changed } = await setDeadline(target, expiry, journal, context);
      if (expiry === 'never') context.err.note(neverText(changed.name, before));
      if (expiry !== 'never' && expiry.deadline !== undefined) {
        const { name, ends_at: end } = changed;
        const isKept = end !== undefined && end !== expiry.deadline;
        context.err.note(
          isKept
            ? `${name} keeps its earlier deadline, ${minuteText(Date.parse(end))}.`
            : movedText(name, expiry.deadline, before, context),
        );
      }
      if (expiry !== 'never' && expiry.if_idle !== undefined) {
        context.err.note(ruleText(changed, before, expiry));
      }
      return changed;
    };
    const { done, failed } = await forEach('INSTANCE', instances, work, context);
    if (done.length > 0 && expiry !== 'never') {
      const needed = endsNeed({ ...expiry, rescue: rescue === 'none' ? undefined : rescue });
      await warnUnenforced(needed, journal, context);
      const bare = done.filter((one) => one.rescue === undefined);
      if (rescue === undefined) {
        noteDisks(
          bare.map(({ name, id }) => typedName(name, id)),
          context,
        );
      }
    }
    await showDone({ typed, done, failed: [...failed, ...left] }, expiringView, context);
  },
});

type Wanted = WantedDeadline | 'never' | undefined;

function wantedOf(flags: {
  after?: number | undefined;
  at?: ComingTime | undefined;
  never?: true | undefined;
  ifIdle?: number | undefined;
  rescue?: readonly string[] | undefined;
}): Wanted {
  const { after, at, never, ifIdle, rescue } = flags;
  const named = (given: object) =>
    Object.entries(given).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  const times = named({ '--after': after, '--at': at, '--never': never });
  const others = named({ '--if-idle': ifIdle, '--rescue': rescue });
  if (times.length + others.length === 0) {
    throw usageError('use --after, --at, --if-idle, --rescue or --never');
  }
  const [one, other] = never === true ? [...times, ...others] : times;
  if (other !== undefined) throw usageError(`${one} and ${other} can't be combined`);
  if (never === true) return 'never';
  if (after !== undefined) return { after };
  return at === undefined ? undefined : { at };
}

/** Checks `--rescue` before any request. */
async function rescueOf(
  flags: DeadlineFlags,
  typed: readonly string[],
  context: Context,
): Promise<ToRescue | 'none' | undefined> {
  const rescue = await toRescue(flags, typed.includes('-') ? [...typed, '-'] : typed, context);
  return rescue ?? (flags.rescue === undefined ? undefined : 'none');
}

const HOUR = 3_600_000;

/** Formats the new deadline, the one before, and what the difference costs. */
function movedText(
  name: string,
  deadline: string,
  { deadline: old, instance }: Before,
  { serviceClock }: Context,
): string {
  const now = serviceClock.now();
  const [end, from] = [Date.parse(deadline), Math.max(now, Date.parse(old ?? '') || now)];
  const [before, after] = [old == null ? '' : minuteText(Date.parse(old)), minuteText(end)];
  const text = `Deadline of ${name}: ${deadlineText(deadline, now)}`;
  if (before === after) return `${text}, as before.`;
  const cost = pricePerHour(instance)
    ?.times(Math.abs(end - from))
    .div(HOUR)
    .round(2);
  const more = old == null ? 'until then' : end < from ? 'less' : 'more';
  const instead = before === '' ? '' : `, instead of ${before}`;
  const money = cost?.gt(0) ? ` That costs about ${inRoubles(cost)} ${more}.` : '';
  return `${text}${instead}.${money}`;
}

/** Formats what no longer ends the instance, and what it costs from now on. */
function neverText(name: string, { if_idle: rule, instance }: Before): string {
  const what = rule === undefined ? 'deadline' : 'deadline or idle rule';
  const bills = instanceStatus(instance.status).bills === 'yes' ? 'bills' : 'may bill';
  const price = pricePerHour(instance);
  const cost = price === undefined ? '' : `, ${inRoubles(price)} per hour`;
  return `${name} has no ${what} now. It ${bills} until you terminate it${cost}.`;
}

/** Returns the price of an instance that bills; the API document does not say what other statuses cost. */
function pricePerHour({ status, price_per_hour_snapshot: price }: Instance): Money | undefined {
  return instanceStatus(status).bills === 'yes' ? priceIn(price) : undefined;
}

/** Formats the idle rule, and the one before. */
function ruleText(
  { name, if_idle_seconds: seconds = 0 }: Pick<Changed, 'name' | 'if_idle_seconds'>,
  { if_idle: old }: Before,
  { keepsEarlier }: Exclude<Expiry, 'never'>,
): string {
  const [rule, before] = [spanText(seconds), old === undefined ? '' : spanText(old / 1000)];
  // By name, the same rule starts again.
  const same = keepsEarlier ? ', as before' : ', as before, counted from now';
  const change = before === '' ? '' : before === rule ? same : `, instead of ${before}`;
  return `Idle rule of ${name}: terminated after ${rule} without use${change}.`;
}

async function expiryOf(
  wanted: Wanted,
  {
    ifIdle,
    rescue,
    all,
  }: { ifIdle: number | undefined; rescue: ToRescue | 'none' | undefined; all: boolean },
  context: Context,
): Promise<Expiry> {
  if (wanted === 'never') return wanted;
  const deadline = wanted && (await deadlineFrom(wanted, context));
  const later = laterDeadline(wanted, context.serviceClock.now());
  if (later !== undefined) {
    const kept = all ? ' Instances with an earlier deadline keep it.' : '';
    context.err.warn('deadline_later', `${later.text}${kept}`);
  }
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...(ifIdle === undefined ? {} : { if_idle: ifIdle }),
    ...(rescue === undefined ? {} : { rescue }),
    // Names lengthen too, since a person has chosen each.
    keepsEarlier: all,
  };
}
