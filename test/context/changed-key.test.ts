import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import { type Answer, ok } from '../support/service.ts';

// The key of a profile changes without a login if someone edits the file or changes the key command.

let world: World;
let me: Answer;
beforeEach(async () => {
  me = ok({ id: 'user-1', email: 'a@example.com' });
  world = await createWorld({
    signedIn: false,
    handler: ({ path }) => (path === '/users/me' ? me : ok([])),
  });
  const folder = join(world.home, 'config');
  await mkdir(folder, { mode: 0o700 });
  const work = {
    base_url: world.service.url,
    api_key: TEST_KEY,
    account: { id: 'user-1', email: 'a@example.com', name: null },
  };
  const config = { version: 1, current: 'work', profiles: { work } };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
});

async function list() {
  const { code, stdout, stderr, requests } = await world.cli(['drives', 'list', '--json']);
  return { code, stdout, stderr, paths: requests.map(({ path }) => path) };
}

test("asks once for the account of a profile's changed key", async () => {
  const [stdout, stderr] = ['[]\n', ''];
  expect(await list()).toEqual({
    ...{ code: 0, stdout, stderr },
    paths: ['/users/me', '/storage/drives'],
  });
  expect(await list()).toEqual({ code: 0, stdout, stderr, paths: ['/storage/drives'] });
});

test('refuses a changed key of another account, at every command', async () => {
  me = ok({ id: 'user-2', email: 'b@example.com' });
  for (const _ of [1, 2]) {
    const { stderr, ...rest } = await list();
    expect(rest).toEqual({ code: 4, stdout: '', paths: ['/users/me'] });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'other_account',
      message:
        'The key of profile "work" belongs to the account b@example.com (user-2), but the profile signed in as a@example.com (user-1).',
      hint: 'restore the earlier key, or sign in to the other account: gpucloud login --profile work',
    });
  }
});

test('asks for the account while the journal is unreadable', async () => {
  await writeFile(join(world.home, 'state'), '');
  expect((await list()).paths).toEqual(['/users/me', '/storage/drives']);
});

test('warns once of a field that many responses show in another form', async () => {
  const id = (last: number) => `3f0c5c1e-8a51-4e0b-9c39-1f6f6a2b7d1${last}`;
  const drives = [1, 2].map((at) => ({ id: `d${at}`, current_instance_id: id(at) }));
  const read = (path: string) => ({ id: path.split('/').at(-1), status: 'ACTIVE', name: 7 });
  const handler = ({ path }: { path: string }) =>
    ok(path === '/storage/drives' ? drives : read(path));
  const odd = await createWorld({ handler });
  const { stderr } = await odd.cli(['instances', 'list']);
  expect(stderr.match(/^warning: .*data.name is not of type string/gm)).toHaveLength(1);
});

test('warns at every command while the service does not say whose the changed key is', async () => {
  me = { status: 404, body: { message: 'gone' } };
  for (const _ of [1, 2]) {
    const { stderr, ...rest } = await list();
    expect(rest).toEqual({ code: 0, stdout: '[]\n', paths: ['/users/me', '/storage/drives'] });
    expect(JSON.parse(stderr).warning).toEqual({
      code: 'incomplete',
      message: 'Could not check whose API key this is: Not found (404): gone.',
    });
  }
});
