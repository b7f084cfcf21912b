import { hostname } from 'node:os';
import { keyPlace, profileOf as storedProfile } from '../../config/file.ts';
import { isHome } from '../../config/resolve.ts';
import { endsRentals } from '../../context/session.ts';
import type { Context, Session } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import {
  type Heartbeat,
  heartbeatOf,
  heartbeatsIn,
  type Scope,
  writeHeartbeat,
} from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { minuteText, relative, spanText } from '../../output/time.ts';
import { durationWord } from '../../rules/times.ts';
import { CLOCKS } from '../../system/clock.ts';
import { faultOf } from '../../system/error-code.ts';
import { ownJournal } from '../recover/pending.ts';
import { serviceName } from '../rent/account.ts';
import {
  ENTRY,
  entryName,
  schedulerHere,
  schedulersIn,
  schedulersWith,
} from '../scheduler/index.ts';

/** Milliseconds between scheduled runs, unless --every sets them. */
export const DEFAULT_EVERY = 5 * 60_000;

/** Stands for the profile of a run with a key from the environment. */
const NO_PROFILE = '@environment';

/** What a scheduled `instances reap` can do. */
const DOES = {
  deadline: ['enforce', 'enforces', 'deadlines'],
  idle: ['enforce', 'enforces', 'idle rules'],
  job: ['finish', 'finishes', 'jobs'],
  rescue: ['copy', 'copies', 'files with --rescue'],
} as const;

export type Feature = keyof typeof DOES;
export const FEATURES: readonly Feature[] = ['deadline', 'idle', 'job', 'rescue'];

/** Whether a scheduled `instances reap` on this computer does one thing. */
export interface Armed {
  readonly isArmed: boolean;
  /**
   * Completes "nothing enforces deadlines: …". If scheduled, the reason why enforcement may be
   * late; undefined if there is none.
   */
  readonly reason: string | undefined;
  /** Completes "enforced …" if no scheduler enforces it: `only by the loop of process 812, last seen 3 min ago`. */
  readonly by?: string | undefined;
}

export type Enforcement = Readonly<Record<Feature, Armed>>;

/**
 * Reads what is enforced for the account, if known. `service` defaults to the active profile's
 * service.
 */
export async function readEnforcement(
  { account, service }: Partial<Scope>,
  context: Context,
): Promise<Enforcement> {
  const all = await heartbeatsOf(service ?? (await serviceName(context)), context);
  const own = all.filter((one) => account === undefined || one.account === account);
  const judged: Enforcement[] = [];
  for (const one of own) judged.push(await judge(one, one.profile, context));
  const doubts = ({ isArmed, reason, by }: Armed) => (isArmed ? (reason ? 2 : by ? 1 : 0) : 3);
  return forEachFeature(
    (feature) =>
      judged.map((one) => one[feature]).sort((a, b) => doubts(a) - doubts(b))[0] ?? NOT_SCHEDULED,
  );
}

function forEachFeature(armedFor: (feature: Feature) => Armed): Enforcement {
  const all = FEATURES.map((feature) => [feature, armedFor(feature)] as const);
  return Object.fromEntries(all) as Record<Feature, Armed>;
}

/**
 * Returns how far the service's clock was ahead of this computer's at the last pass, in
 * milliseconds.
 */
export async function lastAhead(context: Context): Promise<number | undefined> {
  const service = await serviceName(context);
  return (await heartbeatsOf(service, context)).find(({ ahead }) => ahead !== undefined)?.ahead;
}

/** Returns the heartbeats of all profiles of a service, newest first. */
async function heartbeatsOf(service: string, context: Context) {
  const all = await heartbeatsIn((await context.folders()).state);
  return all.filter((one) => one.service === service).sort((a, b) => timeOf(b) - timeOf(a));
}

/** A failure is later than the last success, which ends it. */
function timeOf({ at, failure }: Heartbeat): number {
  return Date.parse(String(failure?.at ?? at));
}

const NOT_SCHEDULED: Armed = {
  isArmed: false,
  reason: '"instances reap" is not scheduled',
};

/** Judges what a heartbeat proves: an older gpucloud enforces only what it knows. */
export async function judge(
  heartbeat: Heartbeat | undefined,
  profile: string,
  context: Context,
): Promise<Enforcement> {
  if (heartbeat === undefined) return forEachFeature(() => NOT_SCHEDULED);
  const schedule = await judgeSchedule(heartbeat, profile, context);
  return forEachFeature((feature) => armedFor(feature, heartbeat, schedule));
}

