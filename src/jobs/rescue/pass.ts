import { createGate } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { CliError, failuresOf, isInterrupt } from '../../errors.ts';
import { endHeld } from '../../instances/change/ending.ts';
import { notify } from '../../instances/deadlines/notify.ts';
import { endedRow, type Pass, type Reaping } from '../../instances/deadlines/reap.ts';
import { type Progress, progressOf, shownPaths } from '../../instances/deadlines/rescued.ts';
import { serviceTime } from '../../instances/deadlines/service-time.ts';
import { ownJournal } from '../../instances/recover/pending.ts';
import type {
  Deadline,
  Ends,
  HeldRescue,
  Journal,
  Rescue,
  RescueRecord,
} from '../../journal/index.ts';
import type { Reaped, ReapPlan } from '../../json-results/instances.ts';
import { lazy } from '../../lazy.ts';
import { priceIn } from '../../rules/money.ts';
import { mayBill } from '../../rules/statuses.ts';
import { type FindSignIn, type HowToReach, signInFinder } from '../../ssh/sign-in.ts';
import { type JobRecord, readJobs } from '../record/record.ts';
import { within } from '../remote/within.ts';
import { instanceNow } from '../stages/follow-to-end.ts';
import { asItsJob, NO_FLAGS } from '../verbs/sign-in-of.ts';
import { copyPaths, type RescuedPath, type Result, replaced } from './copy.ts';
import { driveRescue } from './drive.ts';
import { saveHashes } from './hashes.ts';
import { type Before, nextStep, paidTime } from './state.ts';
import {
  keptError,
  lostError,
  missingText,
  oldText,
  rescuedText,
  warnOfChanging,
} from './words.ts';

/** An instance that ends by itself, and whose paths are copied first. */
export type Rescued = Deadline & { readonly rescue: Rescue };

export function hasRescue(one: Deadline): one is Rescued {
  return one.rescue !== undefined;
}

export interface Tools {
  readonly find: FindSignIn;
  readonly jobs: () => Promise<readonly JobRecord[]>;
}

/** Finds the sign-in of each instance as the idle rule does. */
export function rescueTools(context: Context, how: HowToReach = NO_FLAGS): Tools {
  const jobs = lazy(() => readJobs(context));
  return { find: signInFinder(how, context, asItsJob(context, jobs)), jobs };
}

/**
 * Returns when an instance became due: the first pass after its deadline or idle rule. The budget
 * counts from then, since this computer may have slept. `isWatched`: it was awake at the deadline.
 */
export function dueOf(
  { deadline, if_idle }: Ends,
  { due }: Pick<Progress, 'due'>,
  now: number,
  isWatched = false,
): RescueRecord['due'] {
  const isOf = due !== null && (due.by === deadline || due.by === if_idle?.uid);
  if (isOf && Date.parse(due.at) <= now) return due;
  const isPast = deadline != null && Date.parse(deadline) <= now;
  const by = isOf ? due.by : isPast ? deadline : undefined;
  if (by === undefined) return null;
  return { at: isWatched && by === deadline ? by : new Date(now).toISOString(), by };
}

/**
 * Stores that an instance ends now, by its idle rule or before its deadline. Without this, the
 * traffic of the copy would restart the idle time. Returns whether it is stored: not while another
 * process copies.
 */
export async function markDue(
  one: Pick<Rescued, 'id' | 'rescue' | 'deadline' | 'if_idle'>,
  by: string,
  now: number,
  journal: Journal,
): Promise<boolean> {
  const { id, rescue } = one;
  const marked = await journal.withRescue(id, rescue, async ({ found, write }) => {
    const progress = progressOf(rescue, found);
    // The budget counts from the first time.
    if (dueOf(one, progress, now) !== null) return true;
    await write({ ...progress, due: { at: new Date(now).toISOString(), by } });
    return true;
  });
  return marked === true;
}

const NOTHING: Reaping = { rows: [], errors: [] };

/** Milliseconds between two attempts when no later pass comes in time. */
const PAUSE = 30_000;
/** Milliseconds in which an interrupted copy moves what has arrived into place. */
const WIND_UP = 5_000;
/** The longest timer, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/**
 * Copies an instance's paths when it is time, then terminates it. Keeps the instance within the
 * budget if a path can't be copied. Does nothing while another process does it.
 */
