import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { keepSighting, sightingOf } from '../kit/sighting.ts';
import { verb } from '../kit/verb.ts';
import { findMachine } from './resolve.ts';
import { instanceView } from './view.ts';

export function registerGet(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'get',
    view: instanceView,
    aliases: ['show'],
    summary: 'Show everything about one machine',
    examples: [
      'gpucloud instances get trainer',
      'gpucloud instances get trainer --json | jq -r .ip_address',
    ],
  })
    .argument('<instance>', 'id, beginning of an id, or name')
    .action((instance, _flags, command) => get(instance, frame.context(command)));
}

export async function get(typed: string, context: Context): Promise<void> {
  const { id } = await findMachine(typed, context);
  const instance = await (await context.api()).instances.get(id);
  await keepSighting(sightingOf(instance), context);
  await context.out.item(instance, instanceView);
}