/** Returns what a schedule does. Without a list of features, only deadlines count. */
export function armedFor(
  feature: Feature,
  { features = ['deadline'], program }: Pick<Heartbeat, 'features' | 'program'>,
  schedule: Armed,
): Armed {
  if (!schedule.isArmed || features.includes(feature)) return schedule;
  const which = program === undefined ? 'an older gpucloud' : `gpucloud ${program}`;
  const [does, , what] = DOES[feature];
  return { isArmed: false, reason: `the schedule runs ${which}, which does not ${does} ${what}` };
}

/** Judges whether a heartbeat proves that its profile's schedule still runs. */
async function judgeSchedule(
  heartbeat: Heartbeat,
  profile: string,
  context: Context,
): Promise<Armed> {
  const { at, every, failure, entry, stored, ahead, run } = heartbeat;
  const lost = stored === true ? await whyNotSignedIn(heartbeat, profile, context) : undefined;
  if (lost !== undefined) return { isArmed: false, reason: `the profile "${profile}" ${lost}` };
  if (entry !== undefined && !(await isThere(entry, profile, context))) {
    return { isArmed: false, reason: `schedule ${entry} not found` };
  }
  const now = context.clock.now();
  const proves = entry === undefined ? run?.proves : undefined;
  const isLoop = proves === 'loop' && run?.host === hostname();
  const seen = at === null ? 'never' : relative(Date.parse(at), now);
  // A process that has ended starts no run, however new its heartbeat.
  const isOver = run !== undefined && !context.host.isAlive(run.parent);
  if (proves === 'nothing' || ((isLoop || proves === 'first') && isOver)) {
    return {
      isArmed: false,
      reason: isLoop
        ? `the loop of process ${run?.parent} has ended, last seen ${seen}`
        : `"instances reap" has run only once (${seen}), which proves no schedule`,
    };
  }
  // A heartbeat from the future proves nothing: this computer's clock was set back.
  const isArmed = at !== null && Math.abs(now - Date.parse(at)) < 2 * every;
  if (failure !== undefined) {
    const when = relative(Date.parse(failure.at), now);
    const why = failure.message.replace(/\.$/, '');
    return { isArmed, reason: `"instances reap" failed ${when}: ${why}` };
  }
  if (!isArmed) {
    const last = at === null ? 'has not run yet' : `last ran ${relative(Date.parse(at), now)}`;
    return { isArmed, reason: `"instances reap" ${last}` };
  }
  const far = [ahead, aheadNow(context)].find((one) => Math.abs(one ?? 0) > CLOCKS.wrong);
  const by = isLoop ? { by: `only by the loop of process ${run?.parent}, last seen ${seen}` } : {};
  return { isArmed, reason: far === undefined ? undefined : differenceText(far), ...by };
}

/**
 * Why the next run won't reach the account, to complete "the profile …". Logging out or removing
 * the profile deletes the key, and a login may replace it by another account's.
 */
async function whyNotSignedIn(
  { service, account }: Heartbeat,
  profile: string,
  context: Context,
): Promise<string | undefined> {
  const now = storedProfile(await (await context.config()).read(), profile);
  if (now === undefined || keyPlace(now) === undefined) return 'has no key';
  const id = now.account?.id ?? account;
  const isSame = isHome(now, service) && (account === null || id === account);
  return isSame ? undefined : 'signs in to another account';
}

/**
 * Whether the scheduler's entry uses these folders. In a copied state folder, the entry may run
 * `reap` for the original folders.
 */
async function isThere(entry: string, profile: string, context: Context): Promise<boolean> {
  if (entry !== (await entryName(profile, context))) return false;
  return (await schedulersWith(entry, schedulersIn(context))).length > 0;
}

function aheadNow({ serviceClock }: Context): number | undefined {
  const last = serviceClock.isExact() ? undefined : serviceClock.last();
  return last && last.service - last.now;
}

/** Formats `the service's clock is 3 h ahead of this computer's`. */
export function differenceText(ahead: number): string {
  const difference = spanText(Math.abs(ahead) / 1000);
  return `the service's clock is ${difference} ${ahead > 0 ? 'ahead of' : 'behind'} this computer's`;
}

export async function profileOf(context: Context): Promise<string> {
  const { profile } = context.flags;
  if (profile !== undefined) return profile;
  return (await context.settings({ key: false })).profile?.value ?? NO_PROFILE;
}

/**
 * Returns `bills until 08:58`, or what is true if nothing enforces the deadline. `deadline` is null
 * if there is none, and undefined if it can't be read. An `mcp` session that keeps nothing terminates
 * its instances at their deadlines, and at its end.
 */
