import type { Context } from '../../context.ts';
import type { AnyCommand } from '../kit/command.ts';
import type { Frame } from '../kit/frame.ts';
import { verb } from '../kit/verb.ts';
import { driveView, SEVEN_DAYS } from './view.ts';

export function registerList(group: AnyCommand, frame: Frame): void {
  verb(group, {
    name: 'list',
    view: driveView,
    aliases: ['ls'],
    summary: 'List the cloud drives of the account',
    examples: [
      'gpucloud drives list',
      'gpucloud drives list --columns name,size_gb,used_bytes --sort -size_gb',
    ],
  }).action((_flags, command) => list(frame.context(command)));
}

export async function list(context: Context): Promise<void> {
  const drives = await (await context.api()).drives.list();
  await context.out.list(drives, driveView);
  for (const { id, name, status } of drives) {
    if (status === 'SUSPENDED') {
      context.err.warn(
        `The drive ${name ?? id} is SUSPENDED: ${SEVEN_DAYS}. Top up the balance, then: gpucloud drives resume ${id}`,
      );
    }
  }
}
