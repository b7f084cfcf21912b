import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { oneOf } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import type { Fault } from '../../sandbox/index.ts';
import { FAULTS } from '../../sandbox/service/faults.ts';
import { type StateInput, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export interface FaultInput extends StateInput {
  /** `none` forgets those that were ordered and have not struck. */
  readonly fault: Fault | 'none';
}

export const FAULT_NAMES = Object.keys(FAULTS).filter(isFault);

function isFault(name: string): name is Fault {
  return Object.hasOwn(FAULTS, name);
}

export function registerFault(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    notes: `Each strikes once; ordered twice, it strikes twice.\n\n${faultLines()}`,
    examples: [
      'gpucloud sandbox fault fail-start',
      'gpucloud sandbox fault slow-provisioning',
      'gpucloud sandbox fault none',
    ],
  })
    .argument('<name>', 'one of the names above', oneOf('NAME', [...FAULT_NAMES, 'none']))
    .addOption(stateOption())
    .action((fault, { state }, command) => order({ fault, state }, frame.context(command)));
}

function faultLines(): string {
  const lines = FAULT_NAMES.map((name) => [name, FAULTS[name]] as const);
  const all = [...lines, ['none', 'forget the failures that have not struck yet'] as const];
  return all.map(([name, what]) => `  ${name.padEnd(18)} ${what}`).join('\n');
}

export async function order({ fault, state }: FaultInput, context: Context): Promise<void> {
  const sandbox = await context.sandbox(state);
  if (fault === 'none') {
    await sandbox.clearFaults();
    context.err.note('No failure is ordered any more.');
  } else {
    await sandbox.inject(fault);
    context.err.note(`Ordered ${fault}: ${FAULTS[fault]}.`);
  }
  await context.out.item(await sandbox.status(), statusView);
}
