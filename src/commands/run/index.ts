import { Option } from '../../command-line/command.ts';
import { checked, checkedSecret, each, repeated, ruled } from '../../command-line/parse.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { type CountFlags, countOption, minCountOption } from '../../instances/rent/count.ts';
import { withRequestFlags } from '../../instances/rent/flags.ts';
import { type CreateFlags, withFile } from '../../instances/rent/given.ts';
import { manifestSchemaText } from '../../instances/rent/manifest-json.ts';
import { plannedCost, planRental } from '../../instances/rent/planned.ts';
import { askCommand } from '../../jobs/ask.ts';
import { runHere } from '../../jobs/here/index.ts';
import { eachInstance } from '../../jobs/here/note-local.ts';
import { runJob } from '../../jobs/index.ts';
import { refuseSeveralOn, runOnInstance, severalOn } from '../../jobs/on.ts';
import { planJob } from '../../jobs/plan.ts';
import { reportOption } from '../../jobs/report-option.ts';
import { ensureReport } from '../../jobs/targets.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { variableName } from '../../rules/container.ts';
import { anyName, newInstanceName } from '../../rules/names.ts';
import { duration, pollInterval } from '../../rules/times.ts';
import { howToReach, withSignInFlags } from '../../ssh/ssh-flags.ts';
import { pollIntervalOption, waitTimeoutOption } from '../../watch/flags.ts';
import { ensureHere, jobIn, printJobFile, typedFlags } from './job-file.ts';
import { planView } from './view.ts';

/** Hides the value in the error: text after the name may be a secret. */
const passedName = repeated((text: string, before: string[] = []) => {
  const check = text.includes('=') ? checkedSecret : checked;
  return [...before, check('--pass-env', text, variableName)];
});

/** Flags for new instances only. */
const OF_NEW = {
  name: true,
  offer: true,
  retryFor: true,
  image: true,
  sshKey: true,
  template: true,
  drive: true,
  maxPrice: true,
  dockerImage: true,
  dockerCommand: true,
  shmSize: true,
  port: true,
  anyEnvKey: true,
  volume: true,
  terminateAfter: true,
  terminateAt: true,
  ifIdle: true,
  rescue: true,
  rescueBudget: true,
  unenforced: true,
  keepOnFailure: true,
  dryRun: true,
  init: true,
  count: true,
  minCount: true,
} satisfies Record<
  | Exclude<keyof CreateFlags, 'file' | 'env' | 'envFile'>
  | 'keepOnFailure'
  | 'dryRun'
  | 'init'
  | keyof CountFlags,
  true
>;

function warnOfStdin({ host, err }: Context): void {
  host.onStdinData?.(() =>
    err.warn(
      'stdin_not_read',
      "run doesn't read stdin or pass it to COMMAND. Pass a script with -- sh -c '...', or copy files with --sync.",
    ),
  );
}

