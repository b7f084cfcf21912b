import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { undocumented } from '../kit/undocumented.ts';
import { registerBalance } from './balance.ts';
import { registerPromo } from './promo.ts';
import { registerRunway } from './runway.ts';
import { registerSpend } from './spend.ts';
import { registerTransactions } from './transactions.ts';

/** The verbs of `gpucloud billing`, in the order of the help. */
export function registerBilling(group: AnyCommand, frame: Frame): void {
  registerBalance(group, frame);
  registerTransactions(group, frame);
  registerSpend(group, frame);
  registerRunway(group, frame);
  registerPromo(group, frame);
  undocumented(group, {
    deposit:
      'top up where you signed up; a promo code is activated with "gpucloud billing promo CODE", and the sandbox is topped up with "gpucloud sandbox deposit"',
  });
}
