import { randomUUID } from 'node:crypto';
import type { Instance } from '../../api/index.ts';
import { Option } from '../../command-line/command.ts';
import { each, ruled } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import type { Journal, Rescue } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { minuteText, relative, spanText } from '../../output/time.ts';
import { kopecksText, type Money, moneyFromZero } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import {
  type ComingTime,
  comingAt,
  comingWord,
  durationWord,
  idleTime,
  LONGEST_MS,
  moment,
  positiveDuration,
} from '../../rules/times.ts';
import type { Changed } from '../change/outcome.ts';
import { instanceIn, readInstance } from '../read.ts';
import type { Target } from '../resolve.ts';
import { endsNeed, ensureArmed, type Feature, warnUnarmed } from './armed.ts';
import { serviceTime, warnOfDifference } from './service-time.ts';

export function terminateAfterOption() {
  return new Option(
    '--terminate-after <duration>',
    'terminate the instance after this time, such as 4h',
  ).argParser(ruled('--terminate-after', positiveDuration));
}

export function terminateAtOption() {
  return new Option(
    '--terminate-at <time>',
    'terminate the instance at this time, such as 18:00, "fri 18:00" or 2026-01-31T18:00',
  ).argParser(ruled('--terminate-at', moment));
}

export function ifIdleOption() {
  return new Option(
    '--if-idle <duration>',
    'terminate the instance after this time without use, such as 45m',
  ).argParser(ruled('--if-idle', idleTime));
}

export function unenforcedOption() {
  return new Option('--unenforced', 'allow a deadline or idle rule although nothing enforces it');
}

export function rescueOption() {
  return new Option(
    '--rescue <path>',
    'before the instance ends by itself, copy REMOTE[:LOCAL] here (repeatable; "none" for nothing)',
  ).argParser(each);
}

export function rescueBudgetOption() {
  return new Option(
    '--rescue-budget <rub>',
    'how much a failing --rescue may cost after the deadline (default: the price of one hour)',
  ).argParser(ruled('--rescue-budget', moneyFromZero));
}

/** What to copy before an instance ends by itself, as checked on this computer. */
export interface ToRescue {
  /** The paths of an instance with this name. `local` is absolute. */
  pathsFor(name: string): Rescue['paths'];
  /** Roubles; null for the price of one hour. */
  readonly budget: string | null;
}

export interface DeadlineFlags {
  readonly terminateAfter?: number | undefined;
  readonly terminateAt?: ComingTime | undefined;
  /** Milliseconds. */
  readonly ifIdle?: number | undefined;
  /** REMOTE[:LOCAL]. */
  readonly rescue?: readonly string[] | undefined;
  readonly rescueBudget?: Money | undefined;
  readonly unenforced?: true | undefined;
}

/** The deadline flags, with the checked paths of `--rescue`. */
export interface CheckedEnds extends DeadlineFlags {
  readonly toRescue?: ToRescue | undefined;
}

/** Whether the paths of `--rescue` are given, and not `none`. */
export function isRescueWanted({ rescue }: Pick<DeadlineFlags, 'rescue'>): boolean {
  return rescue !== undefined && !(rescue.length === 1 && rescue[0] === 'none');
}

/** When to terminate an instance: after some milliseconds, or at a time. */
export type WantedDeadline = { readonly after: number } | { readonly at: ComingTime };

/** Reads the deadline flags. Throws a usage error if two are given. */
export function wantedDeadline({
  terminateAfter: after,
  terminateAt: at,
}: DeadlineFlags): WantedDeadline | undefined {
  if (after !== undefined && at !== undefined) {
    throw usageError("--terminate-after and --terminate-at can't be combined");
  }
  if (at !== undefined) return { at };
  return after === undefined ? undefined : { after };
}

/**
 * Checks the requested deadline before any request. Throws a usage error unless everything that
 * needs a scheduled `reap` has it. With `--unenforced`, only warns.
 */
export async function checkDeadline(
  flags: DeadlineFlags,
  context: Context,
  also: readonly Feature[] = [],
): Promise<void> {
  const needed = endsNeed({
    deadline: wantedDeadline(flags),
    if_idle: flags.ifIdle,
    ...(isRescueWanted(flags) && { rescue: true }),
  });
  const all = [...needed, ...also];
  if (all.length === 0) return;
  if (flags.unenforced === true) await warnUnarmed(all, context);
  else await ensureArmed(all, context);
}

