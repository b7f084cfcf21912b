import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { type Heartbeat, heartbeatOf, removeHeartbeat } from '../../journal/index.ts';
import type { ArmedStatus } from '../../json-results/instances.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { relative, spanText } from '../../output/time.ts';
import { durationWord } from '../../rules/times.ts';
import { serviceName } from '../rent/account.ts';
import { commandLine } from '../scheduler/crontab.ts';
import {
  ENTRY,
  entryName,
  type Job,
  type Scheduler,
  schedulerHere,
  schedulersIn,
  schedulersWith,
} from '../scheduler/index.ts';
import { FEATURES, judge, profileOf, readEnforcement, reapLoop } from './armed.ts';

/** Milliseconds to wait for a scheduled run, since its requests may time out. */
const LONGEST_RUN = 120_000;

/** Environment variables to pass to the scheduler in addition to the folders. */
const PASSED_ON = [
  'HTTPS_PROXY',
  'https_proxy',
  'ALL_PROXY',
  'all_proxy',
  'NO_PROXY',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
];

export async function armedStatus(context: Context): Promise<ArmedStatus> {
  const profile = await profileOf(context);
  const [scheduler] = await schedulersWith(
    await entryName(profile, context),
    schedulersIn(context),
  );
  const service = await serviceName(context);
  const stored = heartbeatOf((await context.folders()).state, profile);
  // Ignores the heartbeat if a login has moved the profile to another service.
  const heartbeat = stored?.service === service ? stored : undefined;
  const own = await judge(heartbeat, profile, context);
  // Another profile of the account may enforce its deadlines.
  const account = await (await context.journal()).account();
  const all = account === undefined ? own : await readEnforcement({ account, service }, context);
  const found = own.deadline.isArmed || !all.deadline.isArmed ? own : all;
  const doubtful = FEATURES.find((feature) => found[feature].reason !== undefined);
  const { by } = found.deadline;
  return {
    profile,
    armed: found.deadline.isArmed,
    enforces: FEATURES.filter((feature) => found[feature].isArmed),
    scheduler: scheduler?.name ?? null,
    every_seconds: heartbeat === undefined ? null : heartbeat.every / 1000,
    last_run_at: heartbeat?.at ?? null,
    age_seconds: ageOf(heartbeat?.at, context.clock.now()),
    failure: heartbeat?.failure?.message ?? null,
    reason: (doubtful && found[doubtful].reason) ?? (by === undefined ? null : `enforced ${by}`),
  };
}

function ageOf(at: string | null | undefined, now: number): number | null {
  return at == null ? null : Math.floor((now - Date.parse(at)) / 1000);
}

/**
 * Schedules "instances reap" and waits until a scheduled run reaches the service. Only such a run
 * shows that the scheduler can read the key.
 */
export async function arm(every: number, context: Context): Promise<void> {
  const profile = await ensureStoredKey(context);
  const job = await jobOf(profile, every, context);
  const scheduler = await schedulerHere(schedulersIn(context));
  if (scheduler === undefined) {
    const isWindows = context.host.platform === 'win32';
    const { [ENTRY]: _own, ...env } = job.env;
    const line = isWindows ? shellLine(job.command, 'win32') : commandLine({ ...job, env });
    const heartbeat = heartbeatOf((await context.folders()).state, profile);
    const { isArmed } = (await judge(heartbeat, profile, context)).deadline;
    const last = relative(Date.parse(heartbeat?.at ?? ''), context.clock.now());
    const already = isArmed ? ` Deadlines are enforced already: "instances reap" ran ${last}.` : '';
    const loop =
      isWindows || isArmed
        ? ''
        : `\nor run this loop in the background, again after each reboot:\n${await reapLoop(every, context)}`;
    throw usageError(
      `No scheduler that you can use is running (systemd, launchd, cron, schtasks).${already}`,
      `run this with another scheduler every ${spanText(every / 1000)}:\n${line}${loop}`,
    );
  }
  const { state } = await context.folders();
  const before = heartbeatOf(state, profile);
  await scheduler.install(job);
  const longest = scheduler.startsWithin(job) + LONGEST_RUN;
  context.err.note(
    `Installed ${job.name} (${scheduler.name}). Its first run takes up to ${spanText(longest / 1000)}.`,
  );
  if (scheduler.note !== undefined) context.err.note(scheduler.note);
  await firstRun({ profile, state, before, scheduler, longest }, context);
}

