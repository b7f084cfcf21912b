import type { Template, TemplateEndpoint, TemplateVariable } from '../../api/index.ts';
import { isFormatGiven } from '../../command-line/globals.ts';
import type { Group } from '../../command-line/group.ts';
import { OR_STDIN } from '../../command-line/input.ts';
import { findOne, TEMPLATE } from '../../command-line/lookup.ts';
import { ruledEach } from '../../command-line/parse.ts';
import { onlyTyped, printEach } from '../../command-line/several.ts';
import { verb } from '../../command-line/verb.ts';
import { usageError } from '../../errors.ts';
import { lazy } from '../../lazy.ts';
import {
  type Column,
  type DetailLine,
  field,
  type Section,
  type View,
} from '../../output/output.ts';
import { sectionOf } from '../../output/table/details.ts';
import { anyName } from '../../rules/names.ts';

/** Fields without a column of their own. */
const parts: readonly Section<Template>[] = [
  { heading: 'Endpoints', lines: (t) => (t.endpoints ?? []).map(endpointLine) },
  {
    heading: 'Volumes',
    lines: (t) =>
      (t.volumes ?? []).map(({ host_path, container_path }) => ({
        label: host_path ?? 'no host path',
        value: `in the container ${container_path ?? '(no path)'}`,
      })),
  },
  { heading: 'Environment', lines: (t) => environmentLines(t.env_vars) },
  { heading: 'Variables', lines: (t) => (t.variables_schema ?? []).map(variableLine) },
];

const columns: readonly Column<Template>[] = [
  field('slug', 'SLUG'),
  field('name', 'NAME'),
  field('description', 'DESCRIPTION'),
  field('min_disk_gb', 'DISK', { kind: 'gigabytes' }),
  field('min_cuda_version', 'CUDA'),
  field('id', 'ID', { hidden: true }),
  { id: 'tags', header: 'TAGS', value: (t) => t.tags?.join(','), hidden: true },
  field('image_name', 'IMAGE', { hidden: true }),
  field('run_command', 'COMMAND', { hidden: true }),
  field('shm_size', 'SHARED MEMORY', { hidden: true }),
  field('is_active', 'AVAILABLE', { kind: 'yes', hidden: true }),
  field('sort_order', 'ORDER', { hidden: true }),
  field('logo_url', 'LOGO', { hidden: true }),
  field('created_at', 'CREATED', { kind: 'time', hidden: true }),
  field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
  field('post_start_script', 'AFTER START', { hidden: true }),
];

const templateView: View<Template> = {
  columns,
  id: (t) => t.id,
  empty: 'No templates.',
  sections: [sectionOf(columns), ...parts],
};

function endpointLine(endpoint: TemplateEndpoint): DetailLine {
  const { auth, name, port, protocol, is_main: main, url_template: link } = endpoint;
  return {
    label: name ?? 'no name',
    value: listed([
      port == null ? null : `port ${port}${protocol == null ? '' : `/${protocol}`}`,
      main === true ? 'main' : null,
      authText(auth),
      link,
    ]),
  };
}

function authText(auth: TemplateEndpoint['auth']): string | null {
  const key = auth?.token_key;
  if (auth?.type == null) {
    return null;
  }
  return key ? `auth ${auth.type} in ${key}` : `auth ${auth.type}`;
}

function variableLine({ key, type, label, length, generator }: TemplateVariable): DetailLine {
  return {
    label: key ?? 'no key',
    value: listed([label, type, length == null ? null : `${length} characters`, generator]),
  };
}

function listed(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(', ');
}

/** Formats `env_vars`, documented as an "object" of "key-value". Shows anything else as JSON. */
function environmentLines(variables: unknown): DetailLine[] {
  if (variables === null || variables === undefined) {
    return [];
  }
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    return [{ label: 'All', value: JSON.stringify(variables) }];
  }
  return Object.entries(variables).map(([label, value]) => ({
    label,
    value: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}

export const templates: Group = {
  verbs: {
    list: verb({
      aliases: ['ls'],
      summary: 'List application templates',
      tool: { allow: 'read' },
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
    get: verb({
      aliases: ['show'],
      summary: 'Show a template and its readme',
      tool: { allow: 'read' },
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
        if (markdown === true) return out.markdown(`${readme}\n`);
        await out.item(template, templateView);
        if (out.format === 'table' && flags.columns === undefined && readme !== '') {
          await out.markdown(`\n${readme}\n`);
        }
      },
    }),
  },
  examples: ['gpucloud templates list', 'gpucloud templates get jupyterlab'],
};

/**
 * Sorts by "Lower value listed first" (API document: Template); templates without a value come
 * last.
 */
function byOrder(a: Template, b: Template): number {
  return (a.sort_order ?? Number.MAX_VALUE) - (b.sort_order ?? Number.MAX_VALUE);
}
