import type { Api, Drive } from '../../api/index.ts';
import { confirm } from '../../command-line/confirm.ts';
import type { Group } from '../../command-line/group.ts';
import { OR_STDIN } from '../../command-line/input.ts';
import { DRIVE, idOf } from '../../command-line/lookup.ts';
import { ruled, ruledEach } from '../../command-line/parse.ts';
import { printEach, unlessNoted } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { fullText } from '../../money/full-drive.ts';
import { driveRow } from '../../money/rows.ts';
import type { Output } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { retryChange } from '../../retry-change.ts';
import { anyName } from '../../rules/names.ts';
import { sizeGb } from '../../rules/numbers.ts';
import type { Warning } from '../../warnings.ts';
import { intervalOption, watchOption } from '../../watch/flags.ts';
import { watch } from '../../watch/watch.ts';
import { create } from './create.ts';
import { driveView, hourly, peopleView, SEVEN_DAYS } from './view.ts';

const ONE_DRIVE = ['<drive>', 'name or ID', ruled('DRIVE', anyName)] as const;
const DRIVES = [
  '<drive...>',
  `names, IDs or ID prefixes of drives${OR_STDIN}`,
  ruledEach('DRIVE', anyName),
] as const;
export const drives: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List cloud drives',
      tool: { allow: 'read' },
      view: driveView,
      examples: [
        'gpucloud drives list',
        'gpucloud drives list --columns name,size_gb,used_bytes --sort -size_gb',
        'gpucloud drives list --watch',
      ],
      takes: (command) => command.addOption(watchOption()).addOption(intervalOption()),
      async run(context, { watch: isWatched, interval }) {
        const api = await context.api();
        if (isWatched === true) {
          const read = api.drives.list;
          const show = (drives: readonly Drive[], out: Output) => list(drives, out, context);
          return watch(
            { read, show, rows: (drives) => drives, view: driveView, warnings: drivesAtRisk },
            interval,
            context,
          );
        }
        const drives = await api.drives.list();
        await list(drives, context.out, context);
        for (const { code, message } of drivesAtRisk(drives)) context.err.warn(code, message);
      },
    }),
    get: verb({
      aliases: ['show'],
      summary: 'Show one drive in detail',
      tool: { allow: 'read' },
      view: driveView,
      examples: [
        'gpucloud drives get datasets',
        'gpucloud drives get datasets --json | jq -r .used_bytes',
        'gpucloud drives list -q | gpucloud drives get - --json',
      ],
      takes: (command) => command.argument(...DRIVES),
      async run(context, typed) {
        const api = await context.api();
        const lookup = driveLookup(api);
        // Reads the drive itself, since the list may be outdated.
        const work = async (text: string) => api.drives.get(await idOf(text, lookup));
        await printEach('DRIVE', typed, { work, view: driveView }, context);
      },
    }),
    create: () => create,
    update: verb({
      summary: 'Rename a drive or change its billed size',
      view: driveView,
      notes:
        'The price per hour depends on the size. Prints the old and the new price after the ' +
        'change. In a terminal, asks before changing the size, unless --yes is given.',
      completes: { '--name': 'nothing' },
      examples: [
        'gpucloud drives update datasets --size 1TB',
        'gpucloud drives update datasets --name archive',
      ],
      takes: (command) =>
        command
          .argument(...ONE_DRIVE)
          .option('--name <name>', 'new name', ruled('--name', anyName))
          .option('--size <size>', 'new size: 500, 500GB or 2TB', ruled('--size', sizeGb)),
      run: (context, drive, flags) => update(drive, flags, context),
    }),
    resume: verb({
      summary: 'Resume a SUSPENDED drive after a top-up',
      view: driveView,
      notes:
        'The service suspends drives when the balance runs out, and deletes them after 7 days. ' +
        'A top-up also pays for the suspended time.',
      examples: [
        'gpucloud drives resume datasets',
        'gpucloud drives list -q | gpucloud drives resume -',
      ],
      takes: (command) => command.argument(...DRIVES),
      async run(context, typed) {
        const api = await context.api();
        const lookup = driveLookup(api);
        async function work(text: string): Promise<Drive> {
          const drive = await resume(await idOf(text, lookup), api, context);
          context.err.note(
            `Drive ${nameOf(drive)} is ${drive.status ?? 'resumed'} and billing: ${hourly(drive)}.`,
          );
          return drive;
        }
        await printEach('DRIVE', typed, { work, view: driveView, noted: true }, context);
      },
    }),
  },
  examples: [
    'gpucloud drives list',
    'gpucloud drives get datasets',
    'gpucloud drives create datasets --size 500GB',
    'gpucloud drives update datasets --size 1TB',
  ],
};

