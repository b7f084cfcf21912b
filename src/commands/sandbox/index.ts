import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { registerAdvance } from './advance.ts';
import { registerCatalog } from './catalog.ts';
import { registerDeposit } from './deposit.ts';
import { registerFault } from './fault.ts';
import { registerReset } from './reset.ts';
import { registerServe } from './serve.ts';
import { registerStatus } from './status.ts';
import { registerTour } from './tour.ts';

/** The sandbox works whichever profile is in force, and needs no key. */
export function registerSandbox(group: AnyCommand, frame: Frame): void {
  registerTour(group, frame);
  registerCatalog(group, frame);
  registerStatus(group, frame);
  registerAdvance(group, frame);
  registerDeposit(group, frame);
  registerFault(group, frame);
  registerReset(group, frame);
  registerServe(group, frame);
}
