import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { checked, ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { kopecksText, type Money, money } from '../../rules/money.ts';
import { advanceable, type StateInput, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export interface AdvanceInput extends StateInput {
  readonly milliseconds: number;
}

export function registerAdvance(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes:
      'Everything that is due in between happens, in order: machines become active, hours are charged, drives are suspended.',
    examples: ['gpucloud sandbox advance 10m', 'gpucloud sandbox advance 24h --json'],
  })
    .argument(
      '<duration>',
      'how far, such as 30s, 15m, 2h or 3d; 366d at most',
      ruled('DURATION', advanceable),
    )
    .addOption(stateOption())
    .action((milliseconds, { state }, command) =>
      advance({ milliseconds, state }, frame.context(command)),
    );
}

/** Turns the clock and tells what left the balance meanwhile. */
export async function advance(
  { milliseconds, state }: AdvanceInput,
  context: Context,
): Promise<void> {
  const sandbox = await context.sandbox(state);
  const before = await sandbox.status();
  const after = await sandbox.advance(milliseconds);
  // Reserved funds are part of the balance, so that only charges make it smaller.
  const charged = kopecksText(roubles(before.balance).minus(roubles(after.balance)));
  await context.out.item({ ...after, charged }, statusView);
}

function roubles(text: string): Money {
  return checked('balance', text, money);
}
