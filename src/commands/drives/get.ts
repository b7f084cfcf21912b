import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { DRIVE_HELP, findDrive, typedDrive } from './find.ts';
import { driveView } from './view.ts';

export function registerGet(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: driveView,
    examples: [
      'gpucloud drives get datasets',
      'gpucloud drives get datasets --json | jq -r .used_bytes',
    ],
  })
    .argument('<drive>', DRIVE_HELP, typedDrive)
    .action((drive, _flags, command) => get(drive, frame.context(command)));
}

export async function get(typed: string, context: Context): Promise<void> {
  await context.out.item(await findDrive(typed, await context.api()), driveView);
}
