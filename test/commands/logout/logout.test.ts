import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createWorld, journalOf, type World } from '../../support/run-cli.ts';
import { ANNA_KEY, accounts } from '../login/accounts.ts';

async function newWorld(): Promise<World> {
  return createWorld({ handler: accounts, signedIn: false });
}

async function signedIn(...argv: string[]): Promise<World> {
  const world = await newWorld();
  const words = ['login', '--base-url', world.service.url, '--key-stdin', ...argv];
  expect((await world.cli(words, { stdin: ANNA_KEY })).code).toBe(0);
  return world;
}

const configFile = (world: World) => join(world.home, 'config', 'config.json');

const FORGOTTEN =
  'Removed the key of profile "default".\n' +
  "The key still works: the API can't revoke keys. If others may have the key, revoke it in the web console.\n";

describe('logout', () => {
  test('removes the key and account, keeps the base URL, and warns that the key still works', async () => {
    const world = await signedIn();
    const { code, requests } = await world.cli(['logout']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    const text = await readFile(configFile(world), 'utf8');
    expect(JSON.parse(text)).toEqual({
      current: 'default',
      profiles: { default: { base_url: world.service.url } },
    });
    expect((await stat(configFile(world))).mode & 0o777).toBe(0o600);
  });

  test("succeeds in logout without a key, and doesn't write the config file", async () => {
    const world = await signedIn();
    await world.cli(['logout']);
    const before = await stat(configFile(world));
    expect(await world.cli(['logout'])).toMatchObject({
      code: 0,
      stderr: 'The profile "default" already has no key.\n',
    });
    await world.cli(['logout', '--json']);
    expect((await stat(configFile(world))).ino).toBe(before.ino);
  });

  test('removes the key of the named profile and keeps the others', async () => {
    const world = await signedIn('--profile', 'work');
    await world.cli(
      ['login', '--profile', 'home', '--base-url', world.service.url, '--key-stdin'],
      {
        stdin: ANNA_KEY,
      },
    );
    expect((await world.cli(['logout', '--profile', 'work'])).code).toBe(0);
    await world.cli(['logout'], { env: { GPUCLOUD_PROFILE: 'work' } });
    const { profiles } = JSON.parse(await readFile(configFile(world), 'utf8'));
    expect(profiles.work.api_key).toBeUndefined();
    expect(profiles.home.api_key).toBe(ANNA_KEY);
  });

  test('lists instances that may be billing, since terminating them needs the key', async () => {
    const world = await signedIn();
    const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
    await journal.add('a', 'track', { id: 'a', name: 'trainer', status: 'ACTIVE' });
    await journal.add('b', 'track', { id: 'b', name: 'old', status: 'TERMINATED' });
    await journal.add('c', 'track', { id: 'c', name: 'ending', status: 'TERMINATING' });
    const lost = { operation: 'create', name: 'lost', offer_id: null, timeout_ms: 1000 } as const;
    await journal.open(lost, new Set());

    await world.cli(['logout']);
  });

  test.each(['STOPPED', 'PROVISIONING', 'ERROR'])(
    'lists an instance with status %s as possibly billing',
    async (status) => {
      const world = await signedIn();
      const journal = journalOf(world, { service: world.service.url, account: 'user-anna' });
      await journal.add('a', 'track', { id: 'a', name: 'trainer', status });
      await world.cli(['logout']);
    },
  );

  test("removes the key even if the journal can't be read", async () => {
    const world = await signedIn();
    await rm(join(world.home, 'state', 'journal'), { recursive: true });
    await writeFile(join(world.home, 'state', 'journal'), 'no folder');
    const { stderr } = await world.cli(['logout']);
    expect(stderr).toContain(FORGOTTEN);
  });

  test('warns that a key in the environment is still active', async () => {
    const world = await signedIn();
    const { stderr } = await world.cli(['logout'], { env: { GPUCLOUD_API_KEY: ANNA_KEY } });
    expect(stderr).toContain('warning: GPUCLOUD_API_KEY is still set');
    expect(stderr).not.toContain(ANNA_KEY);
  });

  test('exits with 3 if no profile is active', async () => {
    const { code } = await (await newWorld()).cli(['logout']);
    expect(code).toBe(3);
  });

  test('exits with 3 for an unknown profile, and suggests the nearest name', async () => {
    const world = await signedIn('--profile', 'work');
    const { code } = await world.cli(['logout', '--profile', 'wrok']);
    expect(code).toBe(3);
  });

  test('exits with 2 for the sandbox, which needs no key', async () => {
    const { code } = await (await newWorld()).cli(['logout', '--profile', 'sandbox']);
    expect(code).toBe(2);
  });
});
