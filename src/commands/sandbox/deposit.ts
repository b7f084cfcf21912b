import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { depositAmount, type StateInput, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export interface DepositInput extends StateInput {
  /** Roubles, a decimal. */
  readonly amount: string;
}

export function registerDeposit(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    examples: ['gpucloud sandbox deposit 1500', 'gpucloud sandbox deposit 99.90 --json'],
  })
    .argument('<amount>', 'roubles, such as 1500 or 99.90', ruled('AMOUNT', depositAmount))
    .addOption(stateOption())
    .action((amount, { state }, command) => deposit({ amount, state }, frame.context(command)));
}

export async function deposit({ amount, state }: DepositInput, context: Context): Promise<void> {
  const sandbox = await context.sandbox(state);
  const status = await sandbox.deposit(amount);
  context.err.note(`${amount} ₽ of play money was deposited.`);
  await context.out.item(status, statusView);
}
