import type { Drive, Template } from '../../api/index.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { roublesText } from '../../rules/money.ts';
import { instanceName } from '../../rules/names.ts';
import type { CreateFlags } from '../request/given.ts';
import { type Answer, placeOf, typedBy } from './answer.ts';
import { askContainer } from './container.ts';
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
): Promise<Answer> {
  const name = await prompts.text('Instance name', {
    initial: before.name ?? suggestedName(taken, random),
    check: (text) => brokenName(text, taken),
  });
  return { flags: { name }, typed: { name }, text: name };
}

/** Two words that are easy to type, not the name of a known instance. */
function suggestedName(taken: Lists['names'], random: () => number): string {
  const one = (words: readonly string[]) => words[Math.floor(random() * words.length)] ?? '';
  const base = `${one(FIRST)}-${one(SECOND)}`;
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  return name;
}

/** Returns the rule that a name breaks, uniqueness included (API document: Limits). */
function brokenName(text: string, taken: Lists['names']): string | undefined {
  const verdict = instanceName(text);
  return verdict.ok ? taken.get(text) : verdict.rule;
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
): Promise<Answer> {
  const none: Choice<Drive | undefined> = { name: 'None', value: undefined };
  const choices = [
    none,
    ...free.map((drive) => ({
      name: titleOf(drive.name, drive.id),
      about: [
        drive.size_gb == null ? '' : `${drive.size_gb} GB`,
        drive.price_per_hour == null ? '' : `${roublesText(drive.price_per_hour)}/h`,
      ],
      value: drive,
    })),
  ];
  const initial = placeOf(
    free.find(({ id }) => id === before.drive),
    choices,
  );
  const drive = await prompts.choose('Cloud drive', choices, { initial });
  if (drive === undefined) return { flags: {}, typed: {}, text: 'none' };
  return {
    flags: { drive: drive.id },
    typed: { drive: typedBy(drive, free) },
    text: titleOf(drive.name, drive.id),
  };
}

/**
 * Asks whether the base image alone, a template or a container runs on the instance. It is one
 * question, since an instance is one of the three (API document: connection_info).
 */
export async function askRuns(
  templates: readonly Template[],
  before: CreateFlags,
  prompts: Prompts,
): Promise<Answer> {
  const offered = templates
    .filter(({ is_active }) => is_active !== false)
    .sort((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0));
  const choices: Choice<Template | 'image' | 'container'>[] = [
    { name: 'Only the base image', value: 'image' },
    ...offered.map((template) => ({
      name: titleOf(template.name ?? template.slug, template.id),
      about: [needs(template), template.description ?? ''],
      value: template,
    })),
    { name: 'A container of your own', value: 'container' },
  ];
  const chosen = offered.find(({ id }) => id === before.template);
  const initial = placeOf(chosen ?? (before.dockerImage && 'container'), choices);
  const runs = await prompts.choose('What runs on it', choices, { initial });
  if (runs === 'container') return await askContainer(prompts);
  if (runs === 'image') return { flags: {}, typed: {}, text: 'only the base image' };
  const { id, name, slug } = runs;
  const slugs = templates.map((one) => ({ id: one.id, name: one.slug }));
  return {
    flags: { template: id },
    typed: { template: typedBy({ id, name: slug }, slugs) },
    text: `the template ${titleOf(name ?? slug, id)}`,
  };
}

function needs({ min_disk_gb: disk, min_cuda_version: cuda }: Template): string {
  return [disk != null && `${disk} GB disk`, cuda && `CUDA ${cuda}`].filter(Boolean).join(', ');
}
