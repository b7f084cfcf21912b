import type { Group } from '../../command-line/group.ts';
import { each, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { failuresOf, throwAll } from '../../errors.ts';
import { readEnforcement } from '../../instances/deadlines/armed.ts';
import { warnOfOtherAccounts } from '../../instances/other-accounts.ts';
import { parseFetch } from '../../jobs/files/copy-out.ts';
import { MOST_ENDED, type RentedRecord } from '../../jobs/record/record.ts';
import { reportOption } from '../../jobs/report-option.ts';
import { ensureReport, ensureTargets } from '../../jobs/targets.ts';
import { attachJob } from '../../jobs/verbs/attach.ts';
import { printLogs } from '../../jobs/verbs/logs.ts';
import { jobDetails, jobRows, openJob } from '../../jobs/verbs/rows.ts';
import { stopJob } from '../../jobs/verbs/stop.ts';
import type { JobRow } from '../../json-results/jobs.ts';
import type { JobProblem } from '../../money/findings.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { anyName } from '../../rules/names.ts';
import { count } from '../../rules/numbers.ts';
import { mayBill } from '../../rules/statuses.ts';
import { since, timeOf } from '../../rules/times.ts';
import { howToReach, withSignInFlags } from '../../ssh/ssh-flags.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';
import { jobDetailsView, jobView } from './view.ts';

function noteProblem({ what, to, next }: JobProblem, { err }: Context): void {
  err.note(`${what}. To ${to}: ${gpucloud(...next)}`);
}

/** Notes the jobs that need a person while their instances bill, unless a schedule finishes them. */
async function noteUnfinished(open: readonly RentedRecord[], context: Context): Promise<void> {
  if (open.length === 0) return;
  const journal = await context.journal();
  const account = await journal.account();
  if ((await readEnforcement({ account }, context)).job.isArmed) return;
  // Listing the jobs has just read their instances.
  const { instances } = await journal.read({ archived: true });
  for (const job of open) {
    const status = instances.find(({ id }) => id === job.id)?.last?.status;
    if (!mayBill(status)) continue;
    const { problem } = await openJob(job, status, context);
    if (problem === undefined) continue;
    const what = `${withStop(problem.what)} It may be billing`;
    noteProblem({ ...problem, what }, context);
  }
}

/**
 * Returns a job with times by the sandbox's clock, which users advance, so that a terminal shows the
 * right age. Elsewhere the times are absolute, so they stay this computer's.
 */
function onServiceClock<T extends JobRow>(row: T, { clock, out, serviceClock }: Context): T {
  if (!out.terminal || !serviceClock.isExact()) return row;
  const shift = serviceClock.now() - clock.now();
  const shifted = (time: string) => new Date(Date.parse(time) + shift).toISOString();
  const { started_at, ended_at } = row;
  return {
    ...row,
    started_at: shifted(started_at),
    ended_at: ended_at === null ? null : shifted(ended_at),
  };
}

const JOB = ['<instance>', "name or ID of the job's instance", ruled('INSTANCE', anyName)] as const;

export const jobs: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List the jobs that "run" started on this computer',
      tool: { allow: 'read' },
      view: jobView,
      notes:
        'Reads the state of unfinished jobs over SSH, for at most 5 s.\n\n' +
        'STATUS is RUNNING, EXITED, TERMINATED if the instance was terminated before gpucloud read ' +
        'the exit code, LOST if the command disappeared without an exit code, ' +
        'UNREACHABLE, or UNKNOWN if the run was killed while it rented and may have rented an ' +
        'instance. Stores the last 100 finished jobs.',
      completes: { '--since': 'nothing' },
      examples: [
        'gpucloud jobs list',
        'gpucloud jobs list --json',
        'gpucloud jobs list --since 30d -o csv',
      ],
      takes: (command) =>
        command.option(
          '--since <time>',
          'only jobs that ran after this time (a date: its start, 7d: 7 days ago)',
          ruled('--since', since),
        ),
      async run(context, { since: start }) {
        const from =
          start === undefined ? Number.NEGATIVE_INFINITY : timeOf(start, context.clock.now());
        const { rows, newer, open, lost } = await jobRows(from, context);
        const shown = rows.map((row) => onServiceClock(row, context));
        const unread = await failuresOf(context.out.list(shown, jobView));
        await noteUnfinished(open, context);
        if (lost !== undefined) noteProblem(lost, context);
        if (rows.length === 0) await warnOfOtherAccounts(context);
        if (rows.filter(({ ended_at }) => ended_at !== null).length >= MOST_ENDED) {
          context.err.warn(
            'incomplete',
            `The list may lack older jobs: only the last ${MOST_ENDED} finished jobs are stored.`,
          );
        }
        throwAll([...newer, ...unread]);
      },
    }),
    get: verb({
      aliases: ['show'],
      summary: 'Show one job in detail, with its report',
      tool: { allow: 'read' },
      view: jobDetailsView,
      completes: { instance: 'job' },
      examples: ['gpucloud jobs get train', 'gpucloud jobs get train --json | jq .report'],
      takes: (command) => command.argument(...JOB),
      async run(context, typed) {
        const job = await jobDetails(typed, context);
        await context.out.item(onServiceClock(job, context), jobDetailsView);
      },
    }),
    logs: verb({
      summary: 'Print the output of a job',
      tool: { allow: 'read' },
      notes:
        "Prints the command's stdout and stderr unchanged. For a finished job, prints the last " +
        '64 MB of each.\n\n' +
        'Ctrl-C stops printing; the job continues.',
      passesOn: 'the output',
      completes: { instance: 'job', '--tail': 'nothing', '--user': 'nothing' },
      examples: ['gpucloud jobs logs train -f', 'gpucloud jobs logs train --tail 20'],
      takes: (command) =>
        withSignInFlags(
          command
            .argument(...JOB)
            .option('-f, --follow', 'print new output until the command exits')
            .option(
              '--tail <lines>',
              'print only the last lines of stdout and stderr',
              ruled('--tail', count),
            ),
        ),
      async run(context, typed, { follow: follows = false, tail: lines, ...signIn }) {
        const how = await howToReach(signIn, context);
        await printLogs(typed, { follows, lines }, how, context);
      },
    }),
    attach: verb({
      summary: 'Follow a job, copy its results and terminate',
      tool: { allow: 'jobs', destroys: true },
      notes:
        'Resumes a job that was detached, or whose "run" was killed. Exits with the same codes as ' +
        '"run". Does not terminate an instance of "run --on".\n\n' +
        '--fetch replaces the paths of "run" that are not copied yet, for example a wrong one.\n\n' +
        'The first Ctrl-C detaches from the job. To stop the job, use "gpucloud jobs stop".',
      passesOn: 'COMMAND',
      ends: ['runFailed', 'outcomeUnknown'],
      completes: { instance: 'job', '--user': 'nothing', '--fetch': 'nothing' },
      examples: [
        'gpucloud jobs attach train',
        'gpucloud jobs attach train --fetch results',
        'gpucloud jobs attach train --report report.json',
      ],
      takes: (command) =>
        withSignInFlags(command.argument(...JOB))
          .option(
            '--fetch <path>',
            'copy REMOTE[:LOCAL] instead of the paths of "run" (repeatable)',
            each,
          )
          .addOption(reportOption())
          .addOption(waitTimeoutOption())
          .addOption(pollIntervalOption()),
      async run(context, typed, { report, fetch: paths = [], ...signIn }) {
        const fetch = paths.map((text) => parseFetch(text));
        await ensureTargets(fetch, () => '--fetch', context.host);
        const how = await howToReach({ ...signIn, wait: true }, context);
        if (report !== undefined) {
          await ensureReport(report, { dryRun: false });
        }
        await attachJob(typed, how, { report, fetch }, context);
      },
    }),
    stop: verb({
      summary: 'Stop a job: copy results and terminate its instance',
      tool: { allow: 'jobs', destroys: true, idempotent: true },
      notes:
        'Sends SIGINT to the command, SIGTERM after 10 s, and SIGKILL after 20 s. Then copies the ' +
        'results and terminates the instance, unless "run --on" started the job.\n\n' +
        'To copy another path than that of "run", first set it: "gpucloud jobs attach NAME --fetch PATH". ' +
        'Ctrl-C leaves the job to "gpucloud jobs stop".',
      ends: ['runFailed', 'outcomeUnknown'],
      completes: { instance: 'job', '--user': 'nothing' },
      examples: ['gpucloud jobs stop train', 'gpucloud jobs stop train --no-fetch'],
      takes: (command) =>
        withSignInFlags(command.argument(...JOB)).option('--no-fetch', 'skip copying results'),
      async run(context, typed, { fetch, ...signIn }) {
        const how = await howToReach(signIn, context);
        await stopJob(typed, { fetches: fetch }, how, context);
      },
    }),
  },
  examples: [
    'gpucloud jobs list',
    'gpucloud jobs logs train -f',
    'gpucloud jobs attach train',
    'gpucloud jobs stop train',
  ],
};
