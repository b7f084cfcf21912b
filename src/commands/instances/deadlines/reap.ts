import { Option } from '../../../cli/command.ts';
import { ruled } from '../../../cli/parse.ts';
import { action } from '../../../cli/verb.ts';
import type { Context } from '../../../context.ts';
import { type CliError, failuresOf, throwAll } from '../../../errors.ts';
import { arm, armedStatus, disarm } from '../../../instances/deadlines/arm.ts';
import {
  beat,
  DEFAULT_EVERY,
  noteFailure,
  noteFault,
  profileOf,
} from '../../../instances/deadlines/armed.ts';
import { notifyOfReaped } from '../../../instances/deadlines/notify.ts';
import { reapOverdue } from '../../../instances/deadlines/reap.ts';
import type { ServiceTime } from '../../../instances/deadlines/service-time.ts';
import { heartbeatOf } from '../../../journal/index.ts';
import { field, type View } from '../../../output/output.ts';
import type { ArmedStatus, Reaped } from '../../../results/instances.ts';
import { schedule } from '../../../rules/times.ts';
import { finishJobs, openJobs } from '../../../run-job/jobs/finish.ts';
import { endIdle } from '../../../usage/end-idle.ts';

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

export const reap = action({
  view: reapedView,
  notes:
    "Terminates the account's instances past their deadline or idle for longer than their rule " +
    "allows, without asking. Uses the service's clock. " +
    'Then finishes jobs of "run" that have ended and that no gpucloud process follows: copies ' +
    'results, saves the output and terminates the instance. Keeps instances of "run --on".\n\n' +
    'Exits with 0 if no instance was past its deadline or all such instances were terminated, ' +
    'with 125 if it could not copy the results of a job, and with 7 if an outcome is unknown. ' +
    'Runs may overlap.\n\n' +
    '--install schedules this command for the active profile with systemd, launchd, cron or ' +
    'Windows Task Scheduler, and waits for the first run. With another scheduler, run "reap --every 5m" every five minutes. ' +
    '"gpucloud help deadlines" explains deadlines.',
  ends: ['runFailed', 'outcomeUnknown'],
  examples: [
    'gpucloud instances reap --install',
    'gpucloud instances reap --status --json',
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
      .option(
        '--every <duration>',
        'how often a scheduler runs this command (default with --install: 5m)',
        ruled('--every', schedule),
      ),
  async run(context, { every, install, uninstall, status }) {
    if (install === true || uninstall === true || status === true) {
      if (install === true) await arm(every ?? DEFAULT_EVERY, context);
      if (uninstall === true) await disarm(await profileOf(context), context);
      return context.out.item(await armedStatus(context), armedView);
    }
    const rows: Reaped[] = [];
    const errors: CliError[] = [];
    const notified: Promise<void>[] = [];
    const idle = async (time: ServiceTime) => {
      const ended = await endIdle({ time, every: every ?? (await everyOf(context)) }, context);
      const failed = ended.flatMap(({ error }) => error ?? []);
      rows.push(...ended.map(({ row }) => row));
      errors.push(...failed);
      notified.push(notifyOfReaped({ rows: ended.map(({ row }) => row), errors: failed }, context));
    };
    /** Runs one pass. Collects rows and errors, so that a later fault can't hide them. */
    const pass = async () => {
      const reaping = await noteFailure(every, context, () => reapOverdue(context));
      const { unproven, time } = reaping;
      rows.push(...reaping.rows);
      errors.push(...reaping.errors);
      notified.push(notifyOfReaped(reaping, context));
      errors.push(...(await failuresOf(idle(time))));
      if (every === undefined) return;
      const noted =
        unproven === undefined
          ? beat(every, time.ahead, context)
          : noteFault(every, unproven, context);
      errors.push(...(await failuresOf(noted)));
    };
    const inHand = new Set<string>();
    const rounds = new Set<Promise<void>>();
    /** Starts handling jobs, except those an earlier round is handling. */
    const begin = async () => {
      const open = (await openJobs(context)).filter(({ id }) => !inHand.has(id));
      if (open.length === 0) return;
      for (const { id } of open) inHand.add(id);
      const finished = finishJobs({ open, every: every ?? 0 }, context, ({ row, error }) => {
        if (row !== undefined) rows.push(row);
        if (error !== undefined) errors.push(error);
      });
      const round = failuresOf(finished).then((failures) => {
        errors.push(...failures);
        for (const { id } of open) inHand.delete(id);
        rounds.delete(round);
      });
      rounds.add(round);
    };
    await pass();
    errors.push(...(await failuresOf(begin())));
    // Keeps enforcing deadlines and handling other jobs while large results are copied.
    while (rounds.size > 0) {
      const done = new AbortController();
      const ended = Promise.all(rounds).finally(() => done.abort());
      const waits: Promise<unknown>[] = [ended];
      if (every !== undefined) {
        waits.push(context.clock.sleep(every, done.signal).catch(() => ended));
      }
      await Promise.race(waits);
      if (done.signal.aborted) continue;
      errors.push(...(await failuresOf(pass())));
      errors.push(...(await failuresOf(begin())));
    }
    await Promise.all(notified);
    const unwritten = await failuresOf(context.out.list(rows, reapedView));
    throwAll([...errors, ...unwritten]);
  },
});