export function billsUntil(
  deadline: string | null | undefined,
  { deadline: armed }: Enforcement,
  session: Pick<Session, 'keeps'> | undefined,
): string {
  const isEndedBySession = endsRentals(session);
  const forever = `bills until ${isEndedBySession ? 'the session ends' : 'you terminate it'}`;
  if (deadline === null) return forever;
  const time = deadline === undefined ? undefined : minuteText(Date.parse(deadline));
  if (armed.isArmed || isEndedBySession) return `bills until ${time ?? 'its deadline'}`;
  return time === undefined
    ? `${forever}; nothing enforces its deadline`
    : `${forever}; its deadline passes at ${time} and nothing enforces it`;
}

/** Returns the header of a column of deadlines. A deadline ends nothing if nothing enforces it. */
export function deadlineHeader({ deadline }: Enforcement): string {
  return deadline.isArmed ? 'ENDS' : 'UNENFORCED DEADLINE';
}

/** Returns {@link deadlineHeader} for a narrow terminal. */
export function shortHeader({ deadline }: Enforcement): string {
  return deadline.isArmed ? 'ENDS' : 'UNENFORCED';
}

/** Returns what enforces a deadline or an idle rule. */
export function endsNeed(ends: {
  deadline?: unknown;
  if_idle?: unknown;
  rescue?: unknown;
}): Feature[] {
  return [
    ...(ends.deadline == null ? [] : (['deadline'] as const)),
    ...(ends.if_idle === undefined ? [] : (['idle'] as const)),
    ...(ends.rescue == null ? [] : (['rescue'] as const)),
  ];
}

/** Returns the command that makes this computer enforce deadlines: a loop without a scheduler. */
export async function armCommand(context: Context): Promise<string> {
  const isWindows = context.host.platform === 'win32';
  const hasScheduler = isWindows || (await schedulerHere(schedulersIn(context))) !== undefined;
  return hasScheduler
    ? gpucloud('instances', 'reap', '--install')
    : await reapLoop(DEFAULT_EVERY, context);
}

/**
 * Returns a loop that goes on after its terminal is closed. Always names the profile: another
 * terminal may lack GPUCLOUD_PROFILE, and "profiles use" changes the profile of a loop that runs.
 */
export async function reapLoop(every: number, context: Context): Promise<string> {
  const { profile } = await context.settings({ key: false });
  // `err` and `status` add the profile of the flag.
  const isNamed = profile === undefined || profile.source === 'flag';
  const named = isNamed ? [] : ['--profile', profile.value];
  const reap = gpucloud(...named, 'instances', 'reap', '--every', durationWord(every));
  const loop = `while :; do ${reap}; sleep ${every / 1000}; done`;
  // A log in the current folder would be copied by `run --sync .`; `reap --status` shows failures.
  const line = `nohup sh -c '${loop}' >/dev/null 2>&1 &`;
  // These shells have another syntax for `2>&1` or `&`.
  const isOther = /(?:^|\/)(?:nu|pwsh|t?csh)$/.test(context.env.SHELL ?? '');
  return isOther ? `sh -c "${line}"` : line;
}

/**
 * Throws a usage error if nothing on this computer does all of this. Runs before any request that
 * rents.
 */
export async function ensureArmed(needed: readonly Feature[], context: Context): Promise<void> {
  const enforcement = await enforcementOf(needed, context);
  const reason = unenforcedText(needed, enforcement);
  if (reason === undefined) return noteLoop(enforcement, context);
  throw usageError(
    `${reason}. Nothing was sent.`,
    `add --unenforced to skip this check, or schedule it:\n${await armCommand(context)}`,
  );
}

/**
 * Warns if nothing on this computer does all of this, although `--unenforced` allows it. An `mcp`
 * session has warned at its start.
 */
export async function warnUnarmed(needed: readonly Feature[], context: Context): Promise<void> {
  if (context.host.session !== undefined) return;
  const reason = unenforcedText(needed, await enforcementOf(needed, context));
  if (reason === undefined) return;
  context.err.warn(
    'deadline_unenforced',
    `${reason}. The instance bills until you terminate it. To schedule it: ${await armCommand(context)}`,
  );
}

async function enforcementOf(needed: readonly Feature[], context: Context): Promise<Enforcement> {
  // Reads the account only if the service has a schedule, since that may require a request.
  const any = await readEnforcement({}, context);
  if (unenforcedText(needed, any) !== undefined) return any;
  const account = await (await ownJournal(context)).account();
  return readEnforcement({ account }, context);
}

/** Notes that nothing would start the enforcement again, as a scheduler does. */
export function noteLoop({ deadline: { by } }: Enforcement, { err }: Pick<Context, 'err'>): void {
  if (by !== undefined) err.note(`Deadlines are enforced ${by}.`);
}

/**
 * Returns `Nothing on this computer enforces deadlines: …` for the first thing that nothing does;
 * undefined if all is done.
 */
