import type { Drive } from '../../api/index.ts';
import { confirm } from '../../cli/confirm.ts';
import { writeCreated } from '../../cli/created.ts';
import { asking } from '../../cli/left.ts';
import { checked, ruled } from '../../cli/parse.ts';
import { shellLine } from '../../cli/shell-line.ts';
import { verb } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { isOfOneReading, usageError } from '../../errors.ts';
import { journaled } from '../../instances/journaled.ts';
import { refuseUnsettled } from '../../instances/unsettled.ts';
import { anyName } from '../../rules/names.ts';
import { sizeGb } from '../../rules/numbers.ts';
import { driveView, hourly } from './view.ts';

const NOTHING_CREATED = 'Nothing was sent, so no drive was created.';
/** How long the drives that are there are waited for, in milliseconds. */
const BRIEFLY = { timeoutMs: 5000, longestPauseMs: 3000 };

export const create = verb('create', {
  summary: 'Create a cloud drive, which bills by the hour from then on',
  view: driveView,
  notes:
    'The published API has no way to delete a drive, and shows no price before it is created.\n' +
    'When more data is stored than the size, the service raises size and price by itself. While nobody\n' +
    'knows what became of an earlier request of that name, it asks before it sends another (-y says yes),\n' +
    'and ends with 7 where nobody can be asked.',
  completes: { name: 'nothing', '--name': 'nothing' },
  examples: [
    'gpucloud drives create datasets --size 500GB',
    'gpucloud drives create datasets --size 2TB --json',
  ],
  takes: (command) =>
    command
      .argument('[name]', 'the name of the new drive', ruled('NAME', anyName))
      .option('--name <name>', 'the same as NAME', ruled('--name', anyName))
      .option(
        '--size <size>',
        'its size: 500, 500GB or 2TB (1 TB = 1000 GB)',
        ruled('--size', sizeGb),
      ),
  run(context, name, flags) {
    if (name !== undefined && flags.name !== undefined && name !== flags.name) {
      throw usageError(`NAME "${name}" and --name "${flags.name}" differ: give one of them`);
    }
    return createDrive({ name: name ?? flags.name, size: flags.size }, context);
  },
});

interface CreateInput {
  readonly name: string | undefined;
  /** GB. */
  readonly size: number | undefined;
}

export async function createDrive(input: CreateInput, context: Context): Promise<void> {
  const { name, size } = await asking(NOTHING_CREATED, () => complete(input, context));
  await refuseUnsettled('drive', name, context);
  context.err.warn(
    'The published API has no way to delete a drive, and it bills by the hour from its creation on.',
  );
  const twins = await twinsOf(name, context);
  if (twins.length > 0) context.err.warn(twinWords(name, twins));
  // Nothing is lost by a creation, so that a script need not say yes to it.
  if ((await context.prompts()) !== undefined) {
    const drive = twins.length === 0 ? 'the drive' : 'another drive';
    await confirm(context, `Create ${drive} ${name} of ${size} GB?`);
  }
  const body = { name, size_gb: size };
  const drive = await journaled(
    { operation: 'drive', name, offer_id: null, body },
    context,
    (api, options) => api.drives.create(body, options),
  );
  context.err.note(
    `Created the drive ${name} (${drive.id}): ${hourly(drive)}, billing from now on.`,
  );
  await writeCreated({ what: 'The drive', id: drive.id }, () => context.out.item(drive, driveView));
}

/**
 * Names of drives need not be unique (API document: POST /storage/drives), and a twin bills as well.
 * The reading is a courtesy: nothing but a refused key or an interrupt keeps it from being left out.
 */
async function twinsOf(name: string, context: Context): Promise<readonly Drive[]> {
  const api = await context.api();
  try {
    const drives = await asking(NOTHING_CREATED, () => api.drives.list(BRIEFLY));
    return drives.filter((drive) => drive.name === name && drive.status !== 'DELETED');
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    context.err.warn(
      `Namesakes could not be looked for, so whether a drive "${name}" is there already is not known: ${error.message}`,
    );
    return [];
  }
}

function twinWords(name: string, twins: readonly Drive[]): string {
  const told = twins.map((drive) => `${drive.id}, ${drive.size_gb ?? '?'} GB, ${hourly(drive)}`);
  const are = twins.length === 1 ? `A drive "${name}" is` : `${twins.length} drives "${name}" are`;
  return `${are} there already (${told.join('; ')}): this makes another of that name, which bills as well.`;
}

/** What was not given is asked for, and then the whole is shown as the command that needs no question. */
async function complete(
  { name, size }: CreateInput,
  context: Context,
): Promise<{ name: string; size: number }> {
  if (name !== undefined && size !== undefined) {
    return { name, size };
  }
  const prompts = await context.prompts();
  if (prompts === undefined) {
    const missing = [name === undefined ? 'NAME' : '', size === undefined ? '--size' : ''];
    throw usageError(`a drive needs ${missing.filter((one) => one !== '').join(' and ')}`);
  }
  const named = name ?? (await prompts.text('Name of the drive?', { check: ruleOf(anyName) }));
  const gigabytes =
    size ??
    checked(
      '--size',
      await prompts.text('Size (such as 500GB or 2TB)?', { check: ruleOf(sizeGb) }),
      sizeGb,
    );
  const { profile, baseUrl } = context.flags;
  const words = [
    'gpucloud',
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...['drives', 'create', `--name=${named}`, '--size', `${gigabytes}GB`],
  ];
  prompts.tell(`The same without questions: ${shellLine(words)}`);
  return { name: named, size: gigabytes };
}

function ruleOf(rule: typeof anyName | typeof sizeGb): (text: string) => string | undefined {
  return (text) => {
    const verdict = rule(text);
    return verdict.ok ? undefined : verdict.rule;
  };
}
