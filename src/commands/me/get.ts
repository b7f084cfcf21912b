import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { profileView } from './view.ts';

export function registerGet(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'get',
    view: profileView,
    aliases: ['show'],
    summary: 'Show the account that the API key belongs to',
    examples: ['gpucloud me get', 'gpucloud me get --json | jq -r .email'],
  }).action((_flags, command) => get(frame.context(command)));
}

export async function get(context: Context): Promise<void> {
  await context.out.item(await (await context.api()).users.me(), profileView);
}
