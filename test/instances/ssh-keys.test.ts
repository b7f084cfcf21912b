import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { SshKey } from '../../src/api/index.ts';
import type { Context } from '../../src/context.ts';
import { accountKey } from '../../src/instances/ask/keys.ts';
import type { Prompts } from '../../src/prompts/prompts.ts';
import { chooseKeyFile } from '../../src/ssh-keys/choose.ts';
import {
  keysHere,
  lockedKeyError,
  printedBy,
  usableKeys,
} from '../../src/ssh-keys/private-half.ts';
import { needs } from '../support/needs.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { IMAGE, OFFER, OFFERED } from '../support/sandbox-ids.ts';
import { sent } from '../support/service.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

const key = (name: string, is_default = false): SshKey => ({
  id: `id-${name}`,
  name,
  public_key: '',
  is_default,
});
const [LAPTOP, DESK] = [key('laptop'), key('desk')];

test('finds the keys that sign in without a passphrase', () => {
  const halves = [
    { key: LAPTOP, file: 'a', isLocked: true },
    { key: DESK, file: 'b' },
    { key: key('agent'), isHeld: true },
    // The agent holds a key whose file has a passphrase.
    { key: key('both'), file: 'c', isLocked: true },
    { key: key('both'), isHeld: true },
    // The service hides its public key.
    { key: key('hidden') },
  ] as const;
  expect([...usableKeys(halves)]).toEqual(['id-desk', 'id-agent', 'id-both', 'id-hidden']);
  expect([...keysHere(halves)]).toEqual(['id-desk', 'id-agent', 'id-both']);
});

test('goes on without a program that the system refuses to start', async () => {
  const start = () => Promise.reject(new Error('spawn UNKNOWN'));
  const printed = printedBy('ssh-add', ['-L'], { start } as Partial<Context> as Context);
  expect(await printed).toEqual({ code: 127, text: '', errors: '' });
});

test('names a locked key without a name by its ID, and the command that unlocks it', () => {
  const half = { key: { id: 'k-1', name: null }, file: '/my keys/work' };
  expect(lockedKeyError(half)).toMatchObject({
    failure: 'usage',
    message:
      '--ssh-key k-1: private key /my keys/work has a passphrase, and "gpucloud run" can\'t prompt for it',
    hint: "add the key to the agent: ssh-add '/my keys/work'",
  });
});

test.each([
  [[], 'laptop', ['Generate a new key (~/.ssh/id_ed25519)', 'Another file']],
  [['id_ed25519'], 'laptop', ['Another file', 'None']],
  [
    ['id_ed25519.pub', 'broken.pub', 'notes'],
    'laptop',
    ['id_ed25519.pub added as laptop', 'Another file'],
  ],
  [['a.pub', 'id_ed25519.pub/'], null, ['a.pub added as id-laptop', 'Another file']],
])('with %j in ~/.ssh and the key %s, offers %j', async (files, called, offered) => {
  const line = sshPublicKey('ssh-ed25519');
  await mkdir(join(world.home, '.ssh'));
  for (const name of files)
    if (name.endsWith('/')) await mkdir(join(world.home, '.ssh', name));
    else await writeFile(join(world.home, '.ssh', name), name === 'broken.pub' ? 'x' : line);
  const account = [{ ...LAPTOP, name: called }, DESK].map((one) => ({ ...one, public_key: line }));
  const prompts = {
    choose: async (_question: string, choices: readonly { name: string; about?: string[] }[]) => {
      expect(choices.map(({ name, about = [] }) => [name, ...about.slice(0, 1)].join(' '))).toEqual(
        offered,
      );
      return async () => 'chosen';
    },
  } as unknown as Prompts;
  const { signal } = new AbortController();
  const context = { host: { home: world.home }, signal } as unknown as Context;
  const none = offered.includes('None') ? { none: 'None' } : {};
  expect(await chooseKeyFile('Key', { account, ...none }, prompts, context)).toBe('chosen');
});

test('takes another file for the key if it exists', async () => {
  const file = join(world.home, 'key.pub');
  await writeFile(file, '');
  let broken: unknown;
  const prompts = {
    choose: async (_question: string, choices: readonly { value: unknown }[]) => choices[0]?.value,
    text: async (_question: string, { check }: { check(path: string): string | undefined }) => {
      broken = [' ', join(world.home, 'none.pub'), ` ${file} `].map(check);
      return ` ${file} `;
    },
  } as unknown as Prompts;
  const context = { host: {} } as Context;
  expect(await chooseKeyFile('Key', { account: [] }, prompts, context)).toBe(file);
  expect(broken).toEqual([
    'must be a full path instead of ~/, such as /home/ann/.ssh/id_ed25519.pub',
    'there is no such file',
    undefined,
  ]);
});

