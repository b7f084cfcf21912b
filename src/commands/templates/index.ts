import type { Template } from '../../api/index.ts';
import { isFormatGiven } from '../../cli/globals.ts';
import type { Group } from '../../cli/group.ts';
import { OR_STDIN } from '../../cli/input.ts';
import { findOne, TEMPLATE } from '../../cli/lookup.ts';
import { ruledEach } from '../../cli/parse.ts';
import { onlyTyped, printEach } from '../../cli/several.ts';
import { verb } from '../../cli/verb.ts';
import { usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import { anyName } from '../../rules/names.ts';
import { templateView } from './view.ts';

export const templates: Group = {
  verbs: [
    verb('list', {
      aliases: ['ls'],
      summary: 'List application templates',
      view: templateView,
      notes: "Sorted by the service's sort_order.",
      examples: [
        'gpucloud templates list',
        'gpucloud templates list --columns slug,image_name,tags -o csv',
      ],
      takes: (command) => command,
      async run(context) {
        const all = await (await context.api()).templates.list();
        await context.out.list(all.sort(byOrder), templateView);
      },
    }),
    verb('get', {
      aliases: ['show'],
      summary: 'Show a template and its readme',
      view: templateView,
      notes: 'Prints the readme as Markdown below the details; --markdown prints only the readme.',
      examples: [
        'gpucloud templates get jupyterlab',
        'gpucloud templates get jupyterlab --markdown > README.md',
        'gpucloud templates get jupyterlab --json | jq .variables_schema',
      ],
      takes: (command) =>
        command
          .argument(
            '<template...>',
            `slugs, names, IDs or ID prefixes${OR_STDIN}`,
            ruledEach('TEMPLATE', anyName),
          )
          .option('--markdown', 'print only the readme'),
      async run(context, typed, { markdown }) {
        const { api, out, flags } = context;
        if (markdown === true && out.format !== 'table' && isFormatGiven(flags)) {
          throw usageError(`--markdown can't be used with -o ${out.format}`);
        }
        const list = lazy(async () => (await api()).templates.list());
        const find = (text: string) => findOne(text, { flag: 'TEMPLATE', list, ...TEMPLATE });
        const only = onlyTyped(typed);
        if (only === undefined) {
          if (markdown === true) throw usageError('--markdown prints the readme of one template');
          return printEach('TEMPLATE', typed, { work: find, view: templateView }, context);
        }
        const template = await find(only);
        const readme = (template.readme ?? '').trimEnd();
        if (markdown === true) return out.text(`${readme}\n`);
        await out.item(template, templateView);
        if (out.format === 'table' && flags.columns === undefined && readme !== '') {
          await out.text(`\n${readme}\n`);
        }
      },
    }),
  ],
  examples: ['gpucloud templates list', 'gpucloud templates get jupyterlab'],
};

/** "Lower value listed first" (API document: Template); without a value, last. */
function byOrder(a: Template, b: Template): number {
  return (a.sort_order ?? Number.MAX_VALUE) - (b.sort_order ?? Number.MAX_VALUE);
}
