import { expect, test } from 'vitest';
import { instructionsFor, PROMPTS, resourcesFor } from '../../src/mcp/guides.ts';

const CATALOG = {
  uri: 'gpucloud://catalog',
  name: 'catalog',
  description: 'Known offers and images, with their last prices',
  mimeType: 'application/json',
  tool: 'catalog_list',
};
const PURSE = {
  uri: 'gpucloud://purse',
  name: 'purse',
  description: 'What the session has spent and may spend',
  mimeType: 'application/json',
};

test.each([
  ['jobs', [PURSE, CATALOG]],
  ['read', [CATALOG]],
] as const)('lists the resources of the level %s', (level, resources) => {
  expect(resourcesFor(level)).toEqual(resources);
});

const ALWAYS = `gpucloud rents GPU instances, which bill by the hour until they are terminated.
A parameter is a flag of the command: max_price is --max-price. \
Hints name commands: "catalog list" is the tool catalog_list.
`;
const BUDGET = `Prefer run: it rents, copies, runs one command and terminates.
The session has a budget: read gpucloud://purse. What it rented is terminated when it ends.
Set terminate_after: the budget reserves each hour until then, by default until the session ends.
After exit code 7 the outcome is unknown: never rent again, and ask the user.`;
test.each([
  ['read', 'These tools change nothing and rent nothing.'],
  ['jobs', BUDGET],
  ['all', BUDGET],
] as const)('instructs a model with the tools of the level %s', (level, text) => {
  expect(instructionsFor(level)).toBe(ALWAYS + text);
});

const RUN = `Read gpucloud://purse, gpucloud://catalog and gpucloud://docs/run first. \
Call run with dry_run, and show me the offer, the price and the deadline. \
After I agree, call run with fetch for the results, and show me the output and the cost.`;
const BILLING = `Find out what is billing and why, with status, instances_list, audit and billing_runway. \
List each instance with its price per hour, how long it has run, and what will end it. \
Name what nobody seems to use. Terminate nothing without asking me.`;
test.each([
  [
    'run_folder',
    { command: 'echo "a"', folder: '/b' },
    `Run this command on a rented GPU, in a copy of the folder "/b": "echo \\"a\\"". ${RUN}`,
  ],
  ['run_folder', {}, `Run this command on a rented GPU, in a copy of the folder ".": "". ${RUN}`],
  ['billing', { command: 'x' }, BILLING],
])('returns the text of the prompt %s with %j', (name, given, text) => {
  expect(PROMPTS.find((prompt) => prompt.name === name)?.text(given)).toBe(text);
});

test('describes the prompts and their arguments', () => {
  expect(PROMPTS).toMatchObject([
    {
      name: 'run_folder',
      description: 'Run this folder on a GPU',
      arguments: [
        { name: 'command', description: 'command to run in the folder', required: true },
        { name: 'folder', description: 'folder to copy (default: the current one)' },
      ],
    },
    { name: 'billing', description: 'Show what is billing, and why' },
  ]);
});
