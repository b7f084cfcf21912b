import { join } from 'node:path';
import type { Drive } from '../../api/index.ts';
import { confirm, onCancel } from '../../command-line/confirm.ts';
import { sendOnce, writeCreated } from '../../command-line/creation.ts';
import { brokenBy, checked, oneName, ruled } from '../../command-line/parse.ts';
import { unlessNoted } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { journalOfKey } from '../../instances/recover/pending.ts';
import { commandLines, gpucloud } from '../../output/shell-line.ts';
import { anyName } from '../../rules/names.ts';
import { sizeGb } from '../../rules/numbers.ts';
import { faultOf } from '../../system/error-code.ts';
import { withLock } from '../../system/lock.ts';
import { driveView, hourly } from './view.ts';

const NOTHING_CREATED = 'No drive created.';

export const create = verb({
  summary: 'Create a cloud drive; it bills by the hour',
  view: driveView,
  notes:
    "The API can't delete drives, and shows the price only after creation. If the stored data " +
    'exceeds the size, the service raises size and price.\n\n' +
    'In a terminal, asks first. When not interactive, creates the drive without --yes too, unless ' +
    'a drive with this name exists: then exits with 5.',
  completes: { name: 'nothing', '--name': 'nothing' },
  examples: [
    'gpucloud drives create datasets --size 500GB',
    'gpucloud drives create datasets --size 2TB --json',
  ],
  takes: (command) =>
    command
      .argument('[name]', 'drive name', ruled('NAME', anyName))
      .option('--name <name>', 'same as NAME', ruled('--name', anyName))
      .option('--size <size>', 'size: 500, 500GB or 2TB (1 TB = 1000 GB)', ruled('--size', sizeGb)),
  run(context, name, flags) {
    return createDrive({ name: oneName('NAME', name, flags.name), size: flags.size }, context);
  },
});

interface CreateInput {
  readonly name: string | undefined;
  /** In GB. */
  readonly size: number | undefined;
}

interface Complete {
  readonly name: string;
  /** In GB. */
  readonly size: number;
}

export async function createDrive(input: CreateInput, context: Context): Promise<void> {
  const { name, size } = await onCancel(NOTHING_CREATED, () => complete(input, context));
  // The API can't delete drives, so none may be created in another account than at sign-in.
  if ((await (await context.journal()).account()) !== undefined) await journalOfKey(context);
  context.err.warn(
    'may_be_billing',
    "A drive bills by the hour from creation. The API shows the price only then, and can't delete drives.",
  );
  const isAsked = (await context.prompts()) !== undefined;
  const send = async () => {
    const api = await context.api();
    const body = { name, size_gb: size };
    return sendOnce({ what: `drive ${name}`, bills: true }, context, (options) =>
      api.drives.create(body, options),
    );
  };
  if (isAsked) await confirm(context, () => questionOf({ name, size }, context));
  const drive =
    isAsked || context.flags.yes === true
      ? await send()
      : await alone(context, async () => {
          await refuseNamesakes(name, context);
          return send();
        });
  context.err.note(`Created drive ${name} (${drive.id}): ${hourly(drive)}, billing starts now.`);
  await writeCreated({ what: 'The drive', id: drive.id }, context, () =>
    unlessNoted(context, () => context.out.item(drive, driveView)),
  );
}

async function questionOf({ name, size }: Complete, context: Context): Promise<string> {
  const others = await namesakes(name, context);
  if (others.length === 0) return `Create drive ${name} (${size} GB)?`;
  context.err.warn('may_be_billing', `${existing(name, others)}. Both drives would bill.`);
  return `Create another drive ${name} (${size} GB)?`;
}

async function refuseNamesakes(name: string, context: Context): Promise<void> {
  const [first, ...more] = await namesakes(name, context);
  if (first === undefined) return;
  throw new CliError('wrongState', `${existing(name, [first, ...more])}. ${NOTHING_CREATED}`, {
    hint: `use ${first.id}, or add --yes to create another drive`,
    resource: first.id,
  });
}

/**
 * Returns drives with the same name. Names need not be unique (API document: POST /storage/drives).
 */
async function namesakes(name: string, context: Context): Promise<readonly Drive[]> {
  const api = await context.api();
  const drives = await onCancel(NOTHING_CREATED, () => api.drives.list());
  return drives.filter((drive) => drive.name === name && drive.status !== 'DELETED');
}

function existing(name: string, drives: readonly Drive[]): string {
  const each = drives.map((drive) => `${drive.id}, ${drive.size_gb ?? '?'} GB, ${hourly(drive)}`);
  return drives.length === 1
    ? `A drive named "${name}" already exists (${each.join()})`
    : `${drives.length} drives named "${name}" already exist (${each.join('; ')})`;
}

/** Lets one process at a time list and create, so that two scripts can't create the same drive. */
async function alone<T>(context: Context, work: () => Promise<T>): Promise<T> {
  const { state } = await context.folders();
  return withLock(join(state, 'drives'), work, {
    async otherwise(cause, isHeld) {
      if (isHeld) {
        throw new CliError(
          'outcomeUnknown',
          `Another gpucloud process is creating a drive. ${NOTHING_CREATED}`,
          {
            hint: `check whether the drive exists: ${gpucloud('drives', 'list')}`,
            retryable: true,
          },
        );
      }
      const message = `Could not lock ${state} (${faultOf(cause)}). ${NOTHING_CREATED}`;
      throw new CliError('storage', message, { cause });
    },
  });
}

/** Asks for missing values, then prints the equivalent full command. */
async function complete({ name, size }: CreateInput, context: Context): Promise<Complete> {
  if (name !== undefined && size !== undefined) {
    return { name, size };
  }
  const prompts = await context.prompts();
  if (prompts === undefined) {
    const missing = [name === undefined ? 'NAME' : '', size === undefined ? '--size' : ''];
    throw usageError(`drives create: missing ${missing.filter((one) => one !== '').join(' and ')}`);
  }
  const named = name ?? (await prompts.text('Drive name?', { check: brokenBy(anyName) }));
  const gigabytes =
    size ??
    checked(
      '--size',
      await prompts.text('Size (such as 500GB or 2TB)?', { check: brokenBy(sizeGb) }),
      sizeGb,
    );
  const { profile, baseUrl } = context.flags;
  const words = [
    ['gpucloud', ...(profile === undefined ? [] : ['--profile', profile])],
    ...(baseUrl === undefined ? [] : [['--base-url', baseUrl]]),
    ['drives', 'create'],
    [`--name=${named}`],
    ['--size', `${gigabytes}GB`],
  ];
  prompts.print('Equivalent command:');
  const lines = commandLines(words, context.host.stderr.columns);
  for (const line of lines) prompts.print(`  ${line}`);
  return { name: named, size: gigabytes };
}
