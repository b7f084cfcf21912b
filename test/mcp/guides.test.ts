import { expect, test } from 'vitest';
import { referenceOf } from '../../src/command-line/reference/index.ts';
import { instructionsFor, PROMPTS, promptText, resourcesOf } from '../../src/mcp/guides.ts';
import { tree } from '../contract/tree.ts';

const { groups, commands, topics } = referenceOf(tree);
const some = {
  groups: groups.filter(({ name }) => ['run', 'instances'].includes(name)),
  commands: commands.filter(({ words }) => ['run', 'instances stop'].includes(words.join(' '))),
  topics,
};

const page = (words: string[], description: string) => ({
  uri: `gpucloud://docs/${words.join('/')}`,
  name: words.join(' '),
  description,
  mimeType: 'text/plain',
  words: ['help', ...words],
});
const OTHERS = [
  {
    uri: 'gpucloud://catalog',
    name: 'catalog',
    description: 'Known offers and images, with their last prices',
    mimeType: 'application/json',
    words: ['catalog', 'list', '--json', '--no-input'],
  },
  page(['instances'], 'Create, connect to, stop and terminate instances'),
  page(['run'], 'Rent an instance, run a command, fetch results and terminate it'),
  ...topics.map(({ name, summary }) => page([name], summary)),
  page(['instances', 'stop'], 'Stop instances; their disks are kept'),
];
const PURSE = {
  uri: 'gpucloud://purse',
  name: 'purse',
  description: 'What the session has spent and may spend',
  mimeType: 'application/json',
};

test.each([
  ['can rent', true, [PURSE, ...OTHERS]],
  ['only reads', false, OTHERS],
])('lists the catalog and one page per command and topic if the session %s', (_what, has, all) => {
  expect(resourcesOf(some, has)).toEqual(all);
});

const ALWAYS = `gpucloud rents GPU instances, which bill by the hour until they are terminated.
A parameter is a flag of the command: max_price is --max-price.
`;
const BUDGET = `Prefer run: it rents, copies, runs one command and terminates.
The session has a budget: read gpucloud://purse. What it rented is terminated when it ends.
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
  ['toString', {}, undefined],
])('returns the text of the prompt %s with %j', (name, given, text) => {
  expect(promptText(name, given)).toBe(text);
});

test('describes the prompts and their arguments', () => {
  expect(PROMPTS).toEqual([
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
