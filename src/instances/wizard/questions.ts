import type { Drive, SshKey, Template } from '../../api/index.ts';
import { CliError } from '../../errors.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { inRoubles, money } from '../../rules/money.ts';
import { instanceName } from '../../rules/names.ts';
import type { CreateFlags } from '../request/body.ts';
import { askContainer, askImage, containerText } from './container.ts';
import type { Lists } from './lists.ts';

const FIRST =
  'amber brisk calm clear coral deep fair fleet grand keen light lunar noble polar quick quiet rapid sharp solid steady swift tall warm wide'.split(
    ' ',
  );
const SECOND =
  'alder bay birch brook cedar cliff crane delta dune falcon fern field heron ivy lake lark maple otter pine reef ridge river spruce wren'.split(
    ' ',
  );

export async function askName(
  taken: Lists['names'],
  before: CreateFlags,
  prompts: Prompts,
  random: () => number,
): Promise<CreateFlags> {
  const name = await prompts.text('Name of the machine', {
    initial: before.name ?? suggestedName(taken, random),
    check: (text) => brokenName(text, taken),
  });
  return { name };
}

/** Two words that are quick to type, and that no instance known here is called. */
function suggestedName(taken: Lists['names'], random: () => number): string {
  const one = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? '';
  const base = `${one(FIRST)}-${one(SECOND)}`;
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  return name;
}

/** The rule that a name breaks, among them that it is unique (API document: Limits). */
function brokenName(text: string, taken: Lists['names']): string | undefined {
  const verdict = instanceName(text);
  return verdict.ok ? taken.get(text) : verdict.rule;
}

/** The default key of the account is chosen at first, and an only one. */
export async function askKeys(
  keys: readonly SshKey[],
  { sshKey: before }: CreateFlags,
  prompts: Prompts,
): Promise<CreateFlags> {
  if (keys.length === 0) {
    prompts.print('The account has no SSH key. Without one, nobody can log in with SSH.');
    if (await prompts.confirm('Go on without a key?', false)) return { sshKey: [] };
    throw new CliError('interrupted', 'Cancelled: add an SSH key first.', {
      hint: 'gpucloud ssh-keys add',
    });
  }
  const choices = keys.map(({ id, name, is_default, fingerprint }) => ({
    name: titleOf(name, id),
    about: [is_default === true ? 'default' : '', fingerprint ?? ''],
    value: id,
    checked: before?.includes(id) ?? (is_default === true || keys.length === 1),
  }));
  return { sshKey: await prompts.chooseSeveral('SSH keys', choices) };
}

export function keysText(chosen: readonly string[] | undefined, keys: readonly SshKey[]): string {
  if (chosen === undefined) return 'not asked for';
  const titles = chosen.map((typed) => titleOf(keys.find(({ id }) => id === typed)?.name, typed));
  return titles.length === 0 ? "none; a key can't be added later" : titles.join(', ');
}

/** A drive can be mounted if it is AVAILABLE and no instance has it (API document: DriveStatus). */
export function freeDrives(drives: readonly Drive[]): readonly Drive[] {
  return drives.filter(
    ({ status, current_instance_id }) => status === 'AVAILABLE' && current_instance_id == null,
  );
}

export async function askDrive(
  free: readonly Drive[],
  before: CreateFlags,
  prompts: Prompts,
): Promise<CreateFlags> {
  const choices: Choice<string | undefined>[] = [
    { name: 'None', value: undefined },
    ...free.map(({ id, name, size_gb, price_per_hour }) => {
      const price = money(price_per_hour ?? '');
      const size = size_gb == null ? '' : `${size_gb} GB`;
      const about = [size, price.ok ? `${inRoubles(price.value)}/h` : ''];
      return { name: titleOf(name, id), about, value: id };
    }),
  ];
  const drive = await prompts.choose('Cloud drive', choices, {
    initial: placeOf(before.drive, choices),
  });
  return drive === undefined ? {} : { drive };
}

/**
 * What runs on the instance: the base image alone, a template or a container. They are asked for as
 * one, since the service calls an instance one of the three (API document: connection_info).
 * `hasContainer`: flags describe a container and do not say which.
 */
export async function askRuns(
  templates: readonly Template[],
  before: CreateFlags,
  prompts: Prompts,
  hasContainer: boolean,
): Promise<CreateFlags> {
  if (hasContainer) return { dockerImage: await askImage(prompts) };
  const offered = templates
    .filter(({ is_active }) => is_active !== false)
    .sort((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0));
  const choices: Choice<string | undefined>[] = [
    { name: 'Only the base image', value: undefined },
    ...offered.map((template) => ({
      name: titleOf(template.name ?? template.slug, template.id),
      about: [needs(template), template.description ?? ''],
      value: template.id,
    })),
    { name: 'A container of your own', value: CONTAINER },
  ];
  const initial = before.dockerImage === undefined ? before.template : CONTAINER;
  const runs = await prompts.choose('What runs on it', choices, {
    initial: placeOf(initial, choices),
  });
  if (runs === CONTAINER) return await askContainer(prompts);
  return runs === undefined ? {} : { template: runs };
}

/** No id of a template. */
const CONTAINER = ' container';

function needs({ min_disk_gb: disk, min_cuda_version: cuda }: Template): string {
  return [disk != null && `${disk} GB disk`, cuda && `CUDA ${cuda}`].filter(Boolean).join(', ');
}

export function runsText(chosen: CreateFlags, templates: readonly Template[]): string {
  const { template, dockerImage } = chosen;
  const found = templates.find(({ id }) => id === template);
  const parts = [
    template && `the template ${titleOf(found?.name ?? found?.slug, template)}`,
    dockerImage && containerText(chosen),
  ];
  return parts.filter(Boolean).join(' and ') || 'only the base image';
}

/** The place of an earlier answer, else the first. */
function placeOf<T>(value: T, choices: readonly Choice<T>[]): number {
  return Math.max(
    0,
    choices.findIndex((choice) => choice.value === value),
  );
}
