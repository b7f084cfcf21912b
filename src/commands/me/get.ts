import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { describe } from '../kit/verb.ts';
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