/** Finds drives. Reads the list once for several names. */
function driveLookup(api: Api) {
  return { flag: 'DRIVE', list: lazy(() => api.drives.list()), ...DRIVE };
}

async function list(drives: readonly Drive[], out: Output, context: Context): Promise<void> {
  const isUsed = drives.some(({ current_instance_id: id }) => id != null);
  if (!out.people || !isUsed) return out.list(drives, driveView);
  const { instances } = await (await context.journal()).read({ archived: true });
  return out.list(drives, peopleView(new Map(instances.map(({ id, name }) => [id, name]))));
}

/** Warns about drives that the service will delete, or make larger and more expensive. */
function drivesAtRisk(drives: readonly Drive[]): Warning[] {
  return drives.flatMap((drive): Warning[] => {
    if (drive.status === 'SUSPENDED') {
      const message = `Drive ${nameOf(drive)} is SUSPENDED: ${SEVEN_DAYS}. Top up the balance, then: ${gpucloud('drives', 'resume', drive.id)}`;
      return [{ code: 'drive_suspended', message }];
    }
    const full = fullText(driveRow(drive));
    return full === undefined ? [] : [{ code: 'drive_full', message: `${full}.` }];
  });
}

interface Changes {
  readonly name?: string | undefined;
  /** In GB. */
  readonly size?: number | undefined;
}

export async function update(typed: string, changes: Changes, context: Context): Promise<void> {
  if (changes.name === undefined && changes.size === undefined) {
    throw usageError('nothing to change: add --name, --size or both');
  }
  const api = await context.api();
  const before = await api.drives.get(await idOf(typed, driveLookup(api)));
  const body = bodyOf(changes, before);
  if (body.size_gb !== before.size_gb) await confirmResize(before, body.size_gb, context);
  const after = await api.drives.update(before.id, body);
  context.err.note(`Before: ${describe(before)}. Now: ${describe(after)}.`);
  await unlessNoted(context, () => context.out.item(after, driveView));
}

/**
 * Asks before resizing. Shows no new price: the document does not say that the price is
 * proportional to the size.
 */
async function confirmResize(before: Drive, size: number, context: Context): Promise<void> {
  // Lets scripts resize without --yes, since resizing loses nothing.
  if (context.flags.yes === true || (await context.prompts()) === undefined) return;
  const gigabytes = `${before.size_gb ?? '?'} GB`;
  context.err.note(
    `${nameOf(before)} has ${gigabytes}: ${hourly(before)}. The API shows the new price only after the change.`,
  );
  await confirm(context, `Change ${nameOf(before)} from ${gigabytes} to ${size} GB?`);
}

/**
 * Adds the current value of an unchanged field, since PATCH requires both. The service may have
 * raised the size, and sending an older size would undo that.
 */
function bodyOf({ name, size }: Changes, before: Drive): { name: string; size_gb: number } {
  const kept = { name: name ?? before.name, size_gb: size ?? before.size_gb };
  if (typeof kept.name !== 'string') throw unread(before, 'name', '--name');
  if (typeof kept.size_gb !== 'number') throw unread(before, 'size', '--size');
  return { name: kept.name, size_gb: kept.size_gb };
}

function unread({ id }: Drive, field: string, flag: string): CliError {
  return new CliError(
    'notUnderstood',
    `Could not read drive ${id}'s current ${field}, which an update requires. No changes made.`,
    { hint: `add ${flag}`, resource: id },
  );
}

function resume(id: string, { drives }: Api, context: Context): Promise<Drive> {
  return retryChange(
    {
      send: () => drives.resume(id),
      async read() {
        const drive = await drives.get(id);
        const { status } = drive;
        // A drive without a status may still be suspended.
        const isResumed = typeof status === 'string' && status !== 'SUSPENDED';
        return { shown: isResumed ? drive : undefined, status: status ?? 'unknown' };
      },
    },
    context,
  );
}

function describe(drive: Drive): string {
  return `${nameOf(drive)}, ${drive.size_gb ?? '?'} GB, ${hourly(drive)}`;
}

function nameOf({ name, id }: Drive): string {
  return name ?? id;
}
