import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { no } from '../support/service.ts';
import { errorOf } from '../support/stderr-lines.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => no(404, 'no') });
});
afterEach(() => world.close());

test('adds --profile to suggested commands only if it was given', async () => {
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
