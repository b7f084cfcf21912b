import type { Template } from '../../api/index.ts';
import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { templateView } from './view.ts';

export function registerList(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: templateView,
    notes: 'In the order that the service gives them (sort_order).',
    examples: [
      'gpucloud templates list',
      'gpucloud templates list --columns slug,image_name,tags -o csv',
    ],
  }).action((_flags, command) => list(frame.context(command)));
}

export async function list(context: Context): Promise<void> {
  const templates = await (await context.api()).templates.list();
  await context.out.list(inOrder(templates), templateView);
}

/** "Lower value listed first" (API document: Template); without a value, last. */
function inOrder(templates: readonly Template[]): readonly Template[] {
  const place = ({ sort_order: order }: Template) => order ?? Number.MAX_VALUE;
  return [...templates].sort((a, b) => place(a) - place(b));
}