export function unenforcedText(
  needed: readonly Feature[],
  enforcement: Enforcement,
): string | undefined {
  const feature = firstUndone(needed, enforcement);
  if (feature === undefined) return undefined;
  const [, does, what] = DOES[feature];
  return `Nothing on this computer ${does} ${what}: ${enforcement[feature].reason}`;
}

/** Returns the first thing that nothing on this computer does. */
export function firstUndone(
  needed: readonly Feature[],
  enforcement: Enforcement,
): Feature | undefined {
  return FEATURES.find((one) => needed.includes(one) && !enforcement[one].isArmed);
}

/**
 * Runs the `work` of a schedule with an interval of `every` milliseconds. If `work` can't reach the
 * service with its key, saves the reason for `--status` and leaves the last heartbeat.
 */
export async function noteFailure<T>(
  every: number | undefined,
  context: Context,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (every !== undefined && error instanceof CliError) await noteFault(every, error, context);
    throw error;
  }
}

/** Saves why a run did not reach the service. Later runs fail too until the key works. */
export async function noteFault(every: number, error: CliError, context: Context): Promise<void> {
  try {
    const { state } = await context.folders();
    const profile = await profileOf(context);
    const before = heartbeatOf(state, profile) ?? {
      service: await serviceName(context),
      account: null,
      at: null,
    };
    await writeHeartbeat(state, profile, {
      ...before,
      ...(error.failure === 'authentication' && error.request?.obstacle === undefined
        ? { at: null }
        : {}),
      ...entryOf(context),
      every,
      failure: { at: nowText(context), message: error.message },
    });
  } catch {
    // Ignores the fault: the error is printed anyway, and without a heartbeat the schedule counts
    // as dead.
  }
}

/** Saves that a run reached the service, as proof that the schedule and the key work. */
export async function beat(every: number, ahead: number, context: Context): Promise<void> {
  const { state } = await context.folders();
  const profile = await profileOf(context);
  const now = context.clock.now();
  const heartbeat: Omit<Heartbeat, 'version'> = {
    service: await serviceName(context),
    account: (await (await context.journal()).account()) ?? null,
    ...entryOf(context),
    stored: (await context.settings()).apiKey?.source === 'profile',
    every,
    at: nowText(context),
    ahead,
    run: runOf(heartbeatOf(state, profile), {
      now,
      every,
      host: context.host,
      hostName: hostname(),
      typed: context.out.terminal,
      env: context.env,
    }),
    program: context.version,
    features: [...FEATURES],
  };
  try {
    await writeHeartbeat(state, profile, heartbeat);
  } catch (error) {
    throw new CliError('storage', `Could not save the heartbeat (${faultOf(error)}).`, {
      hint: "check the free space, or select another folder with GPUCLOUD_STATE_DIR; deadlines can't be set without a heartbeat",
      cause: error,
    });
  }
}

interface Run {
  readonly now: number;
  /** Milliseconds between runs. */
  readonly every: number;
  readonly host: Pick<Context['host'], 'pid' | 'parent'>;
  readonly hostName: string;
  /** Whether it prints to a terminal. A person may have typed it, and not repeat it. */
  readonly typed: boolean;
  readonly env: Context['env'];
}

/**
 * Returns what to store of this run. A loop starts all runs with the same process. So does systemd,
 * which names each process that it starts itself; other schedulers start each run with another
 * process. One run may write several heartbeats while it copies results.
 */
export function runOf(
  before: Pick<Heartbeat, 'run' | 'at'> | undefined,
  { now, every, host: { pid, parent }, hostName, typed, env }: Run,
): NonNullable<Heartbeat['run']> {
  const { run, at } = before ?? {};
  // Process 1 is the system's own; 0 is outside this container.
  const isScheduled = parent <= 1 || env.SYSTEMD_EXEC_PID === String(pid);
  const isSame = !isScheduled && run?.parent === parent && run.host === hostName;
  const since = now - Date.parse(at ?? '');
  const isDue = since > every / 2 && since < 2 * every;
  const isAgain = run?.pid === pid;
  const isLoop = isSame && (run.proves === 'loop' || (!isAgain && isDue));
  const repeats = isAgain ? run.proves === 'repeats' : isDue;
  const proves = isLoop ? 'loop' : repeats ? 'repeats' : typed ? 'nothing' : 'first';
  return { pid, parent, host: hostName, proves };
}

function entryOf({ env }: Context): Pick<Heartbeat, 'entry'> {
  const entry = env[ENTRY];
  return entry === undefined ? {} : { entry };
}

function nowText({ clock }: Context): string {
  return new Date(clock.now()).toISOString();
}
