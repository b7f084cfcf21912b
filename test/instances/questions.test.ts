import { expect, test } from 'vitest';
import { entry } from '../../src/catalog/entry.ts';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { type Lists, readLists } from '../../src/instances/ask/lists.ts';
import { type Answer, type Asking, questionsFor } from '../../src/instances/ask/questions.ts';
import type { Prompts } from '../../src/prompts/prompts.ts';

type Shown = { name: string; about?: readonly string[]; value: unknown; checked?: boolean };
type Options = { initial?: number | string; check?: (text: string) => string | undefined };

/** A person who types these texts, or chooses the choices of these numbers. */
function person(...replies: (string | number)[]) {
  const said: string[] = [];
  const line = ({ name, about = [], checked }: Shown) =>
    [...(checked === undefined ? [] : [checked ? '[x]' : '[ ]']), name, ...about].join(' | ');
  const list = (question: string, all: readonly Shown[], initial = 0) =>
    said.push(question, ...all.map((one, at) => `${at === initial ? '>' : ' '} ${line(one)}`));
  const prompts = {
    print: (text: string) => said.push(`(${text})`),
    async text(question: string, { initial = '', check }: Options) {
      said.push(`${question} [${initial}]`);
      for (;;) {
        const reply = String(replies.shift());
        const rule = check?.(reply);
        if (rule === undefined) return reply;
        said.push(`${reply}: ${rule}`);
      }
    },
    async choose(question: string, all: readonly Shown[], { initial }: Options) {
      list(question, all, Number(initial));
      return all[Number(replies.shift())]?.value;
    },
    async chooseSeveral(question: string, all: readonly Shown[], options: object) {
      list(`${question} ${JSON.stringify(options)}`, all, -1);
      return all.filter((_one, at) => String(replies[0]).includes(`${at}`)).map((one) => one.value);
    },
  } as unknown as Prompts;
  return { said, prompts };
}

const offer = (id: string, more: object = {}) =>
  entry({ service: 's', kind: 'offer', id, ...more } as never);
const [FAR, NEAR] = [
  'aaaaaaaa-0000-4000-8000-000000000001',
  'aaaaaaaa-0000-4000-8000-000000000002',
];
const AT = '2026-01-15T12:00:00Z';

const LISTS: Lists = {
  names: new Map([
    ['box', 'a known instance has that name'],
    ['lab-1', 'a known instance has that name'],
    ['lab-2', 'a request has that name'],
    ['old', undefined],
  ]),
  sshKeys: [
    { id: 'k1', name: 'laptop', fingerprint: 'SHA256:a', is_default: true },
    { id: 'k2', name: 'twin' },
    { id: 'k3', name: 'twin' },
    { id: 'k4', name: null },
    { id: 'twin-id', name: 'k1' },
  ],
  halves: [{ key: { id: 'k2', name: 'twin' }, isHeld: true }],
  templates: [
    {
      id: 't1',
      slug: 'jupyter',
      name: 'Jupyter',
      description: 'Notebooks',
      min_disk_gb: 50,
      min_cuda_version: '12.4',
    },
    { id: 't2', slug: 'twin', name: 'One', min_disk_gb: 20 },
    { id: 't3', slug: 'twin', name: null, min_cuda_version: '12.1' },
    { id: 't4', slug: null, name: null },
  ],
  drives: [
    { id: 'd1', name: 'data', size_gb: 200, price_per_hour: '2.40' },
    { id: 'd2', name: null, size_gb: null, price_per_hour: null },
    { id: 'd3', name: 'd2', size_gb: 1 },
  ],
  catalog: {
    offer: [
      offer(FAR, { name: 'twin', region: 'ru-1', price_per_hour: '90', price_at: AT }),
      offer(NEAR, {
        name: 'twin',
        gpu: 'H100',
        in_stock: false,
        in_stock_at: AT,
        price_per_hour: '9',
      }),
      offer('o-3', { name: 'RTX 4090', gpu: 'RTX 4090', region: 'ru-2', price_per_hour: '9.5' }),
      offer('o-4', { given_name: 'mine', name: 'RTX 5090', price_per_hour: '10' }),
      offer('o-5'),
      offer('o-6', { name: 'b', price_per_hour: '90' }),
    ],
    image: [
      offer('i-1', { kind: 'image', name: 'Ubuntu 22.04', cuda_version: '12.4', region: 'eu' }),
      offer('i-2', { kind: 'image', name: 'Debian' }),
    ],
  },
  balance: undefined,
};

const context = { clock: { random: () => 0.045 } } as unknown as Context;
const BASE = { flags: {}, preferred: {}, lists: LISTS, refused: new Set<string>(), isJob: false };

