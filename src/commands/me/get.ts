import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { profileView } from './view.ts';

export function registerGet(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: profileView,
    examples: ['gpucloud me get', 'gpucloud me get --json | jq -r .email'],
  }).action((_flags, command) => get(frame.context(command)));
}

export async function get(context: Context): Promise<void> {
  await context.out.item(await (await context.api()).users.me(), profileView);
}