export const run = verb({
  summary: 'Rent an instance, run a command, fetch results and terminate it',
  // They need --here, which agents don't have.
  tool: { allow: 'jobs', without: ['--count', '--min-count'] },
  view: planView,
  notes:
    'Rents an instance, copies files to it, runs COMMAND, copies results back and terminates the ' +
    'instance, also after a failure. Prints the stdout and stderr of COMMAND. In a terminal, ' +
    "asks for missing values. Without --ssh-key, uses the account's default SSH key, or its only " +
    'one.\n\n' +
    'COMMAND runs in the copied folder, without a shell to expand its arguments. ' +
    '--sync skips .git and the patterns in .gpucloudignore, or without that file those in ' +
    '.gitignore files. --fetch paths are relative to ' +
    'the same folder. The instance expands a quoted pattern. Without --fetch, files that COMMAND writes ' +
    'are deleted with the instance.\n\n' +
    "--pass-env, --env and --env-file set variables for COMMAND. gpucloud doesn't write their values to " +
    'command lines or files. With --docker-image, --env and --env-file set the variables of the container.\n\n' +
    '--file reads the job from a file. Flags override its fields, and relative paths in the file start at ' +
    'its folder. --init prints a file with the given flags. With --on, run uses only the fields of the job.\n\n' +
    '--setup runs before COMMAND, for example to install packages. It prints to stderr. With --on, it is ' +
    'skipped if the same setup, with the same content of each --setup-file, has succeeded on the instance.\n\n' +
    '--on runs COMMAND on an existing instance and does not terminate it: copies changed files, ' +
    "runs COMMAND and copies results back. --on can't be used with flags for new instances.\n\n" +
    '--detach returns once COMMAND has started; "jobs" follows it. After that, only ' +
    '"instances reap" fetches the results and terminates the instance. --detach therefore needs a ' +
    'scheduled reap, or --unenforced.\n\n' +
    'With several --offer flags, tries the offers in order, like "instances create".\n\n' +
    '--here runs COMMAND, such as GNU parallel or Ansible, on this computer. --count 4 rents ' +
    'NAME-1 to NAME-4 for COMMAND. GPUCLOUD_SSHLOGINFILE, GPUCLOUD_ANSIBLE_INVENTORY, ' +
    'GPUCLOUD_HOSTFILE and GPUCLOUD_SSH_CONFIG contain the paths of files that list the instances. ' +
    '--sync copies to ~/gpucloud-run/work on each instance; --fetch copies from there to LOCAL/NAME/. ' +
    '--setup does not work with --here: COMMAND itself prepares the instances.\n\n' +
    "Exits with COMMAND's exit code, with 125 if gpucloud failed before COMMAND ended, and with 7 " +
    'if the instance may still be billing. The first Ctrl-C interrupts COMMAND; the second ' +
    'terminates without copying results.',
  // Flags after the first word belong to the user's command.
  ownWords: 0,
  passesOn: 'COMMAND',
  several: { flag: '--on', error: severalOn },
  ends: ['runFailed', 'outcomeUnknown'],
  completes: {
    command: 'nothing',
    '--name': 'nothing',
    '--port': 'nothing',
    '--docker-image': 'nothing',
    '--docker-command': 'nothing',
    '--on': 'instance',
    '--exclude': 'nothing',
    '--setup': 'nothing',
    '--fetch': 'nothing',
    '--count': 'nothing',
    '--min-count': 'nothing',
    '--pass-env': 'nothing',
    '--sync': 'file',
    '--user': 'nothing',
  },
  examples: [
    'gpucloud run -f job.yaml',
    "gpucloud run --init --offer 'RTX 4090' --sync . -- python a.py > job.yaml",
    'gpucloud run -f box.yaml --terminate-after 1h -- nvidia-smi',
    'gpucloud run -f box.yaml --terminate-after 2h --sync . -- python train.py',
    'gpucloud run -f box.yaml --terminate-after 8h --fetch results -- ./train.sh',
    'gpucloud run --on dev --fetch out --fetch-every 10m -- python train.py',
    'gpucloud run -f box.yaml --terminate-after 8h --pass-env HF_TOKEN -- make',
    'gpucloud run -f box.yaml --terminate-after 8h --detach -- ./train.sh',
    'gpucloud run --on dev --sync . -- python train.py',
    "gpucloud run --on dev --fetch 'out/*.csv:tables' -- ./report.sh",
    'gpucloud run -f box.yaml --count 4 --here --terminate-after 2h -- ./sweep.sh',
  ],
  takes: (command) =>
    withSignInFlags(
      withRequestFlags(
        command
          .argument(
            '[command...]',
            'command to run on the instance, or with --here on this computer',
          )
          .option('--name <name>', 'instance name', ruled('--name', newInstanceName)),
      ),
    )
      .addOption(
        new Option('--on <instance>', 'run on this existing instance and keep it')
          .argParser(ruled('--on', anyName))
          .conflicts(Object.keys(OF_NEW)),
      )
      .optionsGroup('Several instances:')
      .addOption(
        new Option('--here', 'run COMMAND on this computer, with files that list the instances'),
      )
      .addOption(countOption())
      .addOption(minCountOption())
      .optionsGroup('Options:')
      .option('--sync <folder>', 'folder to copy to the instance', ruled('--sync', anyName))
      .option(
        '--setup <command>',
        'run this first, with sh -e, in the folder of COMMAND; if it fails, the job ends',
        ruled('--setup', anyName),
      )
      .option(
        '--setup-file <file>',
        'with --on: run the setup again if this file changes (repeatable)',
        each,
      )
      .option('--setup-again', 'run the setup although it has succeeded on the instance')
      .option('--exclude <pattern>', 'skip files that match, as in .gitignore (repeatable)', each)
      .option('--no-gitignore', 'also copy files that match a .gitignore file')
      .option('--fetch <path>', 'copy REMOTE[:LOCAL] back after COMMAND exits (repeatable)', each)
      .option(
        '--fetch-every <duration>',
        'also copy the --fetch paths this often while COMMAND runs',
        ruled('--fetch-every', pollInterval),
      )
      .option(
        '--pass-env <name>',
        'pass this environment variable to COMMAND (repeatable)',
        passedName,
      )
      .option(
        '--keep-on-failure <duration>',
        'if the job fails, keep the instance for this time, at most until the deadline',
        ruled('--keep-on-failure', duration),
      )
      .option(
        '--grace <duration>',
        'interrupt COMMAND this long before the deadline to copy results (default: a tenth of the time)',
        ruled('--grace', duration),
      )
      .addOption(reportOption())
      .option('-d, --detach', 'return once the command has started')
      .option('--dry-run', 'print the plan without renting')
      .option('--init', 'print a job file with these flags')
      .option('--schema', 'print the JSON Schema of --file')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, typed, given) {
    const { detach = false, dryRun = false, waitTimeout, pollInterval, on, schema, init } = given;
    if (schema === true) return context.out.text(manifestSchemaText());
    const isOn = on !== undefined;
    if (on !== undefined) await refuseSeveralOn(on, typed, context);
    const read = await withFile(typedFlags(typed, given), isOn ? 'job' : 'both', context);
    const isHere = read.flags.here === true;
    if (isHere) ensureHere(read, given);
    if (init === true) return printJobFile(read, given, context);
    const isAsked = read.flags.command === undefined && given.file !== '-';
    const prompts = isAsked ? await context.prompts() : undefined;
    const asked = prompts === undefined ? {} : { command: await askCommand(prompts) };
    const { identity, user, sshOption, sshArg } = given;
    if (context.flags.timeout !== undefined) {
      context.err.note(
        '--timeout limits each request, not the job. --terminate-after limits the job.',
      );
    }
    const signIn = { identity, user, sshOption, sshArg, waitTimeout, pollInterval };
    const how = await howToReach({ ...signIn, wait: true }, context);
    const report_file = given.report ?? null;
    if (report_file !== null) {
      await ensureReport(report_file, { dryRun });
    }
    const { count, minCount } = read.flags;
    if (!isHere && (count ?? minCount) !== undefined) {
      throw usageError(
        `${read.from(count === undefined ? 'minCount' : 'count')} needs --here`,
        `to run COMMAND on each instance: ${eachInstance(count ?? 4, jobIn(read).fetch)}; to run it on this computer, using several instances: ${gpucloud('run', '--count', '4', '--here', '--', 'parallel')} …`,
      );
    }
    if (!isHere && given.file !== '-') warnOfStdin(context);
    const input = { ...jobIn(read), ...asked, how, detach, report_file };
    if (on !== undefined) {
      return runOnInstance(on, input, context);
    }
    const plan = await planJob(input, { dryRun }, context);
    if (dryRun) {
      const planned = await planRental(plan.request, plan, context);
      const now = context.serviceClock.now();
      const cost = plannedCost(
        { ...plan, count: plan.names.length, rescue: plan.ends.toRescue },
        Date.parse(planned.deadline ?? ''),
        now,
      );
      return context.out.item({ ...plan, ...planned, cost }, planView);
    }
    if (isHere) {
      return runHere(plan, context);
    }
    await runJob(plan, context);
  },
});
