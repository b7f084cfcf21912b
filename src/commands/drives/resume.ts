import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { DRIVE_HELP, driveIdOf, typedDrive } from './find.ts';
import { hourly } from './price.ts';
import { driveView } from './view.ts';

export function registerResume(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: driveView,
    notes:
      'A drive is suspended when the balance is exhausted. The debt of the frozen time is charged on\n' +
      'top-up, and after 7 days in this state the drive is deleted permanently.',
    examples: ['gpucloud drives resume datasets'],
  })
    .argument('<drive>', DRIVE_HELP, typedDrive)
    .action((drive, _flags, command) => resume(drive, frame.context(command)));
}

export async function resume(typed: string, context: Context): Promise<void> {
  const api = await context.api();
  const drive = await api.drives.resume(await driveIdOf(typed, api));
  context.err.note(
    `The drive ${drive.name ?? drive.id} is ${drive.status ?? 'resumed'}: ${hourly(drive)}, billing goes on.`,
  );
  await context.out.item(drive, driveView);
}
