import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Sandbox } from '../../sandbox/index.ts';
import { openingBalance, type StateInput, speed, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export interface ResetInput extends StateInput {
  readonly balance: string | undefined;
  readonly speed: number | undefined;
}

export function registerReset(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'Machines, drives, keys and transactions of the sandbox are forgotten. It asks first when there is something to lose.',
    examples: [
      'gpucloud sandbox reset',
      'gpucloud sandbox reset --yes --balance 500 --speed 60',
      'gpucloud sandbox reset --state ./test.json --yes',
    ],
  })
    .option(
      '--balance <roubles>',
      'the opening balance (default: 10000.00 and a bonus of 500.00)',
      ruled('--balance', openingBalance),
    )
    .option(
      '--speed <number>',
      'virtual seconds a second; 0 stops the clock (default: 1)',
      ruled('--speed', speed),
    )
    .addOption(stateOption())
    .action(({ balance, speed: pace, state }, command) =>
      reset({ balance, speed: pace, state }, frame.context(command)),
    );
}

export async function reset(input: ResetInput, context: Context): Promise<void> {
  const sandbox = await context.sandbox(input.state);
  const loss = await whatIsLost(sandbox);
  if (loss !== undefined) {
    await confirm(context, `${loss} Start the sandbox afresh?`);
  }
  const status = await sandbox.reset({
    ...(input.balance === undefined ? {} : { balance: input.balance }),
    ...(input.speed === undefined ? {} : { speed: input.speed }),
  });
  context.err.note('The sandbox starts afresh: no machines, no drives, a new account.');
  await context.out.item(status, statusView);
}

/** undefined when nobody would miss anything. */
async function whatIsLost(sandbox: Sandbox): Promise<string | undefined> {
  try {
    const { instances, drives } = await sandbox.status();
    const names = [...instances, ...drives].map(({ name, status }) => `${name} ${status}`);
    return names.length === 0 ? undefined : `This forgets ${names.join(', ')}.`;
  } catch (error) {
    // A file that is no sandbox may be somebody's work, named by mistake.
    if (error instanceof CliError && error.failure === 'storage') {
      return `${error.message}.`;
    }
    throw error;
  }
}
