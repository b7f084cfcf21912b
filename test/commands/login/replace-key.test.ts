import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { signIn } from '../../../src/commands/profiles/login.ts';
import { atTerminal } from '../../support/at-terminal.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { ANNA_KEY, accounts, BORIS_KEY } from './accounts.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: accounts, signedIn: false });
});

async function stored(): Promise<unknown> {
  return JSON.parse(await readFile(join(world.home, 'config', 'config.json'), 'utf8'));
}

function login(key: string, ...more: string[]) {
  return world.cli(['login', '--base-url', world.service.url, '--key-stdin', ...more], {
    stdin: `${key}\n`,
  });
}

test("asks before replacing a profile's key", async () => {
  await login(ANNA_KEY);
  const question = `Replace the key in the profile "default" (${world.service.url}, anna@example.com)?`;
  const refused = await login(BORIS_KEY);
  expect(refused).toMatchObject({ code: 2, stdout: '', requests: [] });
  expect(refused.stderr).toContain(`add --yes to confirm (${question}`);
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: ANNA_KEY } } });
  expect((await login(BORIS_KEY, '--yes')).code).toBe(0);
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: BORIS_KEY } } });
  const keyFile = join(world.home, 'anna.key');
  await writeFile(keyFile, ANNA_KEY, { mode: 0o600 });
  const argv = ['login', '--profile', 'default', '--key-file', keyFile];
  const no = await world.cli(argv, { terminal: true, stdin: 'n\n' });
  expect(no).toMatchObject({ code: 130, requests: [] });
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: BORIS_KEY } } });
  const yes = await world.cli(argv, { terminal: true, stdin: 'y\n' });
  expect(yes.code, yes.stderr).toBe(0);
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: ANNA_KEY } } });
});

test('signs in again with the stored key without asking', async () => {
  await login(ANNA_KEY);
  const again = await login(ANNA_KEY);
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).not.toContain('Replace');
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: ANNA_KEY } } });
});

test('asks if the stored key belongs to another base URL', async () => {
  await login(ANNA_KEY);
  const elsewhere = `${world.service.url}/v2`;
  const argv = ['login', '--profile', 'default', '--base-url', elsewhere, '--key-stdin'];
  const { code, stderr, requests } = await world.cli(argv, { stdin: ANNA_KEY });
  expect({ code, requests }).toEqual({ code: 2, requests: [] });
  expect(stderr).toContain('add --yes to confirm (Replace the key');
});

const typed = { keyStdin: false, keyFile: undefined, keyCommand: undefined, store: undefined };

test('asks for the address of a key from a file', async () => {
  const keyFile = join(world.home, 'anna.key');
  await writeFile(keyFile, ANNA_KEY, { mode: 0o600 });
  const person = atTerminal(world, [world.service.url]);
  await signIn({ ...typed, keyFile }, person.context);
  expect(person.said).toEqual([expect.stringContaining('(--base-url)')]);
  expect(await stored()).toMatchObject({ profiles: { default: { api_key: ANNA_KEY } } });
});
