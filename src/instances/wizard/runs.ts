import type { Template } from '../../api/index.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { typedName } from './account.ts';
import { askContainer, askContainerImage } from './container.ts';
import type { Answer } from './step.ts';

type Runs = Template | 'image' | 'container';

/**
 * What runs on the machine: the base image alone, a template or a container. They are asked for as
 * one, since the service tells a machine to be one of the three (API document: connection_info).
 */
export async function askRuns(
  templates: readonly Template[],
  before: Answer | undefined,
  prompts: Prompts,
): Promise<Answer> {
  const offered = templates
    .filter(({ is_active }) => is_active !== false)
    .sort((a, b) => (a.sort_order ?? 0) - (b.sort_order ?? 0));
  const choices: Choice<Runs>[] = [
    { name: 'Only the base image', value: 'image' },
    ...offered.map((of) => ({
      name: titleOf(of.name ?? of.slug, of.id),
      about: [needs(of), of.description ?? ''],
      value: of,
    })),
    { name: 'A container of your own', value: 'container' },
  ];
  const runs = await prompts.choose('What runs on it', choices, {
    initial: placeOf(before, choices),
  });
  if (runs === 'image') return { flags: {}, shown: 'only the base image' };
  if (runs === 'container') return await askContainer(prompts);
  const { id, slug, name } = runs;
  return {
    flags: { template: id },
    spoken: {
      template: typedName(
        runs,
        templates.map((one) => ({ id: one.id, name: one.slug })),
        slug,
      ),
    },
    shown: `the template ${titleOf(name ?? slug, id)}`,
  };
}

/** The flags describe a container, and do not say which. */
export async function askRunsImage(prompts: Prompts): Promise<Answer> {
  return await askContainerImage(prompts);
}

function needs({ min_disk_gb: disk, min_cuda_version: cuda }: Template): string {
  return [disk == null ? '' : `${disk} GB disk`, cuda ? `CUDA ${cuda}` : '']
    .filter((part) => part !== '')
    .join(', ');
}

function placeOf(before: Answer | undefined, choices: readonly Choice<Runs>[]): number {
  if (before?.flags.dockerImage !== undefined) return choices.length - 1;
  const template = before?.flags.template;
  const place = choices.findIndex(
    ({ value }) => typeof value === 'object' && value.id === template,
  );
  return Math.max(0, place);
}
