import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { type StateInput, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export function registerStatus(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    examples: ['gpucloud sandbox status', 'gpucloud sandbox status --json'],
  })
    .addOption(stateOption())
    .action(({ state }, command) => showStatus({ state }, frame.context(command)));
}

/** Reads a sandbox; one that is not there yet is made, as the first request to it would. */
export async function showStatus({ state }: StateInput, context: Context): Promise<void> {
  const sandbox = await context.sandbox(state);
  await context.out.item(await sandbox.status(), statusView);
}
