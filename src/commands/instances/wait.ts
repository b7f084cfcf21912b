import { type AnyCommand, Option } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { brokenRule, ruled } from '../../cli/parse.ts';
import { OR_STDIN, severalGiven } from '../../cli/several.ts';
import { refuseMistyped, tellUndocumented } from '../../cli/types.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Changed } from '../../instances/change.ts';
import { beforeSending } from '../../instances/preflight.ts';
import { findMachines } from '../../instances/resolve.ts';
import { errorOfSeveral, politely, waitFor, withBill } from '../../instances/waiting.ts';
import { positiveDuration } from '../../rules/durations.ts';
import { INSTANCE_STATUSES } from '../../rules/statuses.ts';
import { DEFAULT_WAIT, pollIntervalOption, type WaitTimes } from '../../watch/flags.ts';
import { changedView } from './view.ts';

export function registerWait(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: changedView,
    replaces: ['--timeout'],
    completes: { '--for': ['active', 'stopped', 'terminated', 'ssh'] },
    notes:
      'Exit code 0 once all have it, 8 past --timeout, 11 where the service wants to be left alone\n' +
      'until after it, 12 for a machine that ended elsewhere.',
    examples: [
      'gpucloud instances wait trainer',
      'gpucloud instances wait trainer lab --for stopped --timeout 5m',
    ],
  })
    .argument('<instance...>', `ids, beginnings of ids, or names${OR_STDIN}`)
    .option('--for <status>', 'active, stopped, terminated, ssh, or any status', wanted, 'ACTIVE')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait')
        .default(DEFAULT_WAIT.timeout, '15m')
        .argParser(ruled('--timeout', positiveDuration)),
    )
    .addOption(pollIntervalOption())
    .action((instances, { for: until, timeout, pollInterval }, command) =>
      wait(
        { instances, until, times: { timeout, interval: pollInterval } },
        frame.context(command),
      ),
    );
}

/** Statuses are the service's own words; new ones may come, so any word unlike them is waited for. */
function wanted(text: string): string {
  if (!/^[A-Za-z_]{1,40}$/.test(text)) {
    throw brokenRule('--for', text, 'it is ssh or a status, such as active, stopped or terminated');
  }
  const word = text.toUpperCase();
  refuseMistyped('--for', text, [...INSTANCE_STATUSES, 'SSH']);
  return word === 'SSH' ? 'ssh' : word;
}

export interface WaitInput {
  readonly instances: readonly string[];
  readonly until: string;
  readonly times: WaitTimes;
}

export async function wait(
  { instances, until, times }: WaitInput,
  context: Context,
): Promise<void> {
  const named = await severalGiven('INSTANCE', instances, context);
  const ended = (interrupt: CliError) => noneAwaited(interrupt, [...new Set(named)], until);
  const targets = await beforeSending(context, ended, () => findMachines(named, context));
  if (until !== 'ssh') tellUndocumented([until], INSTANCE_STATUSES, context, 'status');
  const gate = politely();
  const outcomes = await Promise.all(
    targets.map(async (target): Promise<Changed | CliError> => {
      try {
        const { name, status, paid_until } = await waitFor({ target, until, gate }, times, context);
        return { id: target.id, name: name ?? target.name, status, paid_until };
      } catch (error) {
        if (error instanceof CliError) return error;
        throw error;
      }
    }),
  );
  const reached = outcomes.filter((outcome) => !(outcome instanceof CliError));
  if (reached.length > 0 || context.out.format !== 'table') {
    await context.out.list(reached, changedView);
  }
  const [first, ...others] = outcomes.filter((outcome) => outcome instanceof CliError);
  if (first !== undefined) throw errorOfSeveral([first, ...others], targets);
}

function noneAwaited(interrupt: CliError, named: readonly string[], until: string): CliError {
  const targets = named.map((text) => ({ id: text, name: text }));
  const [first, ...others] = targets.map((target) =>
    withBill(interrupt, { target, until }, undefined),
  );
  return first === undefined ? interrupt : errorOfSeveral([first, ...others], targets);
}
