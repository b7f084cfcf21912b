import { confirm } from '../../command-line/confirm.ts';
import { ensureKnownStatus, wordOf } from '../../command-line/documented-words.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { type CliError, failuresOf, throwAll } from '../../errors.ts';
import { outcomeOf, withBill } from '../../instances/change/outcome.ts';
import { asking, choose, chooseAll, ensureConfirmable } from '../../instances/choose.ts';
import { noteAccount } from '../../instances/rent/account.ts';
import { knownHere, reservationNote, runPreflight } from '../../instances/rent/preflight.ts';
import { findInstances, type Target } from '../../instances/resolve.ts';
import { waitForEach } from '../../instances/waiting.ts';
import { copiedBack, type JobRecord, mayHaveResults, readJobs } from '../../jobs/record/record.ts';
import { copyNow } from '../../jobs/rescue/copy-now.ts';
import { rescuedText } from '../../jobs/rescue/words.ts';
import { termination } from '../../money/termination.ts';
import { withStop } from '../../output/messages.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { typedName } from '../../rules/names.ts';
import { INSTANCE_STATUSES, mayBill } from '../../rules/statuses.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../watch/flags.ts';
import { change, show } from './changing.ts';
import { changedView } from './view.ts';

const INSTANCES = `names or IDs${OR_STDIN}`;

const STOPPED_COST = 'The API does not document the cost of a stopped instance.';

export const start = verb({
  summary: 'Start stopped instances',
  // No tool: each start reserves another hour, and the API does not say that a stop returns the rest.
  view: changedView,
  notes: 'Starting reserves the price of the next hour. start prints the amount first.',
  examples: ['gpucloud instances start trainer --wait', 'gpucloud instances start trainer lab'],
  takes: (command) =>
    command
      .argument('<instance...>', INSTANCES)
      .addOption(waitStartedOption())
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  run: async (context, typed, { wait, ...times }) =>
    change(
      { verb: 'start', done: 'started', goal: 'ACTIVE', before: reservationNote },
      await choose('start', typed, context),
      { until: statusFor(wait), ...times },
      context,
    ),
});

export const stop = verb({
  summary: 'Stop instances; their disks are kept',
  tool: { allow: 'all', idempotent: true },
  view: changedView,
  notes: `${STOPPED_COST} To stop paying, terminate it. Stopping a stopped instance succeeds.`,
  examples: [
    'gpucloud instances stop trainer',
    'gpucloud instances stop trainer lab --wait',
    'gpucloud instances list -q | gpucloud instances stop -',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', INSTANCES)
      .option('--wait', 'wait until the instance is stopped')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  run: async (context, typed, { wait, ...times }) =>
    change(
      {
        verb: 'stop',
        done: 'stopped',
        goal: 'STOPPED',
        before: (targets) =>
          warnOfJobs(
            targets,
            (back) => `stopping ends its command, and leaves its ${back} on the instance`,
            context,
          ),
      },
      await choose('stop', typed, context),
      { until: wait === true ? 'STOPPED' : undefined, ...times },
      context,
      async (changed) => ({ note: stoppedNote(changed) }),
    ),
});

function stoppedNote(changed: readonly Target[]): string | undefined {
  if (changed.length === 0) return undefined;
  const typed = changed.map(({ id, name }) => typedName(name, id));
  return `${STOPPED_COST} To stop paying: ${gpucloud('instances', 'terminate', ...typed)}`;
}

export const terminate = verb({
  aliases: ['rm', 'delete'],
  summary: 'Terminate instances; their disks are deleted',
  tool: { allow: 'jobs', destroys: true, idempotent: true, asks: true },
  view: changedView,
  notes:
    'Stops billing. The service returns the unused part of the reserved hour to the balance. An ' +
    'attached cloud drive is kept and keeps billing.\n\n' +
    'Shows each instance with its price and asks first, unless --yes is given. --yes accepts ' +
    'names and full IDs, not ID prefixes. In a terminal without INSTANCE, offers the known ' +
    'instances. Terminating a terminated instance succeeds.\n\n' +
    '--all terminates every instance of "instances list". If a request has an unknown outcome, ' +
    'terminates the others and exits with 7.',
  examples: [
    'gpucloud instances terminate trainer',
    'gpucloud instances terminate --all',
    'gpucloud instances terminate trainer lab --yes --wait',
    'gpucloud instances terminate trainer --rescue',
    'gpucloud instances list -q | gpucloud instances terminate - --yes',
  ],
  takes: (command) =>
    command
      .argument('[instance...]', INSTANCES)
      .option('-a, --all', 'terminate all instances known to this computer')
      .option('--rescue', 'copy the --rescue paths of each instance first; if that fails, keep all')
      .option('--wait', 'wait until the instance is terminated')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, typed, { wait, all = false, rescue, ...times }) {
    const own = asking(typed, context);
    if (all && typed.length === 0) await ensureConfirmable(own);
    const chosen = all
      ? await chooseAll(typed, 'was not terminated', own)
      : await choose('terminate', typed, own);
    const { question, findDrives, readLogs, onAccepted, refunds } = termination(own);
    await change(
      {
        verb: 'terminate',
        done: 'terminated',
        goal: 'TERMINATED',
        before: async (targets) => {
          if (targets.length === 0 && (await own.prompts()) !== undefined) return;
          await findDrives(targets);
          await warnOfJobs(targets, (back) => `terminating deletes its ${back}`, own);
          if (targets.length > 0) await noteAccount(own);
          await confirm(own, () => question(targets));
          if (rescue === true) await copyFirst(targets, own);
          if (wait === true) await readLogs(targets);
        },
        onAccepted,
      },
      chosen,
      { until: wait === true ? 'TERMINATED' : undefined, ...times },
      own,
      async (changed) => ({ facts: await refunds(changed, wait === true) }),
    );
  },
});

