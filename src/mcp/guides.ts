import type { AnyCommand } from '../command-line/command.ts';
import { TOPICS } from '../command-line/help.ts';
import { type CommandReference, groupOf } from '../command-line/reference/index.ts';
import type { Level } from './tools.ts';

/** Texts for agents: instructions, resources and prompts. */

const RULES = [
  'gpucloud rents GPU instances, which bill by the hour until they are terminated.',
  'A parameter is a flag of the command: max_price is --max-price.',
  'After exit code 7 the outcome is unknown: never rent again. Use instances_recover or ask the user.',
];

const OF_LEVEL: Readonly<Record<Level, readonly string[]>> = {
  read: ['These tools change nothing and rent nothing.'],
  jobs: [
    'Prefer run: it rents, copies, runs one command and terminates.',
    'The session has a budget: read gpucloud://purse. What it rented is terminated when it ends.',
    'Only instances of this session can be changed.',
  ],
  all: [
    'Prefer run: it rents, copies, runs one command and terminates.',
    'The session has a budget: read gpucloud://purse. What it rented is terminated when it ends.',
  ],
};

export function instructionsFor(level: Level): string {
  return [...RULES, ...OF_LEVEL[level]].join('\n');
}

/** A text that an agent may read. `words` is the command that prints it. */
interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  readonly words: readonly string[] | undefined;
}

export function resourcesOf(
  tree: AnyCommand,
  commands: readonly CommandReference[],
  hasPurse: boolean,
): Resource[] {
  const groups = tree.createHelp().visibleCommands(tree).map(groupOf);
  const pages = [
    ...groups.map(({ name, summary }) => ({ words: [name], summary })),
    ...commands.filter(({ words }) => words.length > 1),
    ...TOPICS.map(({ name, summary }) => ({ words: [name], summary })),
  ];
  const purse: Resource = {
    uri: 'gpucloud://purse',
    name: 'purse',
    description: 'What the session has spent and may spend, and its instances',
    mimeType: 'application/json',
    words: undefined,
  };
  const catalog: Resource = {
    uri: 'gpucloud://catalog',
    name: 'catalog',
    description: 'Known offers and images, with their last prices',
    mimeType: 'application/json',
    words: ['catalog', 'list', '--json', '--no-input'],
  };
  return [
    ...(hasPurse ? [purse] : []),
    catalog,
    ...pages.map(({ words, summary }) => ({
      uri: `gpucloud://docs/${words.join('/')}`,
      name: words.join(' '),
      description: summary,
      mimeType: 'text/plain',
      words: ['help', ...words],
    })),
  ];
}

export const PROMPTS = [
  {
    name: 'run_folder',
    description: 'Run this folder on a GPU',
    arguments: [
      { name: 'command', description: 'command to run in the folder', required: true },
      { name: 'folder', description: 'folder to copy (default: the current one)' },
    ],
  },
  { name: 'billing', description: 'Show what is billing, and why' },
];

/** Returns a prompt's text; undefined if there is no such prompt. */
export function promptText(
  name: string,
  { command = '', folder = '.' }: Readonly<Record<string, string>>,
): string | undefined {
  switch (name) {
    case 'run_folder':
      return (
        `Run this command on a rented GPU, in a copy of the folder ${JSON.stringify(folder)}: ${JSON.stringify(command)}. ` +
        'Read gpucloud://purse, gpucloud://catalog and gpucloud://docs/run first. ' +
        'Call run with dry_run, and show me the offer, the price and the deadline. ' +
        'After I agree, call run with fetch for the results, and show me the output and the cost.'
      );
    case 'billing':
      return (
        'Find out what is billing and why, with status, instances_list, audit and billing_runway. ' +
        'List each instance with its price per hour, how long it has run, and what will end it. ' +
        'Name what nobody seems to use. Terminate nothing without asking me.'
      );
    default:
      return undefined;
  }
}
