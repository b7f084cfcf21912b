import { Option } from '../../../command-line/command.ts';
import { ruled } from '../../../command-line/parse.ts';
import { verb } from '../../../command-line/verb.ts';
import { eachBounded, SSH_AT_ONCE } from '../../../concurrency.ts';
import type { Context } from '../../../context.ts';
import { type CliError, failuresOf, throwAll } from '../../../errors.ts';
import { endIdle } from '../../../idle/end-idle.ts';
import { arm, armedStatus, disarm } from '../../../instances/deadlines/arm.ts';
import {
  beat,
  DEFAULT_EVERY,
  noteFailure,
  noteFault,
  profileOf,
} from '../../../instances/deadlines/armed.ts';
import { notifyOfReaped } from '../../../instances/deadlines/notify.ts';
import {
  beginPass,
  type Pass,
  type Reaping,
  reapAfterJob,
  reapOverdue,
} from '../../../instances/deadlines/reap.ts';
import type { JobRecord } from '../../../jobs/record/record.ts';
import { hasRescue, type Rescued, rescueInstance, rescueTools } from '../../../jobs/rescue/pass.ts';
import { finishJobs, openJobs } from '../../../jobs/verbs/finish.ts';
import { createHandOver } from '../../../jobs/verbs/hand-over.ts';
import { heartbeatOf } from '../../../journal/index.ts';
import type { ArmedStatus, Reaped, ReapPlan } from '../../../json-results/instances.ts';
import { field, type View } from '../../../output/output.ts';
import { schedule } from '../../../rules/times.ts';
import { nextPass } from './next-pass.ts';

const reapedView: View<Reaped> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    field('deadline', 'DEADLINE', { kind: 'time' }),
    field('outcome', 'OUTCOME'),
    field('reason', 'REASON'),
    field('exit_code', 'EXIT CODE'),
    field('overdue_seconds', 'OVERDUE SECONDS', { hidden: true }),
  ],
  id: ({ id }) => id,
  empty: 'No instance is past its deadline or idle for too long, and no job has ended.',
};

const planView: View<ReapPlan> = {
  columns: [
    field('name', 'NAME', { whole: true }),
    field('id', 'ID', { spared: true }),
    field('deadline', 'DEADLINE', { kind: 'time', spared: true }),
    field('action', 'ACTION', { whole: true }),
    field('why', 'WHY', { whole: true }),
  ],
  id: ({ id }) => id,
  empty: 'No instance has a deadline, an idle rule or a job.',
};

const armedView: View<ArmedStatus> = {
  columns: [
    field('profile', 'PROFILE'),
    { id: 'armed', header: 'ARMED', value: (s) => (s.armed ? 'yes' : 'no') },
    { id: 'enforces', header: 'ENFORCES', value: ({ enforces }) => enforces.join(', ') },
    field('scheduler', 'SCHEDULER'),
    field('every_seconds', 'EVERY SECONDS'),
    field('last_run_at', 'LAST RUN', { kind: 'time' }),
    field('reason', 'REASON'),
    field('failure', 'FAILURE', { hidden: true }),
  ],
  id: ({ profile }) => profile,
  empty: 'Nothing is scheduled.',
};

/** Returns how often this profile's schedule runs `reap`, in milliseconds. */
async function everyOf(context: Context): Promise<number> {
  const { state } = await context.folders();
  return heartbeatOf(state, await profileOf(context))?.every ?? DEFAULT_EVERY;
}