export async function rescueInstance(
  one: Rescued,
  { pass, every, tools }: { readonly pass: Pass; readonly every: number; readonly tools: Tools },
  context: Context,
): Promise<Reaping> {
  const { journal } = pass;
  const { id, rescue } = one;
  const work = (held: HeldRescue) => rescueHeld(one, { held, pass, every, tools }, context);
  return (await journal.withRescue(id, rescue, work)) ?? NOTHING;
}

/**
 * Copies the paths of an instance that this process is about to terminate, as `run` does at a
 * deadline and `mcp` at the end of its session. Tries until everything is here or the budget is used
 * up, also while another process copies. Returns what failed.
 */
export async function rescueFirst(
  { id, name }: Pick<Rescued, 'id' | 'name'>,
  context: Context,
): Promise<readonly CliError[]> {
  const journal = await ownJournal(context);
  const every = Number.POSITIVE_INFINITY;
  const tools = rescueTools(context);
  for (;;) {
    const { rescue, deadline, if_idle } = await journal.ends(id);
    const by = deadline ?? if_idle?.uid;
    if (rescue === undefined || by === undefined) return [];
    const time = await serviceTime(context);
    const one = { id, name, deadline: deadline ?? null, if_idle, rescue, status: undefined };
    const pass: Pass = { journal, time, gate: createGate(1), unproven: undefined };
    const done = (await markDue(one, by, time.now(), journal))
      ? await journal.withRescue(id, rescue, (held) =>
          rescueHeld(one, { held, pass, every, tools, terminates: false }, context),
        )
      : undefined;
    const now = await journal.ends(id);
    // Otherwise `expire` has set other paths or another deadline.
    const isSame = now.rescue?.uid === rescue.uid && (now.deadline ?? now.if_idle?.uid) === by;
    if (done !== undefined && isSame) return done.errors;
    if (done === undefined) await context.clock.sleep(PAUSE, context.signal);
  }
}

/**
 * Names what is not on this computer of an instance's paths, as for `not copied: results`. Returns
 * undefined without `--rescue`.
 */
export async function missingPaths(id: string, context: Context): Promise<string | undefined> {
  const found = await (await ownJournal(context)).instance(id);
  const rescue = found.kind === 'known' ? found.instance.rescue : undefined;
  if (rescue === undefined) return undefined;
  const { paths } = progressOf(rescue.wanted, rescue.found);
  return missingText(paths, () => true, context.serviceClock.now());
}

interface Working {
  readonly held: HeldRescue;
  /** Whether this process terminates the instance here, and not its caller. */
  readonly terminates?: false;
  readonly pass: Pass;
  readonly every: number;
  readonly tools: Tools;
}