/** The labels and given values of the questions, and what one of them says and gets. */
async function asked(
  label: string,
  replies: readonly (string | number)[],
  more: Partial<Asking> = {},
  before?: Answer,
) {
  const { said, prompts } = person(...replies);
  const asking = { ...BASE, dryRun: true, count: undefined, prompts, context, ...more };
  const question = questionsFor(asking).find((one) => one.label === label);
  const answer = await question?.ask(before);
  return `\n${said.join('\n')}\n= ${JSON.stringify(answer)}\n`;
}

test.each<[string, Partial<Asking>]>([
  ['no flag', {}],
  ['a job', { isJob: true }],
  ['a job with a template', { isJob: true, flags: { template: 't' } }],
  ['a job with a described container', { isJob: true, flags: { shmSize: 1, drive: 'd' } }],
  ['a job with ports', { isJob: true, flags: { port: [] } }],
  ['a job with a file of variables', { isJob: true, flags: { envFile: ['e'] } }],
  ['one instance of a list', { count: 1 }],
  ['two instances', { count: 2 }],
  ['no drives', { lists: { ...LISTS, drives: [] } }],
  ['a drive by a flag', { count: 2, flags: { drive: 'd' } }],
  ['keys that cannot be read', { lists: { ...LISTS, sshKeys: undefined } }],
  ['no key by a flag', { flags: { sshKey: [] }, lists: { ...LISTS, sshKeys: undefined } }],
  [
    'every flag',
    {
      flags: {
        ...{ name: 'n', offer: ['a', 'b'], image: 'i', sshKey: ['k', 'l'], template: 't' },
        ...{ dockerImage: 'c', dockerCommand: 'x' },
      },
    },
  ],
  ['a container by a flag', { isJob: true, flags: { dockerImage: 'c', dockerCommand: 'x' } }],
])('asks, for %s', (_what, more) => {
  const asking = { ...BASE, dryRun: true, count: undefined, prompts: person().prompts, context };
  const found = questionsFor({ ...asking, ...more });
  expect(found.map(({ label, given = '?' }) => `${label}: ${given}`).join('; ')).toMatchSnapshot();
});

const NAME = ['Box', 'lab-2', 'x'.repeat(51), 'OLD'];
const KEYS = { sshKey: ['k1', 'twin-id'] };
const LONG = [64, 65, 200].map((length) => ({ id: `k-${length}`, name: 'n'.repeat(length) }));
const CONTAINER = { flags: { dockerImage: 'nginx:1' }, text: '' };

test.each<[string, readonly (string | number)[], Partial<Asking>?, Answer?]>([
  ['Name', NAME],
  ['Name', ['x'.repeat(49), 'lab', 'box', 'new'], { count: 2 }],
  ['Name', ['lab', 'new'], { count: 1 }, { flags: {}, text: 'earlier' }],
  ['Offer', [1]],
  ['Offer', [3]],
  ['Offer', [4]],
  [
    'Offer',
    [6, 'twin', 'a b', ' o-7 '],
    { refused: new Set([FAR, 'o-3']), preferred: { offer: ['mine', FAR] } },
  ],
  ['Offer', [2], { preferred: { offer: [NEAR] } }, { flags: {}, text: 'RTX 4090, ru-2' }],
  ['Offer', ['../x', 'o-1'], { lists: { ...LISTS, catalog: { offer: [], image: [] } } }],
  ['Image', [1]],
  ['Image', [0], { preferred: { image: 'debian' } }],
  ['SSH keys', ['0123']],
  ['SSH keys', [''], { preferred: { sshKey: ['TWIN', 'k4', 'SHA256:a'] } }],
  ['SSH keys', ['4'], { isJob: true }, { flags: KEYS, text: '' }],
  ['SSH keys', ['012'], { lists: { ...LISTS, sshKeys: LONG } }],
  ['SSH keys', [], { lists: { ...LISTS, sshKeys: [] } }],
  ['Runs', [1], {}, { flags: {}, text: 'template One' }],
  ['Runs', [2]],
  ['Runs', [3]],
  ['Runs', [4]],
  [
    'Runs',
    [5, ' ', 'a b', ' img ', '99999:80', '8080:80 8080:81', '8080:80  81:82/udp'],
    {},
    CONTAINER,
  ],
  ['Runs', [5, 'img', '']],
  ['Runs', ['img'], { flags: { shmSize: 8 } }, CONTAINER],
  ['Drive', [1]],
  ['Drive', [2], {}, { flags: {}, text: 'data' }],
  ['Drive', [3]],
  ['Drive', [0]],
])('%s, with the replies %j', async (label, replies, more, before) => {
  expect(await asked(label, replies, more, before)).toMatchSnapshot();
});

