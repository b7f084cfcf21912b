import { onCancel } from '../../cli/confirm.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { type CreateFlags, checkGiven, type MadeRequest, makeRequest } from '../request/body.ts';
import { askHardware, hardwareText } from './hardware.ts';
import { type Lists, readLists } from './lists.ts';
import {
  askDrive,
  askKeys,
  askName,
  askRuns,
  freeDrives,
  keysText,
  runsText,
} from './questions.ts';
import { showRequest, type Wish } from './summary.ts';

/** One question, or one thing that a flag or the file has answered already. */
interface Step {
  /** In the summary: `SSH keys`. */
  readonly label: string;
  readonly isGiven: boolean;
  /** Returns the flags that the answer stands for. `before`: those of the answer that is changed. */
  ask(before: CreateFlags): Promise<CreateFlags>;
  /** What the summary says; undefined if there was nothing to choose. */
  text(chosen: CreateFlags): string | undefined;
}

/**
 * Asks for what is missing, shows the whole request, and returns the one that the person agreed to.
 * Before that only readings are sent, and nothing is written.
 * Throws CliError('interrupted') for who leaves at any question.
 */
export async function askForInstance(
  wish: Wish,
  prompts: Prompts,
  context: Context,
): Promise<MadeRequest> {
  await context.out.prepare();
  await checkGiven(wish.flags, wish.manifest, context);
  const lists = await readLists(context);
  return await onCancel('Nothing was sent, so nothing was rented and nothing is billing.', () =>
    ask(wish, lists, prompts, context),
  );
}

async function ask(
  wish: Wish,
  lists: Lists,
  prompts: Prompts,
  context: Context,
): Promise<MadeRequest> {
  const { flags, manifest } = wish;
  const given = givenBy(wish);
  const steps = stepsOf(wish, given, lists, prompts, context);
  const answers = new Map<Step, CreateFlags>();
  const askOne = async (step: Step) => {
    answers.set(step, await step.ask(answers.get(step) ?? {}));
  };
  for (const step of steps) if (!step.isGiven) await askOne(step);
  for (;;) {
    const answered: CreateFlags = Object.assign({}, ...answers.values());
    const rows = steps.map((step) => ({
      step,
      label: step.label,
      text: step.text({ ...given, ...answered }),
    }));
    const made = await makeRequest({ ...flags, ...answered }, manifest, context).catch(changeable);
    if (made instanceof CliError) {
      // What a flag says was checked before: an answer is at fault, and the others are kept.
      if (answers.size === 0) throw made;
      prompts.print('');
      prompts.print(`This can not be asked for: ${made.message}`);
    } else {
      showRequest({ made, wish, answered, rows, lists }, prompts, context);
      if (wish.dryRun || context.flags.yes === true) return made;
      const next = await prompts.choose('Rent it?', NEXT);
      if (next === 'rent') return made;
      if (next === 'leave') throw new CliError('interrupted', 'Not rented.');
    }
    const choices = rows.flatMap(({ step, label, text }) =>
      answers.has(step) && text !== undefined ? [{ name: label, about: [text], value: step }] : [],
    );
    await askOne(await prompts.choose('Change what?', choices));
  }
}

/** A rule that answers break together, or something that is gone since its list was read. */
function changeable(error: unknown): CliError {
  const isSo =
    error instanceof CliError && (error.failure === 'usage' || error.failure === 'notFound');
  if (!isSo) throw error;
  return error;
}

const NEXT: readonly Choice<'rent' | 'change' | 'leave'>[] = [
  { name: 'Yes, rent it now', value: 'rent' },
  { name: 'Change an answer', value: 'change' },
  { name: 'No, leave', value: 'leave' },
];

/** Flags win over the file. */
function givenBy({ flags, manifest }: Wish): CreateFlags {
  return {
    ...flags,
    name: flags.name ?? manifest.instance_name,
    offer: flags.offer ?? manifest.offer_id,
    image: flags.image ?? manifest.image_id,
    sshKey: flags.sshKey ?? manifest.ssh_keys,
    template: flags.template ?? manifest.template_id,
    drive: flags.drive ?? manifest.storage_drive_id,
    dockerImage: flags.dockerImage ?? manifest.docker_config?.image,
  };
}

/** In the order in which they are asked. */
function stepsOf(
  { flags, manifest }: Wish,
  given: CreateFlags,
  { names, catalog, sshKeys, templates = [], drives = [] }: Lists,
  prompts: Prompts,
  { clock }: Context,
): readonly Step[] {
  const free = freeDrives(drives);
  const { dockerCommand, shmSize, port, env, envFile, volume } = flags;
  const container = [dockerCommand, shmSize, port, env, envFile, volume, manifest.docker_config];
  const describesContainer = container.some((part) => part !== undefined);
  return [
    {
      label: 'Name',
      isGiven: given.name !== undefined,
      ask: (before) => askName(names, before, prompts, () => clock.random()),
      text: ({ name }) => name,
    },
    {
      label: 'Offer',
      isGiven: given.offer !== undefined,
      ask: () => askHardware('offer', catalog.offer, prompts),
      text: ({ offer }) => hardwareText(offer, catalog.offer),
    },
    {
      label: 'Image',
      isGiven: given.image !== undefined,
      ask: () => askHardware('image', catalog.image, prompts),
      text: ({ image }) => hardwareText(image, catalog.image),
    },
    {
      label: 'SSH keys',
      isGiven: given.sshKey !== undefined || sshKeys === undefined,
      ask: (before) => askKeys(sshKeys ?? [], before, prompts),
      text: ({ sshKey }) => keysText(sshKey, sshKeys ?? []),
    },
    {
      label: 'Runs',
      isGiven: given.template !== undefined || given.dockerImage !== undefined,
      ask: (before) => askRuns(templates, before, prompts, describesContainer),
      text: (chosen) => runsText(chosen, templates),
    },
    {
      label: 'Drive',
      isGiven: given.drive !== undefined || free.length === 0,
      ask: (before) => askDrive(free, before, prompts),
      text: ({ drive }) =>
        drive === undefined && free.length === 0
          ? undefined
          : (drives.find(({ id }) => id === drive)?.name ?? drive ?? 'none'),
    },
  ];
}
