import { resolve } from 'node:path';
import { each, ruled } from '../../cli/parse.ts';
import { action } from '../../cli/verb.ts';
import { usageError } from '../../errors.ts';
import { withRequestFlags } from '../../instances/request/flags.ts';
import { howToReach, withSignInFlags } from '../../reach/ssh-flags.ts';
import { instanceName } from '../../rules/names.ts';
import { positiveDuration } from '../../rules/times.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';
import { planView } from './view.ts';

/** `gpucloud run`, a verb of the root. */
export const run = action({
  view: planView,
  notes:
    'Rents an instance, copies files in, runs COMMAND, copies results out and terminates the ' +
    'instance, also after a failure. stdout and stderr are those of COMMAND. In a terminal, ' +
    'asks for missing values.\n\n' +
    'COMMAND runs in the copied folder, with its words unchanged: no shell expands them. ' +
    '--sync skips .git and the patterns in .gpucloudignore. --fetch is relative to that ' +
    'folder.\n\n' +
    '--detach leaves nobody to terminate the instance when COMMAND ends. So it needs an armed ' +
    '"instances reap", or --unenforced.\n\n' +
    "Exits with COMMAND's exit code, with 125 if gpucloud failed before COMMAND ended, and with 7 " +
    'if the instance may still be billing. The first Ctrl-C interrupts COMMAND; the second ' +
    'terminates without copying.',
  // Flags after the first word belong to the command.
  ownWords: 0,
  passesOn: 'COMMAND',
  ends: ['runFailed', 'outcomeUnknown'],
  completes: {
    command: 'nothing',
    '--attach': 'instance',
    '--name': 'nothing',
    '--port': 'nothing',
    '--docker-image': 'nothing',
    '--docker-command': 'nothing',
    '--exclude': 'nothing',
    '--fetch': 'nothing',
    '--sync': 'path',
    '--report': 'path',
    '--user': 'nothing',
  },
  examples: [
    'gpucloud run -f box.yaml --terminate-after 1h -- nvidia-smi',
    'gpucloud run -f box.yaml --terminate-after 2h --sync . -- python train.py',
    'gpucloud run -f box.yaml --terminate-after 8h --fetch results -- ./train.sh',
    'gpucloud run -f box.yaml --terminate-after 8h --detach -- ./train.sh',
    'gpucloud run --attach run-0131-1805-x7k2',
  ],
  takes: (command) =>
    withSignInFlags(
      withRequestFlags(
        command
          .argument('[command...]', 'command to run on the instance')
          .option('--name <name>', 'instance name', ruled('--name', instanceName)),
      ),
    )
      .option('--sync <folder>', 'folder to copy to the instance')
      .option('--exclude <pattern>', 'do not copy, as in .gitignore (again for more)', each)
      .option('--fetch <path>', 'copy REMOTE[:LOCAL] back afterwards (again for more)', each)
      .option(
        '--keep-on-failure <duration>',
        'if the job fails, keep the instance for this time',
        ruled('--keep-on-failure', positiveDuration),
      )
      .option('--report <file>', 'write the outcome to a JSON file', reportFile)
      .option('--detach', 'return once the command has started')
      .option('--attach <instance>', 'resume a job: follow, copy back and terminate')
      .option('--dry-run', 'print the plan without renting')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, command, given) {
    const { attach, detach = false, dryRun = false, waitTimeout, pollInterval } = given;
    if (attach !== undefined) refuseJobFlags(command, given);
    if (detach && given.report !== undefined) {
      throw usageError('--detach ends before there is a report: give --report to --attach');
    }
    const { identity, user, sshOption, sshArg } = given;
    const signIn = { identity, user, sshOption, sshArg, waitTimeout, pollInterval };
    const how = await howToReach({ ...signIn, wait: true }, context);
    const report = given.report && resolve(given.report);
    if (report !== undefined) {
      const { ensureReport } = await import('../../run-job/targets.ts');
      await ensureReport(report, { dryRun });
    }
    const { attachJob, runJob } = await import('../../run-job/index.ts');
    if (attach !== undefined) return attachJob(attach, how, report, context);
    const { sync, exclude = [], fetch = [], keepOnFailure, ...flags } = given;
    const { planJob } = await import('../../run-job/plan.ts');
    const { parseFetch } = await import('../../run-job/copy/copy-out.ts');
    const fetched = fetch.map(parseFetch);
    const named = { sync, exclude, fetch: fetched, keepOnFailure, how, detach, report };
    const input = { flags, command, ...named };
    const plan = await planJob(input, { dryRun }, context);
    if (dryRun) {
      const { planRental } = await import('../../instances/planned.ts');
      const planned = await planRental(plan.request, plan, context);
      return context.out.item({ ...plan, ...planned }, planView);
    }
    await runJob(plan, context);
  },
});

function reportFile(given: string): string {
  if (given !== '-') return given;
  throw usageError('--report needs a file: stdout is that of COMMAND; --json reports to stderr');
}

/** `--attach` ends with a termination, so it ignores no flag that promises otherwise. */
function refuseJobFlags(
  command: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  const ofJob = [
    ...['name', 'offer', 'image', 'sshKey', 'file', 'maxPrice'],
    ...['terminateAfter', 'terminateAt', 'unenforced'],
    ...['sync', 'exclude', 'fetch', 'keepOnFailure', 'detach', 'dryRun'],
  ];
  if (command.length > 0 || ofJob.some((flag) => given[flag] !== undefined)) {
    throw usageError('--attach resumes the job with its own COMMAND and flags: leave them out');
  }
}