test('suggests a name of two words that no instance has, with the lowest free number', async () => {
  const name = async (names: readonly string[], count?: number, random = 0) => {
    const lists = { ...LISTS, names: new Map(names.map((one) => [one, undefined])) };
    const clock = { random: () => random };
    const how = { lists, count, context: { clock } as unknown as Context };
    return (await asked('Name', ['ok-name'], how)).split('\n')[1];
  };
  expect(await name(['amber-alder'])).toBe('Instance name [amber-alder-2]');
  expect(await name(['amber-alder', 'amber-alder-2'])).toBe('Instance name [amber-alder-3]');
  expect(await name(['amber-alder-2'], 1)).toBe('Instance name [amber-alder]');
  expect(await name(['amber-alder-2'], 2)).toBe('Instance name [amber-alder-2]');
  expect(await name([], undefined, 0.9999)).toBe('Instance name [wide-wren]');
});

const error = (failure: CliError['failure']) => new CliError(failure, `No ${failure}.`);

/** Reads the lists of an account whose reads may fail. */
async function listed(faults: Readonly<Record<string, CliError>>) {
  const warnings: string[] = [];
  const done: string[] = [];
  const of = (what: string, all: unknown) => async () => {
    if (faults[what] !== undefined) throw faults[what];
    return all;
  };
  const api = {
    sshKeys: { list: of('keys', []) },
    templates: {
      list: of('templates', [
        { id: 'c', sort_order: 1 },
        { id: 'off', sort_order: 0, is_active: false },
        { id: 'b', is_active: null },
        { id: 'a', sort_order: -1, is_active: true },
      ]),
    },
    drives: {
      list: of('drives', [
        { id: 'free', status: 'AVAILABLE', current_instance_id: null },
        { id: 'unsaid', status: 'AVAILABLE' },
        { id: 'held', status: 'AVAILABLE', current_instance_id: 'i' },
        { id: 'used', status: 'IN_USE', current_instance_id: null },
      ]),
    },
    users: { me: of('me', { id: 'u', balance: '10.00' }) },
  };
  const named = (name: string, status?: string) => ({ name, last: status && { status } });
  const journal = {
    read: async ({ archived }: { archived: boolean }) => ({
      instances: [
        named('Over', 'TERMINATED'),
        ...(archived ? [named('Old', 'TERMINATED'), named('twice', 'TERMINATED')] : []),
        ...[named('TWICE', 'ACTIVE'), named('lost', 'TERMINATED'), named('unread')],
      ],
      ...{ unknown: [{ name: 'Lost' }], inFlight: [{ name: 'sent' }] },
    }),
  };
  const own = {
    ...{ api: async () => api, journal: async () => journal, flags: { profile: 'work' } },
    ...{ signal: new AbortController().signal, host: {} },
    catalog: async () => ({ known: async () => [...LISTS.catalog.image, offer('o')] }),
    err: {
      warn: (code: string, text: string) => warnings.push(`${code}: ${text}`),
      progress: (text: string) => ({ done: () => done.push(text) }),
    },
  } as unknown as Context;
  const found = await readLists(own).catch(({ message }: CliError) => message);
  expect(done).toEqual(['Reading your keys, templates and drives']);
  if (typeof found === 'string') return { lines: [found, ...warnings] };
  const ids = (all: readonly { id: string }[] | undefined) => all?.map(({ id }) => id).join();
  const { names, sshKeys, templates, drives, catalog, balance = null } = found;
  const lists = [ids(sshKeys), ids(templates), ids(drives), ids(catalog.offer), ids(catalog.image)];
  return { names, lines: [`${lists.join('; ')}; ${balance}`, ...warnings] };
}

test.each([
  [[]],
  [['keys']],
  [['templates']],
  [['drives']],
  [['keys', 'drives']],
  [['keys', 'templates', 'drives']],
  [['me']],
])('reads what the wizard offers, without %j', async (missing) => {
  const faults = Object.fromEntries(missing.map((one) => [one, error('unreachable')]));
  expect((await listed(faults)).lines.join('\n')).toMatchSnapshot();
});

test('knows the names that instances and requests have, and that only ended ones had', async () => {
  const unclear =
    'a request with that name has an unknown outcome: gpucloud --profile work instances recover';
  const known = 'a known instance has that name';
  expect((await listed({})).names).toEqual(
    new Map([
      ...([['over'], ['old'], ['twice', known], ['lost', unclear]] as const),
      ...([
        ['sent', unclear],
        ['unread', known],
      ] as const),
    ] as [string, string | undefined][]),
  );
});

test.each(['keys', 'templates', 'drives', 'me'])(
  'ends if the key is refused for %s',
  async (what) => {
    const { lines } = await listed({ [what]: error('authentication') });
    expect(lines).toEqual(['No authentication.']);
  },
);