describe('accountKey', () => {
  test.each([
    ['no key', [], undefined],
    ['the only key', [LAPTOP], 'laptop, only'],
    ['the only key, which is the default', [key('main', true)], 'main, default'],
    ['the default among several', [LAPTOP, key('main', true), DESK], 'main, default'],
    ['several without a default', [LAPTOP, DESK], undefined],
    ['several defaults', [key('one', true), LAPTOP, key('two', true)], undefined],
  ])('%s', (_what, keys, expected) => {
    const found = accountKey(keys);
    expect(found && `${found.key.name}, ${found.why}`).toBe(expected);
  });
});

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
});

const CREATE = ['instances', 'create', 'trainer', ...OFFERED];
const RUN = ['run', ...OFFERED, '--terminate-after', '1h', '--', 'true'];

/** The keys of the request that rents; undefined if nothing was rented. */
function rentedWith(): unknown {
  const post = world.service.requests.find(({ method }) => method === 'POST');
  return post && { ssh_keys: undefined, ...(post.body as object) };
}
const BODY = { offer_id: OFFER, image_id: IMAGE, instance_name: 'trainer' };

describe('instances create without --ssh-key', () => {
  test.each([
    ['only', [LAPTOP]],
    ['default', [DESK, { ...LAPTOP, is_default: true }]],
  ])("uses the account's %s key, and says so", async (_why, keys) => {
    service.sshKeys = keys.map(({ id, name, is_default }) => ({
      id,
      name: `${name}`,
      is_default: is_default === true,
    }));
    await world.cli(CREATE);
    expect(rentedWith()).toEqual({ ...BODY, ssh_keys: ['id-laptop'] });
  });

  test.each([
    ['--no-ssh-key', ['--no-ssh-key']],
    ['an empty list in the file', ['-f', '-']],
  ])('rents without a key, reads no keys and prints no warning with %s', async (_what, flags) => {
    service.sshKeys = [{ id: 'id-laptop', name: 'laptop' }];
    const stdin = 'ssh_keys: []\n';
    const { requests } = await world.cli([...CREATE, ...flags], { stdin });
    expect(sent(requests)).not.toContain('GET /ssh-keys');
    expect(rentedWith()).toEqual({ ...BODY, ssh_keys: undefined });
    const waiting = [...CREATE, ...flags, '--wait=ssh', '--dry-run'];
    expect(sent((await world.cli(waiting, { stdin })).requests)).not.toContain('GET /ssh-keys');
  });

  test.each([[['--ssh-key', 'laptop', '--no-ssh-key']], [['--no-ssh-key', '--ssh-key', 'laptop']]])(
    'rejects %j',
    async (flags) => {
      const { code, stderr, requests } = await world.cli([...CREATE, ...flags]);
      expect({ code, stderr, requests }).toEqual({
        code: 2,
        stderr: "error: --ssh-key can't be used with --no-ssh-key\n",
        requests: [],
      });
    },
  );

  test("rents nothing if the keys can't be read", async () => {
    service.failing.add('/ssh-keys');
    await world.cli(CREATE);
    expect(rentedWith()).toBeUndefined();
  });
});

describe.each([
  ['instances create --wait=ssh', [...CREATE, '--wait=ssh']],
  ['instances create --count 2 --wait=ssh', [...CREATE, '--count', '2', '--wait=ssh']],
  ['run', RUN],
])('%s', (_what, argv) => {
  test('rents nothing that it could not enter', async () => {
    await world.cli(argv);
    service.sshKeys = [LAPTOP, DESK].map(({ id, name }) => ({ id, name: `${name}` }));
    await world.cli(argv);
    expect(rentedWith()).toBeUndefined();
  });
});

/** Only the private key of desk is on this computer. */
async function makeKeys() {
  const file = join(world.home, '.ssh', 'id_ed25519');
  await mkdir(join(world.home, '.ssh'));
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  const public_key = await readFile(`${file}.pub`, 'utf8');
  service.sshKeys = [
    { id: 'id-laptop', name: 'laptop', public_key: sshPublicKey('ssh-ed25519') },
    { id: 'id-desk', name: 'desk', public_key },
    { id: 'id-copy', name: 'copy', public_key },
  ];
}

test.each([
  [['laptop'], '--wait=ssh'],
  [['laptop'], '--wait'],
  [['laptop', 'desk'], '--wait=ssh'],
])('warns of a private key elsewhere: %j %s', needs('ssh-keygen'), async (keys, wait) => {
  await makeKeys();
  const flags = [...keys.flatMap((name) => ['--ssh-key', name]), wait, '--dry-run'];
  await world.cli([...CREATE, ...flags]);
});

test('suggests the key whose private key is on this computer', needs('ssh-keygen'), async () => {
  await makeKeys();
  await world.cli([...CREATE, '--wait=ssh']);
  const terminal = { terminal: true, typedAhead: true, env: { TERM: 'dumb' }, stdin: '1\n' };
  for (const flags of [[], ['--identity', '/dev/null']])
    await world.cli(['run', '--dry-run', ...flags, ...RUN.slice(1)], terminal);
});
