import { eachBounded, SSH_AT_ONCE } from '../concurrency.ts';
import type { Context } from '../context.ts';
import { CliError, ensureCliError, isInterrupt } from '../errors.ts';
import { endHeld } from '../instances/change/ending.ts';
import { type Ended, endedRow } from '../instances/deadlines/reap.ts';
import type { ServiceTime } from '../instances/deadlines/service-time.ts';
import { instanceIn, readInstance } from '../instances/read.ts';
import { ownJournal } from '../instances/recover/pending.ts';
import { mayHaveResults } from '../jobs/record/record.ts';
import { hasRescue, markDue, rescueTools, type Tools as SignInTools } from '../jobs/rescue/pass.ts';
import type { Deadline, IdleRule as HeldRule, Journal } from '../journal/index.ts';
import { type IdleState, judge, NOTHING_KNOWN, type Signs, signsOf } from './idle-rule.ts';
import { CARD_SAMPLES } from './probe-script.ts';
import { readSample, withinLimit } from './read-sample.ts';

/** Timeout for measuring one instance, in milliseconds. */
const LIMIT = 20_000;

/** Only an ACTIVE instance can be idle. */
const RUNNING = 'ACTIVE';

interface Pass {
  readonly time: ServiceTime;
  /** Milliseconds between two passes. */
  readonly every: number;
}

interface Ruled {
  readonly id: string;
  readonly name: string;
  readonly deadline: string | null;
  readonly rule: HeldRule;
  readonly one: Deadline;
}

/**
 * Terminates every instance of the account whose idle rule is met. Leaves an instance with
 * `--rescue` to its rescue, which copies its paths first. An instance that can't be judged
 * counts as in use, with a warning that gives the reason.
 */
export async function endIdle(pass: Pass, context: Context): Promise<Ended[]> {
  const journal = await ownJournal(context);
  const ruled = (await journal.deadlines()).flatMap((one) => {
    const { id, name, deadline, if_idle: rule } = one;
    return rule === undefined ? [] : [{ id, name, deadline: deadline ?? null, rule, one }];
  });
  if (ruled.length === 0) return [];
  const tools = toolsOf(pass, journal, context);
  const ended = await eachBounded(ruled, SSH_AT_ONCE, async (one) => {
    try {
      return await journal.withIdle(one.id, one.rule, (held) => judgeOne(one, held, tools));
    } catch (error) {
      ensureCliError(error);
      if (isInterrupt(error)) return { error };
      warnUnjudged(one, error.message, context);
      return undefined;
    }
  });
  return ended.filter((one) => one !== undefined);
}

function toolsOf(pass: Pass, journal: Journal, context: Context): Tools {
  return { pass, journal, context, ...rescueTools(context) };
}

/** Whether a pass would find now that an instance's idle rule is met. Stores nothing. */
export async function isIdleNow(
  one: Pick<Ruled, 'id' | 'name' | 'rule'>,
  pass: Pass,
  context: Context,
): Promise<boolean> {
  const journal = await ownJournal(context);
  const isIdle = await journal.withIdle(
    one.id,
    one.rule,
    async ({ found }) => (await judged(one, found, toolsOf(pass, journal, context))).isSure,
  );
  return isIdle === true;
}

interface Tools extends SignInTools {
  readonly pass: Pass;
  readonly journal: Journal;
  readonly context: Context;
}

type Held = Parameters<Parameters<Journal['withIdle']>[2]>[0];

/**
 * Marks the evidence as incomplete during the check, and replaces it afterwards. If the process is
 * killed, the mark stays and the idle time restarts, since the check may have seen use.
 */
async function judgeOne(
  one: Ruled,
  { found, write }: Held,
  tools: Tools,
): Promise<Ended | undefined> {
  const { pass } = tools;
  const before = stateBefore(found);
  await write({ begun: true, since: before.since, last: before.last });
  const { first, isSure } = await judged(one, found, tools);
  const ended = isSure && pass.time.isFresh() ? await terminate(one, tools) : undefined;
  if (ended !== undefined && ended.error === undefined) return ended;
  // If the service refused the termination, the next pass tries again.
  const { since, last } = first.isDue && !isSure ? NOTHING_KNOWN : first.state;
  await write({ begun: false, since, last });
  return ended;
}

function stateBefore(found: Held['found']): IdleState {
  return found === undefined || found.begun ? NOTHING_KNOWN : found;
}

/** Checks an instance, and once more if the rule is met: only a second check with the same evidence is sure. */
async function judged(
  one: Pick<Ruled, 'id' | 'name' | 'rule'>,
  found: Held['found'],
  tools: Tools,
) {
  const { pass } = tools;
  const rule = { after: one.rule.after, every: pass.every };
  const look = async () => {
    const signs = await lookAt(one, tools);
    return judge(stateBefore(found), signs, pass.time.now(), rule);
  };
  const first = await look();
  return { first, isSure: first.isDue && (await look()).isDue };
}

/** Returns undefined if the instance can't be judged now. */
async function lookAt(
  { id, name }: Pick<Ruled, 'id' | 'name'>,
  { find, jobs, context }: Tools,
): Promise<Signs | undefined> {
  try {
    return await withinLimit(
      LIMIT,
      () => name,
      context,
      async (signal) => {
        const instance = instanceIn(await readInstance(id, await context.api(), { signal }));
        if (instance.status !== RUNNING) return undefined;
        const itsJobs = (await jobs()).filter((job) => job.id === id);
        const home = itsJobs[0]?.home ?? undefined;
        const sample = await readSample(instance, CARD_SAMPLES, { find, signal, home }, context);
        const signs = signsOf(sample, instance);
        if (typeof signs === 'string') throw new CliError('notUnderstood', `${signs}.`);
        return { ...signs, job: signs.job || itsJobs.some(mayHaveResults) };
      },
    );
  } catch (error) {
    ensureCliError(error);
    if (isInterrupt(error)) throw error;
    warnUnjudged({ name }, error.message, context);
    return undefined;
  }
}

function warnUnjudged({ name }: Pick<Ruled, 'name'>, why: string, { err }: Context): void {
  err.warn(
    'probe_failed',
    `Could not check whether ${name} is idle, so it counts as in use: ${why}`,
  );
}

/** Returns undefined if the rule has changed since the check: the new rule applies. */
async function terminate(one: Ruled, tools: Tools): Promise<Ended | undefined> {
  const { journal, context } = tools;
  const { id, name, deadline, rule } = one;
  if (hasRescue(one.one)) {
    await markDue(one.one, rule.uid, tools.pass.time.now(), journal);
    return undefined;
  }
  const row = { id, name, deadline, overdue_seconds: 0, reason: 'idle', exit_code: null } as const;
  const isDue = ({ if_idle }: { if_idle?: HeldRule | undefined }) => if_idle?.uid === rule.uid;
  return endedRow(row, () => endHeld({ id, name }, isDue, journal, context));
}
