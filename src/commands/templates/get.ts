import type { AnyCommand } from '../../cli/command.ts';
import type { Frame } from '../../cli/frame.ts';
import { findOne } from '../../cli/lookup.ts';
import { ruled } from '../../cli/parse.ts';
import { describe } from '../../cli/verb.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { cleanLines } from '../../output/index.ts';
import { anyName } from '../../rules/names.ts';
import { templateView } from './view.ts';

/** Lines longer than this are hard to read; a narrower terminal breaks them itself. */
const READABLE = 80;

export function registerGet(verb: AnyCommand, frame: Frame): void {
  describe(verb, {
    view: templateView,
    notes:
      'The readme is laid out for reading in a terminal, and plain Markdown in a pipe; --markdown\n' +
      'prints it alone.',
    examples: [
      'gpucloud templates get jupyterlab',
      'gpucloud templates get jupyterlab --markdown > README.md',
      'gpucloud templates get jupyterlab --json | jq .variables_schema',
    ],
  })
    .argument('<template>', 'slug, name, id, or beginning of an id', ruled('TEMPLATE', anyName))
    .option('--markdown', 'the readme alone, in Markdown')
    .action((template, { markdown }, command) =>
      get({ template, markdown: markdown === true }, frame.context(command)),
    );
}

export interface GetInput {
  readonly template: string;
  readonly markdown: boolean;
}

export async function get(
  { template: typed, markdown }: GetInput,
  context: Context,
): Promise<void> {
  if (markdown && context.out.format !== 'table') {
    throw usageError(`--markdown prints a text of its own: it excludes -o ${context.out.format}`);
  }
  const api = await context.api();
  const template = await findOne(typed, {
    flag: 'TEMPLATE',
    what: 'template',
    list: () => api.templates.list(),
    also: ({ slug }) => [slug],
    hint: 'gpucloud templates list',
  });
  const readme = cleanLines(template.readme ?? '').trimEnd();
  if (markdown) {
    await context.out.text(`${readme}\n`);
    return;
  }
  await context.out.item(template, templateView);
  // A readme is a page, not a value beside a label, so that it stands below the details.
  if (context.out.format === 'table' && context.flags.columns === undefined && readme !== '') {
    await context.out.text(`\n${context.out.terminal ? await laidOut(readme) : readme}\n`);
  }
}

async function laidOut(readme: string): Promise<string> {
  const { markdownText } = await import('./markdown.ts');
  return markdownText(readme, READABLE);
}