async function rescueHeld(
  one: Rescued,
  { held, pass, every, tools, terminates }: Working,
  context: Context,
): Promise<Reaping> {
  const { id, name, rescue } = one;
  const { journal } = pass;
  const { found, write } = held;
  let { time } = pass;
  let progress = progressOf(rescue, found);
  let ends: Ends = one;
  let error: CliError | undefined;
  let until = 0;
  let isEarly = false;
  let reaping = NOTHING;
  /** Returns whether it could be stored: a full disk must not keep the instance. */
  const save = async (change: Partial<Progress>): Promise<boolean> => {
    progress = { ...progress, ...change };
    const [fault] = await failuresOf(write(progress));
    if (fault !== undefined) context.err.warn('local_storage', fault.message);
    return fault === undefined;
  };
  const tellFailure = ({ message }: Pick<CliError, 'message'>, since: string) =>
    notify({ event: 'rescue_failed', id, name, message, exit_code: null }, since, context);

  /** Returns an error also if copying took longer than the budget pays for. */
  async function copyUntil(left: number, isLast: boolean): Promise<Result | CliError> {
    const late = () => new CliError('deadline', 'Copying takes longer than the budget pays for.');
    const limit = { time: Math.min(left, LONGEST), late, signal: context.signal, windUp: WIND_UP };
    const onCopied = async (path: RescuedPath) => {
      await save({ paths: replaced(progress.paths, path) });
    };
    const now = () => new Date(time.now()).toISOString();
    try {
      const result = await within(limit, context.clock, (signal) =>
        copyPaths(one, progress.paths, { ...tools, signal, isLast, now, onCopied }, context),
      );
      await saveHashes(id, result.same, context);
      if (isLast) warnOfChanging(name, result.paths, context);
      return result;
    } catch (fault) {
      if (!(fault instanceof CliError) || isInterrupt(fault)) throw fault;
      return fault;
    }
  }

  const finish = await driveRescue({
    async situation() {
      // This computer may have slept.
      const isAwake = time.isFresh();
      if (!isAwake) time = await serviceTime(context);
      ends = await journal.ends(id);
      if (ends.rescue?.uid !== rescue.uid) return undefined;
      const now = time.now();
      // A copy that began before the deadline has used the budget since then.
      const due = dueOf(ends, progress, now, isEarly && isAwake);
      isEarly = due === null;
      const deadline = ends.deadline == null ? undefined : Date.parse(ends.deadline);
      let dueAt = due === null ? undefined : Date.parse(due.at);
      if (due !== null && due.at !== progress.due?.at && !(await save({ due }))) {
        // Otherwise each pass would count the budget again.
        dueAt = Math.min(now, deadline ?? now);
      }
      const paid = await paidFor(one, journal);
      until = (dueAt ?? deadline ?? now) + paid;
      return { now, deadline, due: dueAt, early: rescue.early, paid, every };
    },
    before: () => triedBefore(progress),
    async copy(limit, isLast) {
      if (await isOver(id, context)) return 'whole';
      const result = await copyUntil(limit - time.now(), isLast);
      error = result instanceof CliError ? result : result.error;
      const since = progress.failing?.since ?? new Date(time.now()).toISOString();
      const here = error?.failure === 'storage';
      const isNews = progress.failing?.message !== error?.message;
      await save({ failing: error === undefined ? null : { since, message: error.message, here } });
      if (error !== undefined) {
        const isKept = isLast && time.now() < until;
        const kept = keptError(one, error, isKept ? until : undefined);
        // Until the budget is used up, nothing else shows it.
        if (terminates === false && isNews) context.err.warn('copy', kept.message);
        await tellFailure(kept, since);
        return 'failed';
      }
      if (!isLast) return 'copied';
      const message = rescuedText(one, progress.paths);
      const event = { event: 'rescued', id, name, message, exit_code: null } as const;
      await notify(event, `${progress.due?.by}`, context);
      return 'whole';
    },
    pause: (limit) =>
      context.clock.sleep(Math.max(1, Math.min(PAUSE, limit - time.now())), context.signal),
    async end(isWhole) {
      const failure = isWhole ? undefined : (error ?? failureOf(progress));
      const lost = failure && lostError(one, progress.paths, failure, time.now());
      const report = async () => {
        if (isWhole) return [];
        const reported = lost ?? warnOfOld(one, progress.paths, time.now(), context);
        await tellFailure(reported, `${progress.due?.by} end`);
        return lost === undefined ? [] : [lost];
      };
      if (terminates === false) {
        reaping = { rows: [], errors: await report() };
        return;
      }
      const { due } = progress;
      const isDue = (now: Ends) =>
        now.rescue?.uid === rescue.uid && dueOf(now, { due }, time.now()) !== null;
      const ended = await endedRow(rowOf(one, ends, progress, time.now()), () =>
        endHeld({ id, name }, isDue, journal, context, pass.gate),
      );
      reaping = {
        rows: [ended?.row].filter((row) => row !== undefined),
        errors: [
          ...[ended?.error].filter((fault) => fault !== undefined),
          ...(ended?.row?.outcome === 'terminated' ? await report() : []),
        ],
      };
    },
  });
  if (finish === 'ended') return reaping;
  const isKept = finish === 'kept';
  const row = { ...rowOf(one, ends, progress, time.now()), outcome: 'kept' } as const;
  return {
    rows: isKept ? [row] : [],
    errors: error === undefined ? [] : [keptError(one, error, isKept ? until : undefined)],
  };
}