/** Throws unless a scheduled run can read the key without the environment. */
async function ensureStoredKey(context: Context): Promise<string> {
  // Reports a missing key as every other command does.
  await context.api();
  const { sandbox, profile, apiKey, baseUrl } = await context.settings();
  const isStored = apiKey?.source === 'profile' && baseUrl?.source === 'profile';
  if (profile !== undefined && (sandbox || isStored)) return profile.value;
  throw usageError(
    'A scheduled run reads the key and the base URL from the profile, but this shell overrides one of them.',
    'store both: gpucloud login; then unset GPUCLOUD_API_KEY and GPUCLOUD_BASE_URL',
  );
}

async function jobOf(profile: string, every: number, context: Context): Promise<Job> {
  const { file, args } = context.host.self();
  const { config, state } = await context.folders();
  const passed = PASSED_ON.flatMap((name) => {
    const value = context.env[name];
    // Omits an address with a user name: it may contain a password, and other users may read the
    // entry.
    return value === undefined || value === '' || value.includes('@') ? [] : [[name, value]];
  });
  const name = await entryName(profile, context);
  return {
    name,
    about: `Terminate instances past their deadline (gpucloud profile ${profile}, state in ${state})`,
    command: [
      file,
      ...args,
      '--profile',
      profile,
      'instances',
      'reap',
      '--every',
      durationWord(every),
    ],
    env: {
      GPUCLOUD_CONFIG_DIR: config,
      GPUCLOUD_STATE_DIR: state,
      [ENTRY]: name,
      ...Object.fromEntries(passed),
    },
    every,
  };
}

interface FirstRun {
  readonly profile: string;
  readonly state: string;
  readonly before: Heartbeat | undefined;
  readonly scheduler: Scheduler;
  /** Milliseconds to wait for the run. */
  readonly longest: number;
}

async function firstRun(
  { profile, state, before, scheduler, longest }: FirstRun,
  { clock, err, signal }: Context,
): Promise<void> {
  const until = clock.monotonic() + longest;
  const progress = err.progress('Waiting for the first scheduled run');
  try {
    while (clock.monotonic() < until) {
      const { at, failure } = heartbeatOf(state, profile) ?? {};
      if (at != null && at !== before?.at) return;
      if (failure !== undefined && failure.at !== before?.failure?.at) {
        throw notArmed(`the scheduled run failed: ${failure.message}`);
      }
      await clock.sleep(500, signal);
    }
    throw notArmed(`${scheduler.name} did not run it within ${spanText(longest / 1000)}`);
  } finally {
    progress.done();
  }
}

function notArmed(why: string): CliError {
  return new CliError('refused', `Scheduled, but deadlines are not enforced: ${why}`, {
    hint: `fix that, then run: ${gpucloud('instances', 'reap', '--install')}; or remove the schedule: ${gpucloud('instances', 'reap', '--uninstall')}`,
  });
}

/** Removes a profile's entry from every scheduler. A loop goes on, so its heartbeat stays. */
export async function disarm(profile: string, context: Context): Promise<void> {
  const name = await entryName(profile, context);
  const having = await schedulersWith(name, schedulersIn(context));
  for (const scheduler of having) {
    await scheduler.uninstall(name);
    context.err.note(`Removed ${name} (${scheduler.name}).`);
  }
  const { state } = await context.folders();
  const heartbeat = heartbeatOf(state, profile);
  const { by } = (await judge(heartbeat, profile, context)).deadline;
  if (by !== undefined) {
    context.err.note(
      // An interactive shell ignores SIGTERM.
      `Deadlines are still enforced ${by}. To end it: Ctrl-C in its terminal; without one: kill ${heartbeat?.run?.parent}`,
    );
    return;
  }
  // Deadlines count as unenforced at once, not only when the last heartbeat is old.
  removeHeartbeat(state, profile);
}
