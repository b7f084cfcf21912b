import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { type StateInput, stateOption } from './flags.ts';
import { statusView } from './view.ts';

export function registerStatus(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'status',
    summary: 'Show the time, the money and the machines of the sandbox',
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