/**
 * Returns the deadline in service time (ISO 8601). Call it immediately before the request. Throws a
 * usage error if the deadline has passed.
 */
export async function deadlineFrom(wanted: WantedDeadline, context: Context): Promise<string> {
  const time = await serviceTime(context);
  warnOfDifference(time, context);
  return deadlineAt(wanted, time.now());
}

/**
 * Returns the deadline for `--dry-run`. Uses this computer's clock if no response has shown the
 * service's time.
 */
export function plannedDeadline(
  flags: DeadlineFlags,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): WantedEnds {
  const wanted = wantedDeadline(flags);
  return {
    ...(wanted === undefined ? {} : { deadline: deadlineAt(wanted, serviceClock.now()) }),
    ...idleField(flags),
  };
}

function deadlineAt(wanted: WantedDeadline, now: number): string {
  const end = 'at' in wanted ? comingAt(wanted.at, now) : now + wanted.after;
  if (end <= now) {
    throw usageError(
      `the deadline ${minuteText(end)} has passed: the service's time is ${minuteText(now)}`,
    );
  }
  if (end > now + LONGEST_MS) throw usageError('a deadline must be at most 366 days from now');
  return new Date(end).toISOString();
}

/**
 * Returns the deadline of a time of day that has passed today, perhaps with today's weekday: a
 * person may mean today. Undefined for other deadlines.
 */
export function laterDeadline(
  wanted: WantedDeadline | undefined,
  now: number,
): { readonly time: number; readonly text: string } | undefined {
  if (wanted === undefined || 'after' in wanted || typeof wanted.at === 'number') return undefined;
  const { at } = wanted;
  const [time, today] = [comingAt(at, now), new Date(now)];
  const isOtherDay = at.weekday !== undefined && at.weekday !== today.getDay();
  if (isOtherDay || new Date(time).toDateString() === today.toDateString()) return undefined;
  const when = at.weekday === undefined ? 'tomorrow' : 'in a week';
  const text = `${comingWord(at)} has passed today, so the deadline is ${when}: ${minuteText(time)}.`;
  return { time, text };
}

/** Fixes the day of a time of day, which would move to a later day while `--retry-for` waits. */
export async function onItsDay(
  ends: CheckedEnds,
  retryFor: number | undefined,
  context: Context,
): Promise<CheckedEnds> {
  const { terminateAt: at } = ends;
  if (at === undefined || retryFor === undefined) return ends;
  return { ...ends, terminateAt: comingAt(at, (await serviceTime(context)).now()) };
}

/** When to terminate an instance, as part of a request that rents. */
export interface WantedEnds {
  /** Service time (ISO 8601). */
  readonly deadline?: string;
  /** Milliseconds without use before terminating. */
  readonly if_idle?: number;
  readonly rescue?: Rescue;
}

/** Milliseconds. */
const [LEAST_EARLY, MOST_EARLY] = [2 * 60_000, 15 * 60_000];

/** Returns how long before the deadline copying begins: a tenth of the time, 2 to 15 minutes. */
export function earlyFor(deadline: string | undefined, now: number): number {
  const left = deadline === undefined ? 0 : Date.parse(deadline) - now;
  return Math.min(Math.max(left / 10, LEAST_EARLY), MOST_EARLY);
}

function idleField({ ifIdle }: DeadlineFlags): Pick<WantedEnds, 'if_idle'> {
  return ifIdle === undefined ? {} : { if_idle: ifIdle };
}

/** Returns the fields of a rental request for how the instance ends. */
export async function deadlineField(
  flags: CheckedEnds,
  name: string,
  context: Context,
): Promise<WantedEnds> {
  const wanted = wantedDeadline(flags);
  const deadline = wanted && (await deadlineFrom(wanted, context));
  const { toRescue } = flags;
  const rescue = toRescue && newRescue(toRescue, name, deadline, context);
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...idleField(flags),
    ...(rescue && { rescue }),
  };
}

/** Returns the rescue of an instance with this name. */
export function newRescue(
  { pathsFor, budget }: ToRescue,
  name: string,
  deadline: string | undefined,
  { serviceClock }: Pick<Context, 'serviceClock'>,
): Rescue {
  const early = earlyFor(deadline, serviceClock.now());
  return { uid: randomUUID(), paths: [...pathsFor(name)], budget, early };
}

