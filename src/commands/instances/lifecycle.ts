import { confirm } from '../../command-line/confirm.ts';
import { ensureKnownStatus, wordOf } from '../../command-line/documented-words.ts';
import { OR_STDIN, STDIN, severalGiven } from '../../command-line/input.ts';
import { showDone } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { type CliError, usageError } from '../../errors.ts';
import { type Change, changeEach } from '../../instances/change/change.ts';
import { type Changed, type Outcome, outcomeOf, withBill } from '../../instances/change/outcome.ts';
import { everyBilling } from '../../instances/every-billing.ts';
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
  tool: { allow: 'all', idempotent: true, own: true },
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
      await choose('stop', typed, context),
      { until: wait === true ? 'STOPPED' : undefined, ...times },
      context,
    ),
});

export const terminate = verb({
  aliases: ['rm', 'delete'],
  summary: 'Terminate instances; their disks are deleted',
  tool: { allow: 'jobs', destroys: true, idempotent: true, asks: true },
  view: changedView,
  notes:
    'Stops billing. The service returns the unused part of the reserved hour to the balance. An ' +
    'attached cloud drive is kept.\n\n' +
    'Shows each instance with its price and asks first, unless --yes is given. --yes accepts ' +
    'names and full IDs, not ID prefixes. In a terminal without INSTANCE, offers the known ' +
    'instances. Terminating a terminated instance succeeds.\n\n' +
    '--all terminates every instance of "instances list". If a request has an unknown outcome, ' +
    'terminates the others and exits with 7.',
  examples: [
    'gpucloud instances terminate trainer',
    'gpucloud instances terminate --all',
    'gpucloud instances terminate trainer lab --yes --wait',
    'gpucloud instances list -q | gpucloud instances terminate - --yes',
  ],
  takes: (command) =>
    command
      .argument('[instance...]', INSTANCES)
      .option('-a, --all', 'terminate all instances known to this computer')
      .option('--wait', 'wait until the instance is terminated')
      .addOption(waitTimeoutOption())
      .addOption(pollIntervalOption()),
  async run(context, typed, { wait, all = false, ...times }) {
    // A pipe on stdin can name the instances, but can't answer.
    const own = typed.includes(STDIN) ? withTerminalPrompts(context) : context;
    const chosen = all ? await chooseAll(typed, own) : await choose('terminate', typed, own);
    const { question, readLogs, onAccepted, refunds } = termination(own);
    await change(
      {
        verb: 'terminate',
        done: 'terminated',
        goal: 'TERMINATED',
        before: async (targets) => {
          if (all && targets.length === 0) return;
          await confirm(own, () => question(targets));
          if (wait === true) await readLogs(targets);
        },
        onAccepted,
      },
      chosen,
      { until: wait === true ? 'TERMINATED' : undefined, ...times },
      own,
      (changed) => refunds(changed, wait === true),
    );
  },
});

/** Returns the context with prompts that don't read stdin. */
function withTerminalPrompts(context: Context): Context {
  return Object.create(context, { prompts: { value: context.terminalPrompts } });
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

/** The instances to change. */
interface Chosen {
  /** The typed arguments. A single argument is printed as an object. */
  readonly typed: readonly string[];
  readonly instances: readonly string[];
  /** Why other instances were left out. */
  readonly left: readonly CliError[];
}

async function choose(
  verb: Change['verb'],
  typed: readonly string[],
  context: Context,
): Promise<Chosen> {
  const instances =
    typed.length > 0
      ? await severalGiven('INSTANCE', typed, context)
      : await pickInstances(`Which instances do you want to ${verb}?`, context);
  return { typed, instances, left: [] };
}

async function chooseAll(typed: readonly string[], context: Context): Promise<Chosen> {
  if (typed.length > 0) throw usageError("--all can't be used with INSTANCE");
  if (context.flags.yes !== true && (await context.prompts()) === undefined) {
    throw usageError('not interactive: add --yes to confirm (Terminate all known instances?)');
  }
  const nothingSent = (interrupt: CliError) =>
    interrupt.with(`${interrupt.message} Nothing was sent.`, { mayBeBilling: true });
  const { ids, left } = await runPreflight(context, nothingSent, () => everyBilling(context));
  if (ids.length === 0) context.err.note('No known instance is billing.');
  return { typed, instances: ids, left };
}

async function change(
  what: Change,
  { typed, instances, left }: Chosen,
  wait: { until: string | undefined; waitTimeout: number; pollInterval: number },
  context: Context,
  factsOf?: (changed: Outcome['changed']) => Promise<ReadonlyMap<string, string>>,
): Promise<void> {
  const { until, waitTimeout: timeout, pollInterval: interval } = wait;
  const times = { timeout, interval };
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
  await show(typed, outcome, context, { facts, isNews, left });
}

interface News {
  /** Additional text per instance, by ID. */
  readonly facts?: ReadonlyMap<string, string> | undefined;
  isNews?(changed: Changed): boolean;
  readonly left?: readonly CliError[];
}

/** Prints one line per instance to a terminal, otherwise the table. */
async function show(
  typed: readonly string[],
  { changed, failure }: Outcome,
  context: Context,
  { facts, isNews = () => true, left = [] }: News = {},
): Promise<void> {
  const { out, err } = context;
  const isPerson = out.people && out.terminal;
  for (const one of changed) {
    const more = facts?.get(one.id);
    if (more !== undefined || (isPerson && isNews(one))) {
      err.note(`${one.name} is ${one.status}.${more === undefined ? '' : ` ${more}`}`);
    }
  }
  const failed = [...(failure === undefined ? [] : [failure]), ...left];
  await showDone({ typed, done: isPerson ? [] : changed, failed }, changedView, context);
}
