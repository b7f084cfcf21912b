import type { Drive } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import { confirm } from '../../cli/confirm.ts';
import type { Frame } from '../../cli/frame.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { anyName } from '../../rules/names.ts';
import { sizeGb } from '../../rules/numbers.ts';
import { DRIVE_HELP, findDrive, typedDrive } from './find.ts';
import { hourly } from './price.ts';
import { driveView } from './view.ts';

export function registerUpdate(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: driveView,
    notes:
      'The price per hour follows the size: the present one is told before, and the new one once the\n' +
      'size is changed, since the published API has no list of prices. In a terminal it asks before it\n' +
      'changes the size (-y says yes).',
    completes: { '--name': 'nothing' },
    examples: [
      'gpucloud drives update datasets --size 1TB',
      'gpucloud drives update datasets --name archive',
    ],
  })
    .argument('<drive>', DRIVE_HELP, typedDrive)
    .option('--name <name>', 'the new name', ruled('--name', anyName))
    .option('--size <size>', 'the new size: 500, 500GB or 2TB', ruled('--size', sizeGb))
    .action((drive, { name, size }, command) =>
      update({ drive, name, size }, frame.context(command)),
    );
}

export interface UpdateInput {
  readonly drive: string;
  readonly name: string | undefined;
  /** GB. */
  readonly size: number | undefined;
}

export async function update(input: UpdateInput, context: Context): Promise<void> {
  if (input.name === undefined && input.size === undefined) {
    throw usageError('nothing to change: give --name, --size or both');
  }
  const api = await context.api();
  const before = await findDrive(input.drive, api);
  const body = bodyOf(input, before);
  if (body.size_gb !== before.size_gb) await tellResize(before, body.size_gb, context);
  const after = await api.drives.update(before.id, body);
  context.err.note(`Before: ${words(before)}. Now: ${words(after)}.`);
  await context.out.item(after, driveView);
}

/** No price is worked out: that it grows evenly with the size, the document does not say. */
async function tellResize(before: Drive, size: number, context: Context): Promise<void> {
  const name = before.name ?? before.id;
  context.err.note(
    `${name} has ${before.size_gb ?? '?'} GB: ${hourly(before)}. The price of ${size} GB is told once it is changed.`,
  );
  // Nothing is lost by it, so that a script need not say yes to it.
  if ((await context.prompts()) === undefined) return;
  await confirm(context, `Change ${name} from ${before.size_gb ?? '?'} GB to ${size} GB?`);
}

/**
 * PATCH takes both fields. The one that stays is sent as it was read just now: the service raises
 * sizes by itself, and an older reading would take that back.
 */
function bodyOf({ name, size }: UpdateInput, before: Drive): { name: string; size_gb: number } {
  const kept = { name: name ?? before.name, size_gb: size ?? before.size_gb };
  if (typeof kept.name !== 'string' || kept.name.trim() === '') {
    throw untold(before, 'name', '--name');
  }
  if (typeof kept.size_gb !== 'number') {
    throw untold(before, 'size', '--size');
  }
  return { name: kept.name, size_gb: kept.size_gb };
}

function untold({ id }: Drive, field: string, flag: string): CliError {
  return new CliError(
    'notUnderstood',
    `The service did not tell the present ${field} of the drive ${id}, and an update has to send it along. Nothing was changed.`,
    { hint: `give ${flag} too`, resource: id },
  );
}

function words(drive: Drive): string {
  return `${drive.name ?? drive.id}, ${drive.size_gb ?? '?'} GB, ${hourly(drive)}`;
}