/** Change to make with `expire`. Missing fields stay as they are; `never` removes all. */
export type Expiry =
  | (Omit<WantedEnds, 'rescue'> & {
      /** `none` removes it. */
      readonly rescue?: ToRescue | Rescue | 'none' | undefined;
      /** Whether an earlier deadline and a shorter idle rule stay. */
      readonly keepsEarlier?: boolean;
    })
  | 'never';

/** An instance before its deadline changed. */
export interface Before {
  /** null for none, and undefined if it could not be read. */
  readonly deadline: string | null | undefined;
  /** Milliseconds without use; undefined for none. */
  readonly if_idle: number | undefined;
  readonly instance: Instance;
}

/**
 * Sets or removes an instance's deadline and idle rule. Holds `reap`'s lock while reading the
 * instance, so that the printed status stays true. Throws CliError('wrongState') for a
 * terminating or terminated instance.
 */
export function setDeadline(
  { id, name: known }: Target,
  expiry: Expiry,
  journal: Journal,
  context: Context,
): Promise<Changed & { readonly before: Before }> {
  return journal.withDeadline(id, async (held) => {
    const instance = instanceIn(await readInstance(id, await context.api()));
    const { status, paid_until } = instance;
    const name = instance.name ?? known;
    if (!mayBill(status)) {
      throw new CliError('wrongState', `${name} is ${status}.`, {
        resource: id,
        hint: `rent the instance again: ${gpucloud('instances', 'reorder', typedName(name, id), 'NEW-NAME')}`,
      });
    }
    const isNever = expiry === 'never';
    const wanted = isNever ? 'none' : expiry.rescue;
    if (held.deadline === undefined && !isNever && expiry.deadline === undefined) {
      throw new CliError('storage', `Could not read the deadline of ${name}.`, {
        hint: `set the deadline too: ${gpucloud('instances', 'expire', typedName(name, id), '--after', '4h')}`,
        resource: id,
      });
    }
    const moved = isNever || keepsOwn(held.deadline, expiry) ? undefined : expiry.deadline;
    const deadline = isNever ? undefined : (moved ?? held.deadline ?? undefined);
    const isShorter = !isNever && expiry.keepsEarlier && keepsRule(held.if_idle, expiry);
    const after = isNever || isShorter ? undefined : expiry.if_idle;
    // A new rule has its own UID. Evidence belongs to one UID, so the idle time restarts.
    const rule =
      after === undefined ? (isNever ? undefined : held.if_idle) : { after, uid: randomUUID() };
    const isSet = typeof wanted === 'object';
    if (isSet && deadline === undefined && rule === undefined) {
      throw usageError(
        `--rescue: ${name} has no deadline or idle rule, so nothing ends it by itself`,
        `set one too: ${gpucloud('instances', 'expire', typedName(name, id), '--after', '4h')}`,
      );
    }
    const now = context.serviceClock.now();
    const chosen = isSet
      ? 'uid' in wanted
        ? wanted
        : newRescue(wanted, name, deadline, context)
      : held.rescue;
    // A new deadline has its own early start, and keeps what was copied.
    const rescue =
      wanted === 'none' || chosen === undefined
        ? undefined
        : {
            ...chosen,
            early: moved !== undefined || isSet ? earlyFor(deadline, now) : chosen.early,
          };
    await held.set(name, {
      ...(deadline === undefined ? {} : { deadline }),
      ...(rule === undefined ? {} : { if_idle: rule }),
      ...(rescue === undefined ? {} : { rescue }),
    });
    const idle = rule === undefined ? {} : { if_idle_seconds: rule.after / 1000 };
    const copied = rescue === undefined ? {} : { rescue: rescue.paths.map(({ remote }) => remote) };
    const before = { deadline: held.deadline, if_idle: held.if_idle?.after, instance };
    return { id, name, status, paid_until, ends_at: deadline, before, ...idle, ...copied };
  });
}

function keepsOwn(
  own: string | null | undefined,
  { deadline, keepsEarlier }: Exclude<Expiry, 'never'>,
): boolean {
  if (!keepsEarlier || own == null || deadline === undefined) return false;
  return Date.parse(own) < Date.parse(deadline);
}