export const reap = verb({
  summary: 'Terminate instances past their deadline',
  view: reapedView,
  notes:
    'Finishes jobs of "run" that have ended and that no gpucloud process follows: copies ' +
    'results, saves the output and terminates the instance. Keeps instances of "run --on". ' +
    "Terminates the account's instances past their deadline or idle for longer than their rule " +
    "allows, without asking. Uses the service's clock. " +
    'Tries for ten minutes to copy the results of a job past its deadline.\n\n' +
    'Exits with 0 if no instance was past its deadline or all such instances were terminated, ' +
    'with 125 if it could not sign in to an instance or copy the results of a job, and with 7 if an outcome is unknown. ' +
    'Runs may overlap. --dry-run reads each instance over SSH, and copies and terminates nothing.\n\n' +
    '--install schedules this command for the active profile with systemd, launchd, cron or ' +
    'Windows Task Scheduler, and waits for the first run. With another scheduler, run "reap --every 5m" every five minutes. ' +
    '"gpucloud help deadlines" explains deadlines.',
  ends: ['runFailed', 'outcomeUnknown'],
  examples: [
    'gpucloud instances reap --install',
    'gpucloud instances reap --status --json',
    'gpucloud instances reap --dry-run',
    'gpucloud instances reap',
  ],
  takes: (command) =>
    command
      .option('--install', 'schedule this command on this computer')
      .addOption(
        new Option('--uninstall', 'remove this command from the scheduler').conflicts('install'),
      )
      .addOption(
        new Option('--status', 'show whether deadlines are enforced').conflicts([
          'install',
          'uninstall',
        ]),
      )
      .addOption(
        new Option('--dry-run', 'show what the next run would do, and change nothing').conflicts([
          'install',
          'uninstall',
          'status',
        ]),
      )
      .option(
        '--every <duration>',
        'how often a scheduler runs this command (default with --install: 5m)',
        ruled('--every', schedule),
      ),
  async run(context, { every, install, uninstall, status, dryRun }) {
    if (install === true || uninstall === true || status === true) {
      if (install === true) await arm(every ?? DEFAULT_EVERY, context);
      if (uninstall === true) await disarm(await profileOf(context), context);
      return context.out.item(await armedStatus(context), armedView);
    }
    if (dryRun === true) {
      const pass = every ?? (await everyOf(context));
      const next = await nextPass({ job: every ?? 0, pass }, context);
      await context.out.list(next.rows, planView);
      return throwAll(next.errors);
    }
    const rows: Reaped[] = [];
    const errors: CliError[] = [];
    const notified: Promise<void>[] = [];
    const handOver = createHandOver(() => context.clock.monotonic());
    const jobs = new Set<Promise<void>>();
    /** Collects rows and errors at once, so that a later fault can't hide them. */
    const collect = (reaping: Reaping) => {
      rows.push(...reaping.rows);
      errors.push(...reaping.errors);
      return reaping;
    };
    const finish = async (job: JobRecord) => {
      handOver.begin(job);
      const finished = finishJobs({ open: [job], every: every ?? 0 }, context, ({ row, error }) => {
        // Another job of the instance may have terminated it in this pass.
        const isReported = rows.some(({ id }) => id === row?.id);
        if (row !== undefined && !(row.outcome === 'already_ended' && isReported)) rows.push(row);
        if (error !== undefined) errors.push(error);
      });
      errors.push(...(await failuresOf(finished)));
      const waited = handOver.end(job.uid);
      if (waited === null) return;
      const later = beginPass(context).then(async (pass) => {
        await notifyOfReaped(collect(await reapAfterJob(waited, pass, context)), context);
        await beginRescues(pass);
      });
      errors.push(...(await failuresOf(later)));
    };
    const rescuing = new Set<string>();
    const rescue = async (one: Rescued, pass: Pass, interval: number) => {
      rescuing.add(one.id);
      const tools = rescueTools(context);
      const ended = rescueInstance(one, { pass, every: interval, tools }, context);
      const told = ended.then((reaping) => notifyOfReaped(collect(reaping), context));
      errors.push(...(await failuresOf(told)));
      rescuing.delete(one.id);
    };
    /** Starts copying from instances with --rescue that end soon, and terminates those past it. */
    const beginRescues = async (pass: Pass) => {
      const all = (await pass.journal.deadlines()).filter(hasRescue);
      const isLeft = ({ id, deadline }: Rescued) =>
        Date.parse(deadline ?? '') <= pass.time.now() && handOver.leaves(id);
      const hasEnded = (one: Rescued) =>
        rows.some(({ id, outcome }) => id === one.id && outcome === 'terminated');
      const free = all.filter((one) => !rescuing.has(one.id) && !isLeft(one) && !hasEnded(one));
      if (free.length === 0) return;
      const interval = every ?? (await everyOf(context));
      const round = eachBounded(free, SSH_AT_ONCE, (one) => rescue(one, pass, interval)).then(
        () => {
          jobs.delete(round);
        },
      );
      jobs.add(round);
    };
    /** Starts handling jobs, except those that are still in hand. */
    const beginJobs = async () => {
      const found = await openJobs(context);
      if (jobs.size === 0) errors.push(...found.newer);
      const open = found.open.filter(({ uid }) => !handOver.isInHand(uid));
      if (open.length === 0) return;
      // Not a few at a time: one large copy must not delay the last try of another job.
      const round = eachBounded(open, SSH_AT_ONCE, finish).then(() => {
        jobs.delete(round);
      });
      jobs.add(round);
    };
    const idle = async ({ time }: Pass) => {
      const ended = await endIdle({ time, every: every ?? (await everyOf(context)) }, context);
      return collect({
        rows: ended.flatMap(({ row }) => row ?? []),
        errors: ended.flatMap(({ error }) => error ?? []),
      });
    };
    /** Runs one pass. Finished jobs come first: a deadline or an idle rule could take results. */
    const runPass = async () => {
      const pass = await noteFailure(every, context, () => beginPass(context));
      const { unproven, time } = pass;
      if (unproven !== undefined) errors.push(unproven);
      errors.push(...(await failuresOf(beginJobs())));
      const ended: Reaping[] = [];
      const deadlines = noteFailure(every, context, () =>
        reapOverdue(pass, handOver.leaves, context),
      );
      const failed = await failuresOf(deadlines.then((found) => ended.push(collect(found))));
      errors.push(...failed);
      errors.push(...(await failuresOf(idle(pass).then((found) => ended.push(found)))));
      // After the idle rule, which leaves an instance with --rescue to this.
      errors.push(...(await failuresOf(beginRescues(pass))));
      const all = {
        rows: ended.flatMap((one) => one.rows),
        errors: ended.flatMap((one) => one.errors),
      };
      notified.push(notifyOfReaped(all, context));
      if (every === undefined || failed.length > 0) return;
      const noted =
        unproven === undefined
          ? beat(every, time.ahead, context)
          : noteFault(every, unproven, context);
      errors.push(...(await failuresOf(noted)));
    };
    await runPass();
    // Keeps enforcing deadlines and handling other jobs while large results are copied.
    while (jobs.size > 0) {
      const done = new AbortController();
      const ended = Promise.all(jobs).finally(() => done.abort());
      const waits: Promise<unknown>[] = [ended];
      if (every !== undefined) {
        waits.push(context.clock.sleep(every, done.signal).catch(() => ended));
      }
      await Promise.race(waits);
      if (done.signal.aborted) continue;
      errors.push(...(await failuresOf(runPass())));
    }
    await Promise.all(notified);
    const isWhole = errors.length === 0;
    const view = isWhole ? reapedView : { ...reapedView, empty: 'Not every instance was checked.' };
    const unwritten = await failuresOf(context.out.list(rows, view));
    // An interrupt or an unreadable folder stops several parts of a pass, but is one error.
    const distinct = new Map(
      [...errors, ...unwritten].map((error) => [`${error.resource} ${error.message}`, error]),
    );
    throwAll([...distinct.values()]);
  },
});
