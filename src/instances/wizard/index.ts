import type { CreateInstanceFields } from '../../api/index.ts';
import { onCancel } from '../../cli/confirm.ts';
import type { CreateInput } from '../../commands/instances/create.ts';
import type { Context } from '../../context.ts';
import { CliError, type Failure } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { kopecksText, money } from '../../rules/money.ts';
import { type CreateFlags, checkGiven, type MadeRequest, makeRequest } from '../request/body.ts';
import { knownPrice } from '../request/hardware.ts';
import { askDrive, askKeys } from './account.ts';
import { askHardware } from './hardware.ts';
import { commandLine, variablesOf } from './line.ts';
import { type Lists, readLists } from './lists.ts';
import { brokenName, suggestedName } from './names.ts';
import { askRuns, askRunsImage } from './runs.ts';
import type { Answer, Step } from './step.ts';
import { type Row, tellRows } from './summary.ts';

export interface Wish extends CreateInput {
  readonly until: string;
  /** What `--file` says. */
  readonly manifest: CreateInstanceFields;
}

/**
 * Asks for what is missing of a machine, shows all of it, and answers the request that the person
 * agreed to. Nothing is sent but readings, and nothing is written, before that.
 * Throws CliError('interrupted') for whoever leaves at any question.
 */
export async function askForMachine(
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
  const steps = stepsOf(wish, lists, prompts, context);
  const answers = new Map<Step, Answer>();
  const askOne = async (step: Step) => {
    const answer = await step.ask(answers.get(step));
    if (answer !== undefined) answers.set(step, answer);
  };
  for (const step of steps.filter(({ given }) => given === undefined)) {
    await askOne(step);
  }
  for (;;) {
    const { flags, spoken } = merged(wish.flags, answers);
    const made = await madeOrFault(() => makeRequest(flags, wish.manifest, context));
    if (made instanceof CliError) {
      // What a flag says was looked at before: an answer is at fault, and the others are kept.
      if (answers.size === 0) throw made;
      prompts.tell('');
      prompts.tell(`This can not be asked for: ${made.message}`);
    } else {
      tellAll(made, spoken, steps, answers, wish, lists, prompts, context);
      if (wish.dryRun || context.flags.yes === true) return made;
      const next = await prompts.choose('Rent it?', NEXT);
      if (next === 'rent') return made;
      if (next === 'leave') throw new CliError('interrupted', 'Not rented.');
    }
    const choices = steps
      .filter((step) => answers.has(step))
      .map((step) => ({ name: step.label, about: [answers.get(step)?.shown ?? ''], value: step }));
    await askOne(await prompts.choose('Change what?', choices));
  }
}

async function madeOrFault(make: () => Promise<MadeRequest>): Promise<MadeRequest | CliError> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof CliError && CHANGEABLE.includes(error.failure)) return error;
    throw error;
  }
}

/** A rule that answers break together, and what is gone since its list was read. */
const CHANGEABLE: readonly Failure[] = ['usage', 'notFound'];

const NEXT: readonly Choice<'rent' | 'change' | 'leave'>[] = [
  { name: 'Yes, rent it now', value: 'rent' },
  { name: 'Change an answer', value: 'change' },
  { name: 'No, leave', value: 'leave' },
];