/** Whether the rule that an instance has ends it as early as the new one. */
function keepsRule(
  own: { readonly after: number } | undefined,
  { if_idle: after }: Exclude<Expiry, 'never'>,
): boolean {
  return own !== undefined && after !== undefined && own.after <= after;
}

/**
 * Describes when an instance will be terminated, in the words of the flags: `at the next 18:00, or
 * after 45 min without use`.
 */
export function wantedText(flags: DeadlineFlags): string | undefined {
  const idle = flags.ifIdle && `after ${spanText(flags.ifIdle / 1000)} without use`;
  const deadline = wantedDeadlineText(flags);
  return deadline && idle ? `${deadline}, or ${idle}` : deadline || idle || undefined;
}

function wantedDeadlineText(flags: DeadlineFlags): string | undefined {
  const wanted = wantedDeadline(flags);
  if (wanted === undefined) return undefined;
  if ('after' in wanted) return `after ${spanText(wanted.after / 1000)}`;
  const { at } = wanted;
  return typeof at === 'number' ? `at ${minuteText(at)}` : `at the next ${comingWord(at)}`;
}

/** Returns the flags as words to type again. */
export function deadlineWords(flags: DeadlineFlags) {
  const { terminateAfter, terminateAt, ifIdle, rescue = [], rescueBudget, unenforced } = flags;
  return [
    ...(terminateAfter === undefined ? [] : ['--terminate-after', durationWord(terminateAfter)]),
    ...(terminateAt === undefined ? [] : ['--terminate-at', comingWord(terminateAt)]),
    ...(ifIdle === undefined ? [] : ['--if-idle', durationWord(ifIdle)]),
    ...rescue.flatMap((path) => ['--rescue', path]),
    ...(rescueBudget === undefined ? [] : ['--rescue-budget', kopecksText(rescueBudget)]),
    ...(unenforced === true ? ['--unenforced'] : []),
  ];
}

/** Prints when new instances will be terminated. `typed` holds their names in a command. */
export function noteEnds(
  typed: readonly string[],
  { deadline, if_idle: idle, rescue }: WantedEnds,
  { err, serviceClock }: Context,
): void {
  const expire = gpucloud('instances', 'expire', ...typed);
  if (deadline !== undefined) {
    err.note(
      `Deadline:    ${deadlineText(deadline, serviceClock.now())}. To move it: ${expire} --after 4h`,
    );
  }
  if (idle !== undefined) {
    err.note(
      `Idle rule:   terminated after ${spanText(idle / 1000)} without use. To remove it: ${expire} --never`,
    );
  }
  if (rescue !== undefined) {
    err.note(`Rescue:      ${rescueText(rescue)}. To copy now: ${rescueLine(typed)}`);
  }
}

/** Prints when instances just rented will be terminated, or how to set a deadline. */
export function noteNewEnds(typed: readonly string[], ends: WantedEnds, context: Context): void {
  noteEnds(typed, ends, context);
  if (ends.deadline !== undefined || ends.if_idle !== undefined) {
    if (ends.rescue === undefined) noteDisks(typed, context);
    return;
  }
  const expire = gpucloud('instances', 'expire', ...typed, '--after', '4h');
  context.err.note(`Deadline:    none. To set one: ${expire}`);
}

/** Prints that the end of these instances deletes their disks. `typed` holds their names in a command. */
export function noteDisks(typed: readonly string[], { err }: Context): void {
  const [first, ...others] = typed;
  if (first === undefined) return;
  const [disks, name] =
    others.length === 0 ? [`the disk of ${first}`, first] : ['their disks', 'NAME'];
  const rescue = gpucloud('instances', 'expire', name, '--rescue', 'PATH');
  err.note(`Termination deletes ${disks}. To copy files first: ${rescue}`);
}

function rescueLine(typed: readonly string[]): string {
  return gpucloud('instances', 'rescue', ...typed.slice(0, 1));
}

/** Formats `results to /home/ann/trainer/results before it ends`. */
export function rescueText({ paths }: Pick<Rescue, 'paths'>): string {
  const each = paths.map(({ remote, local }) => `${remote} to ${local}`).join(', ');
  return `copied before the instance ends: ${each}`;
}

/** Formats a deadline: `2026-03-01 14:05 +03:00, in 3 h`. */
export function deadlineText(deadline: string, now: number): string {
  const time = Date.parse(deadline);
  return `${minuteText(time)}, ${relative(time, now)}`;
}