/** Copies the paths of `--rescue` of each instance. Throws unless everything is here. */
async function copyFirst(targets: readonly Target[], context: Context): Promise<void> {
  const failures: CliError[] = [];
  for (const target of targets) {
    const failed = copyNow(target, { given: undefined }, context).then(({ paths, error }) => {
      if (error !== undefined) throw error;
      context.err.note(rescuedText(target, paths));
    });
    failures.push(...(await failuresOf(failed)));
  }
  const kept = 'Nothing was terminated.';
  throwAll(
    failures.map((one) => one.with(`${withStop(one.message)} ${kept}`, { mayBeBilling: true })),
  );
}

/** Warns about results that are only on an instance. Skips jobs that it can't read. */
async function warnOfJobs(
  targets: readonly Target[],
  meaning: (back: ReturnType<typeof copiedBack>) => string,
  context: Context,
): Promise<void> {
  const jobs: JobRecord[] = [];
  await failuresOf(readJobs(context).then((found) => jobs.push(...found)));
  const open = new Map(jobs.filter(mayHaveResults).map((job) => [job.id, copiedBack(job)]));
  if (open.size === 0) return;
  for (const { id, name, last } of await knownHere(context)) {
    const back = open.get(id);
    if (!targets.some((target) => target.id === id) || back === undefined) continue;
    if (!mayBill(last?.status)) continue;
    context.err.warn(
      'job_unfinished',
      `The job on ${name} is unfinished: ${meaning(back)}. To end the job and copy its ${back} first: ${gpucloud('jobs', 'stop', name)}`,
    );
  }
}

export const wait = verb({
  summary: 'Wait until instances reach a status',
  tool: { allow: 'read' },
  view: changedView,
  completes: { '--for': ['active', 'stopped', 'terminated', 'ssh'] },
  notes:
    'Exits with 0 when all instances reach the status, 8 after --wait-timeout, 11 if the service ' +
    'requests a pause beyond --wait-timeout, and 12 if an instance reaches another final status. If stderr is not a ' +
    'terminal, prints one line per minute to it.',
  examples: [
    'gpucloud instances wait trainer',
    'gpucloud instances wait trainer lab --for stopped --wait-timeout 5m',
  ],
  takes: (command) =>
    command
      .argument('<instance...>', INSTANCES)
      .option(
        '--for <status>',
        'active, stopped, terminated, ssh, or another status',
        wordOf('--for', 'must be ssh or a status, such as active, stopped or terminated'),
        'ACTIVE',
      )
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, typed, { for: status, waitTimeout: timeout, pollInterval: interval }) {
    await ensureKnownStatus('--for', status, [...INSTANCE_STATUSES, 'SSH'], 'status', context);
    const until = status === 'SSH' ? 'ssh' : status;
    const named = await severalGiven('INSTANCE', typed, context);
    const targets = await runPreflight(
      context,
      (interrupt) => notAwaited(interrupt, named, until),
      () => findInstances(named, context),
    );
    const outcomes = await waitForEach(targets, until, { timeout, interval }, context);
    await show(typed, outcomeOf(outcomes, targets), context);
  },
});

function notAwaited(interrupt: CliError, named: readonly string[], until: string): CliError {
  const targets = [...new Set(named)].map((text) => ({ id: text, name: text }));
  const errors = targets.map((target) => withBill(interrupt, { target, until }, undefined));
  return outcomeOf(errors, targets).failure ?? interrupt;
}
