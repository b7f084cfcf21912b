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

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** The text, or the command that prints it. The purse has neither. */
  readonly text?: string;
  readonly words?: readonly string[];
}

/** Returns the purse, the catalog, and the pages of docs/. */
export function resourcesFor(hasPurse: boolean): Resource[] {
  const json = { mimeType: 'application/json' };
  const purse = {
    uri: 'gpucloud://purse',
    name: 'purse',
    description: 'What the session has spent and may spend',
    ...json,
  };
  const catalog = {
    uri: 'gpucloud://catalog',
    name: 'catalog',
    description: 'Known offers and images, with their last prices',
    ...json,
    words: ['catalog', 'list', '--json', '--no-input'],
  };
  const pages = Object.entries(built.pages()).map(([name, text]) => ({
    uri: `gpucloud://docs/${name}`,
    name,
    description: text.slice('# '.length, text.indexOf('\n')),
    mimeType: 'text/markdown',
    text,
  }));
  return [...(hasPurse ? [purse] : []), catalog, ...pages];
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
  const texts: Readonly<Record<string, string>> = {
    run_folder:
      `Run this command on a rented GPU, in a copy of the folder ${JSON.stringify(folder)}: ${JSON.stringify(command)}. ` +
      'Read gpucloud://purse, gpucloud://catalog and gpucloud://docs/run first. ' +
      'Call run with dry_run, and show me the offer, the price and the deadline. ' +
      'After I agree, call run with fetch for the results, and show me the output and the cost.',
    billing:
      'Find out what is billing and why, with status, instances_list, audit and billing_runway. ' +
      'List each instance with its price per hour, how long it has run, and what will end it. ' +
      'Name what nobody seems to use. Terminate nothing without asking me.',
  };
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
