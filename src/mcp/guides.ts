import { built } from './built.ts';
import type { Level } from './tools.ts';

/** Returns the rules that a client shows to its model. */
export function instructionsFor(level: Level): string {
  const budget = `Prefer run: it rents, copies, runs one command and terminates.
The session has a budget: read gpucloud://purse. What it rented is terminated when it ends.
Set terminate_after: the budget reserves each hour until then, by default until the session ends.
After exit code 7 the outcome is unknown: never rent again, and ask the user.`;
  return `gpucloud rents GPU instances, which bill by the hour until they are terminated.
A parameter is a flag of the command: max_price is --max-price. Hints name commands: "catalog list" is the tool catalog_list.
${level === 'read' ? 'These tools change nothing and rent nothing.' : budget}`;
}

/** Returns the purse, the catalog, which is the result of a tool, and the pages of docs/. */
export function resourcesFor(level: Level) {
  const json = { mimeType: 'application/json', text: undefined, tool: undefined };
  const description = 'What the session has spent and may spend';
  const purse = { uri: 'gpucloud://purse', name: 'purse', description, ...json };
  const catalog = {
    uri: 'gpucloud://catalog',
    name: 'catalog',
    description: 'Known offers and images, with their last prices',
    ...json,
    tool: 'catalog_list',
  };
  const pages = Object.entries(built.pages()).map(([name, text]) => ({
    uri: `gpucloud://docs/${name}`,
    name,
    description: text.slice('# '.length, text.indexOf('\n')),
    mimeType: 'text/markdown',
    text,
    tool: undefined,
  }));
  return [...(level === 'read' ? [] : [purse]), catalog, ...pages];
}

export const PROMPTS = [
  {
    name: 'run_folder',
    description: 'Run this folder on a GPU',
    arguments: [
      { name: 'command', description: 'command to run in the folder', required: true },
      { name: 'folder', description: 'folder to copy (default: the current one)' },
    ],
    text: ({ command = '', folder = '.' }: Readonly<Record<string, string>>) =>
      `Run this command on a rented GPU, in a copy of the folder ${JSON.stringify(folder)}: ${JSON.stringify(command)}. ` +
      'Read gpucloud://purse, gpucloud://catalog and gpucloud://docs/run first. ' +
      'Call run with dry_run, and show me the offer, the price and the deadline. ' +
      'After I agree, call run with fetch for the results, and show me the output and the cost.',
  },
  {
    name: 'billing',
    description: 'Show what is billing, and why',
    text: () =>
      'Find out what is billing and why, with status, instances_list, audit and billing_runway. ' +
      'List each instance with its price per hour, how long it has run, and what will end it. ' +
      'Name what nobody seems to use. Terminate nothing without asking me.',
  },
];