/** In the order in which they are asked. */
function stepsOf(
  { flags, manifest }: Wish,
  lists: Lists,
  prompts: Prompts,
  { clock }: Context,
): readonly Step[] {
  const { names, catalog, sshKeys = [], templates = [], drives = [] } = lists;
  const keys = flags.sshKey ?? manifest.ssh_keys;
  const image = flags.dockerImage ?? manifest.docker_config?.image;
  const template = flags.template ?? manifest.template_id;
  return [
    {
      label: 'Name',
      given: flags.name ?? manifest.instance_name,
      async ask(before) {
        const name = await prompts.text('Name of the machine', {
          initial: before?.flags.name ?? suggestedName(names, () => clock.random()),
          check: brokenName(names),
        });
        return { flags: { name }, shown: name };
      },
    },
    {
      label: 'Offer',
      given: flags.offer ?? manifest.offer_id,
      ask: () => askHardware('offer', catalog.offer, prompts),
    },
    {
      label: 'Image',
      given: flags.image ?? manifest.image_id,
      ask: () => askHardware('image', catalog.image, prompts),
    },
    {
      label: 'SSH keys',
      given: keys === undefined ? unless(lists.sshKeys, 'not asked for') : shownKeys(keys),
      ask: (before) => askKeys(sshKeys, before, prompts),
    },
    {
      label: 'Runs',
      given:
        template === undefined
          ? image === undefined
            ? undefined
            : `the container ${image}`
          : `the template ${template}${image === undefined ? '' : ` and the container ${image}`}`,
      ask: (before) =>
        describesContainer(flags, manifest)
          ? askRunsImage(prompts)
          : askRuns(templates, before, prompts),
    },
    {
      label: 'Drive',
      given: flags.drive ?? manifest.storage_drive_id,
      ask: (before) => askDrive(drives, before, prompts),
    },
  ];
}

function unless(list: unknown, text: string): string | undefined {
  return list === undefined ? text : undefined;
}

function shownKeys(keys: readonly string[]): string {
  return keys.length === 0 ? 'none' : keys.join(', ');
}

/** Whether flags or the file describe a container that has no image yet. */
function describesContainer(flags: CreateFlags, manifest: CreateInstanceFields): boolean {
  const { dockerCommand, shmSize, port, env, envFile, volume } = flags;
  return [dockerCommand, shmSize, port, env, envFile, volume, manifest.docker_config].some(
    (part) => part !== undefined,
  );
}

function merged(
  given: CreateFlags,
  answers: ReadonlyMap<Step, Answer>,
): { flags: CreateFlags; spoken: CreateFlags } {
  let [flags, spoken] = [given, given];
  for (const answer of answers.values()) {
    flags = { ...flags, ...answer.flags };
    spoken = { ...spoken, ...(answer.spoken ?? answer.flags) };
  }
  return { flags, spoken };
}

function tellAll(
  { body, offer }: MadeRequest,
  spoken: CreateFlags,
  steps: readonly Step[],
  answers: ReadonlyMap<Step, Answer>,
  { maxPrice, until, dryRun }: Wish,
  { balance }: Lists,
  prompts: Prompts,
  context: Context,
): void {
  const known = offer.known?.name;
  const rows: Row[] = steps.flatMap((step) => {
    const text = answers.get(step)?.shown ?? step.given;
    return text === undefined ? [] : [{ label: step.label, text }];
  });
  rows.push({
    label: 'Price',
    text:
      knownPrice(offer, context.clock.now()) ??
      `unknown until it is created${known === undefined ? '' : `: no machine of ${known} was seen here yet`}; --max-price RUB sets a limit`,
  });
  if (maxPrice !== undefined) {
    rows.push({
      label: 'Limit',
      text: `a machine that costs more than ${kopecksText(maxPrice)} RUB an hour is terminated at once`,
    });
  }
  if (balance !== undefined) rows.push({ label: 'Balance', text: balanceText(balance, offer) });
  const { columns } = context.host.stderr;
  prompts.tell('');
  prompts.tell(dryRun ? 'This would be rented:' : 'To be rented, and billed from then on:');
  tellRows(rows, prompts, columns);
  prompts.tell('');
  prompts.tell('The same without questions:');
  prompts.tell(
    `  ${commandLine({
      flags: { ...spoken, name: spoken.name ?? body.instance_name },
      profile: context.flags.profile,
      baseUrl: context.flags.baseUrl,
      until,
      maxPrice,
    })}`,
  );
  const variables = variablesOf(spoken);
  if (variables.length > 0) {
    prompts.tell(`  with ${variables.join(', ')} in the environment: values are not repeated here`);
  }
  prompts.tell('');
}

/** An hour is reserved before anything runs, so that too little is better known before. */
function balanceText(balance: string, { known }: MadeRequest['offer']): string {
  const [have, hour] = [money(balance), money(known?.price_per_hour ?? '')];
  const isShort = have.ok && hour.ok && have.value.lt(hour.value);
  return `${balance} RUB${isShort ? ', less than an hour cost when last seen: expect a refusal' : ''}`;
}
