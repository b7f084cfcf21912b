import { confirm } from '../../command-line/confirm.ts';
import { ensureKnownStatus, wordOf } from '../../command-line/documented-words.ts';
import { OR_STDIN, severalGiven } from '../../command-line/input.ts';
import { showDone } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import type { CliError } from '../../errors.ts';
import { type Change, changeEach } from '../../instances/change/change.ts';
import { type Changed, type Outcome, outcomeOf, withBill } from '../../instances/change/outcome.ts';
import { reservationNote, runPreflight } from '../../instances/rent/preflight.ts';
import { findInstances, pickInstances } from '../../instances/resolve.ts';
import { waitForEach } from '../../instances/waiting.ts';
import { termination } from '../../money/termination.ts';
import { INSTANCE_STATUSES } from '../../rules/statuses.ts';
import {
  pollIntervalOption,
  statusFor,
  waitStartedOption,
  waitTimeoutOption,
} from '../../watch/flags.ts';
import { changedView } from './view.ts';

const INSTANCES = `names or IDs${OR_STDIN}`;

export const start = verb({
  summary: 'Start stopped instances',
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
      typed,
      { until: statusFor(wait), ...times },
      context,
    ),
});

export const stop = verb({
  summary: 'Stop instances; their disks are kept',
  view: changedView,
  notes:
    'The API does not document the price of a stopped instance. To stop paying, terminate it. ' +
    'Stopping a stopped instance succeeds.',
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
      { verb: 'stop', done: 'stopped', goal: 'STOPPED' },
      typed,
      { until: wait === true ? 'STOPPED' : undefined, ...times },
      context,
    ),
});

export const terminate = verb({
  aliases: ['rm', 'delete'],
  summary: 'Terminate instances; their disks are deleted',
  view: changedView,
  notes:
    'Stops billing. The service returns the unused part of the reserved hour to the balance. An ' +
    'attached cloud drive is kept.\n\n' +
    'Shows each instance with its price and asks first, unless --yes is given. --yes accepts ' +
    'names and full IDs, not ID prefixes. In a terminal without INSTANCE, offers the known ' +
    'instances. Terminating a terminated instance succeeds.',
  examples: [
    'gpucloud instances terminate trainer',
    'gpucloud instances terminate trainer lab --yes --wait',
    'gpucloud instances list -q | gpucloud instances terminate - --yes',
  ],
  takes: (command) =>
    command
      .argument('[instance...]', INSTANCES)
      .option('--wait', 'wait until the instance is terminated')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, typed, { wait, ...times }) {
    const { question, readLogs, onAccepted, refunds } = termination(context);
    await change(
      {
        verb: 'terminate',
        done: 'terminated',
        goal: 'TERMINATED',
        before: async (targets) => {
          await confirm(context, () => question(targets));
          if (wait === true) await readLogs(targets);
        },
        onAccepted,
      },
      typed,
      { until: wait === true ? 'TERMINATED' : undefined, ...times },
      context,
      (changed) => refunds(changed, wait === true),
    );
  },
});

export const wait = verb({
  summary: 'Wait until instances reach a status',
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

async function change(
  what: Change,
  typed: readonly string[],
  wait: { until: string | undefined; waitTimeout: number; pollInterval: number },
  context: Context,
  factsOf?: (changed: Outcome['changed']) => Promise<ReadonlyMap<string, string>>,
): Promise<void> {
  const { until, waitTimeout: timeout, pollInterval: interval } = wait;
  const times = { timeout, interval };
  const instances =
    typed.length > 0
      ? await severalGiven('INSTANCE', typed, context)
      : await pickInstances(`Which instances do you want to ${what.verb}?`, context);
  const accepted = new Set<string>();
  const onAccepted = (id: string) => {
    accepted.add(id);
    what.onAccepted?.(id);
  };
  const already = new Set<string>();
  const onAlready = (id: string) => void already.add(id);
  const all = { ...what, onAccepted, onAlready };
  const outcome = await changeEach(all, instances, { until, times }, context);
  const facts = await factsOf?.(outcome.changed);
  // Omits instances reported in notes.
  const isNews = ({ id }: Changed) => !already.has(id) && (until !== undefined || accepted.has(id));
  await show(typed, outcome, context, { facts, isNews });
}

interface News {
  /** Additional text per instance, by ID. */
  readonly facts?: ReadonlyMap<string, string> | undefined;
  isNews?(changed: Changed): boolean;
}

/** Prints one line per instance to a terminal, otherwise the table. */
async function show(
  typed: readonly string[],
  { changed, failure }: Outcome,
  context: Context,
  { facts, isNews = () => true }: News = {},
): Promise<void> {
  const { out, err } = context;
  const isPerson = out.people && out.terminal;
  for (const one of changed) {
    const more = facts?.get(one.id);
    if (more !== undefined || (isPerson && isNews(one))) {
      err.note(`${one.name} is ${one.status}.${more === undefined ? '' : ` ${more}`}`);
    }
  }
  const failed = failure === undefined ? [] : [failure];
  await showDone({ typed, done: isPerson ? [] : changed, failed }, changedView, context);
}
