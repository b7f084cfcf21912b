import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Answer, no } from '../support/service.ts';
import { errorOf } from '../support/stderr-lines.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let world: World;
let response: Answer | 'hangUp';
beforeEach(async () => {
  response = no(404, 'no');
  world = await createWorld({ handler: () => response });
});
afterEach(() => world.close());

test('adds --profile to suggested commands only if the flag was given', async () => {
  const flagged = await world.cli(['--profile', 'sandbox', 'instances', 'get', ID]);
  expect(flagged.stderr).toContain('gpucloud --profile sandbox instances list --all');
  const json = await world.cli(['instances', 'get', ID, '--profile', 'sandbox', '--json']);
  expect(errorOf(json.stderr).hint).toContain('gpucloud --profile sandbox instances');
  const plain = await world.cli(['instances', 'get', ID]);
  expect(plain.stderr).toContain('gpucloud instances list --all');
  const created = ['--profile', 'sandbox', 'instances', 'create', 'trainer', ...HARDWARE];
  expect((await world.cli(created)).stderr).toContain(
    'Stop paying: gpucloud --profile sandbox instances terminate trainer\n',
  );
  const flags = ['--profile', 'sandbox'];
  const short = await world.cli([...flags, 'billing', 'runway', '--fail-below', '1000000']);
  expect(short.stderr).toMatch(/^hint: .*: gpucloud --profile sandbox status$/m);
  const audited = await world.cli([...flags, 'audit']);
  expect(audited.stderr).toMatch(/: gpucloud --profile sandbox audit --exact$/m);
});

test('adds the profile to commands in the JSON of status and audit', async () => {
  const json = async (...argv: string[]) =>
    JSON.parse((await world.cli(['--profile', 'sandbox', ...argv, '--json'])).stdout);
  expect((await json('status')).next).toEqual([
    { command: 'gpucloud --profile sandbox instances create', purpose: 'rent' },
    { command: 'gpucloud --profile sandbox catalog list', purpose: 'catalog' },
  ]);
  await world.cli(['--profile', 'sandbox', 'sandbox', 'advance', '1h']);
  await world.cli(['--profile', 'sandbox', 'drives', 'create', 'data', '--size', '10']);
  await world.cli(['--profile', 'sandbox', 'sandbox', 'rogue']);
  await world.cli(['--profile', 'sandbox', 'sandbox', 'advance', '20h']);
  const { attention } = await json('status');
  expect(attention).toMatchObject([
    { code: 'unexplained_charges', command: 'gpucloud --profile sandbox audit' },
  ]);
  const row = (await json('audit')).find(({ result }: { result: string }) => result === 'finding');
  expect(row.command).toBe(
    'gpucloud --profile sandbox billing transactions --type usage-charge --since 24h',
  );
});

test('adds the profile to commands in the JSON of doctor, and in details', async () => {
  const cli = (...argv: string[]) => world.cli(['--profile', 'sandbox', ...argv]);
  const { checks } = JSON.parse((await cli('doctor', '--json')).stdout);
  expect(checks.find(({ id }: { id: string }) => id === 'ssh_key')).toMatchObject({
    hint: 'add one: gpucloud --profile sandbox ssh-keys add',
  });
  await cli('sandbox', 'reset', '--yes', '--balance', '10');
  await cli('drives', 'create', 'data', '--size', '500GB');
  await cli('sandbox', 'advance', '3h');
  expect((await cli('drives', 'get', 'data')).stdout).toMatch(
    /Top up the balance, then:\s+gpucloud --profile sandbox drives resume /,
  );
});

test('adds the profile to the note of an UNKNOWN request', async () => {
  await world.cli(['profiles', 'add', 'work', '--base-url', world.service.url]);
  const cli = (...argv: string[]) => world.cli(['--profile', 'work', ...argv]);
  response = 'hangUp';
  expect((await cli('instances', 'create', 'trainer', ...HARDWARE)).code).toBe(7);
  expect((await cli('instances', 'list')).stdout).toContain(
    'may be billing: gpucloud --profile work instances recover',
  );
});

test('adds the profile to the suggestion for an unknown command', async () => {
  const suggested = async (...argv: string[]) => (await world.cli(argv)).stderr;
  for (const argv of [
    ['--profile', 'work', 'ls'],
    ['ls', '--profile=work'],
  ]) {
    expect(await suggested(...argv)).toContain(
      'hint: use "gpucloud --profile work instances list"\n',
    );
  }
  expect(await suggested('version', '--profile', 'work')).toContain(
    'hint: use "gpucloud --version"\n',
  );
  expect(await suggested('keys')).toContain(
    'hint: use "gpucloud ssh-keys list" or "gpucloud api-keys list"\n',
  );
  expect(await suggested('ls', '--json', '--profile', 'svc_sk_live_1')).toContain(
    'gpucloud --profile svc_sk_… instances list',
  );
});