/** `idle`: the rule by which a pass would find the instance due now. */
interface Looking {
  readonly pass: Pass;
  readonly every: number;
  readonly idle: string | undefined;
}

/** Returns what {@link rescueInstance} would do now. Stores nothing. */
export async function foreseeRescue(
  one: Rescued,
  { pass, every, idle }: Looking,
): Promise<Pick<ReapPlan, 'action' | 'why'>> {
  const { id, rescue, deadline } = one;
  const { journal, time } = pass;
  const now = time.now();
  const foreseen = await journal.withRescue(id, rescue, async ({ found }) => {
    const progress = progressOf(rescue, found);
    const marked = idle === undefined || progress.due?.by === idle;
    const due = marked ? dueOf(one, progress, now) : { at: new Date(now).toISOString(), by: idle };
    const paid = await paidFor(one, journal);
    const step = nextStep({
      now,
      deadline: deadline == null ? undefined : Date.parse(deadline),
      due: due === null ? undefined : Date.parse(due.at),
      early: rescue.early,
      paid,
      every,
      copied: triedBefore(progress),
    });
    const isLate = due !== null && now >= Date.parse(due.at) + paid;
    return { step, isDue: due !== null, isLate };
  });
  if (foreseen === undefined) {
    return { action: 'nothing', why: 'another gpucloud process copies its paths' };
  }
  const { step, isDue, isLate } = foreseen;
  if (step === 'give up') return { action: 'terminate', why: 'its --rescue budget is used up' };
  if (step !== 'copy') return { action: 'nothing', why: 'its deadline has not passed' };
  if (isLate) {
    return { action: 'rescue', why: 'its --rescue budget is used up, so this is the last try' };
  }
  return { action: 'rescue', why: isDue ? 'its deadline has passed' : 'its deadline is near' };
}

/** Warns that only the copies before the deadline exist, and returns the message. */
function warnOfOld(
  { name }: Rescued,
  paths: readonly RescuedPath[],
  now: number,
  context: Context,
): { readonly message: string } {
  const message = oldText(name, paths, now);
  context.err.warn('rescue_failed', message);
  warnOfChanging(name, paths, context);
  return { message };
}

/** Returns why an earlier pass did not copy everything. */
function failureOf({ failing, paths }: Progress): CliError | undefined {
  if (failing !== null) {
    return new CliError(failing.here ? 'storage' : 'runFailed', failing.message);
  }
  if (paths.every(isCopied)) return undefined;
  return new CliError('runFailed', 'No pass copied it in time.');
}

/** Returns what earlier passes did. */
function triedBefore({ paths, failing }: Progress): Before {
  if (paths.every(isCopied)) return 'early';
  return failing === null && paths.every(({ failure }) => failure === null) ? 'not yet' : 'partly';
}

function isCopied({ copied_at, failure }: RescuedPath): boolean {
  return copied_at !== null && failure === null;
}

/** Whether the instance has ended, so that nothing can be copied any more. */
async function isOver(id: string, context: Context): Promise<boolean> {
  const instance = await instanceNow(id, context);
  return instance !== undefined && !mayBill(instance.status);
}

async function paidFor({ id, rescue }: Rescued, journal: Journal): Promise<number> {
  const found = await journal.instance(id);
  const last = found.kind === 'known' ? found.instance.last : undefined;
  const budget = rescue.budget === null ? null : priceIn(rescue.budget);
  return paidTime(budget, priceIn(last?.price_per_hour_snapshot));
}

function rowOf(
  { id, name }: Rescued,
  { deadline = null }: Ends,
  { due, paths }: Progress,
  now: number,
): Omit<Reaped, 'outcome'> & { readonly id: string } {
  const late = deadline === null ? 0 : Math.floor((now - Date.parse(deadline)) / 1000);
  return {
    id,
    name,
    deadline,
    overdue_seconds: Math.max(0, late),
    reason: due !== null && due.by !== deadline ? 'idle' : 'deadline',
    exit_code: null,
    rescued: shownPaths(paths),
  };
}
