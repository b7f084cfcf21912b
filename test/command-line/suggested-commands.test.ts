import { beforeEach, expect, test } from 'vitest';
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

test('adds --profile to suggested commands only if the flag was given', async () => {
  const flagged = await world.cli(['--profile', 'sandbox', 'instances', 'get', ID]);
  expect(flagged.stderr).toContain('gpucloud --profile sandbox instances list --all');
  const json = await world.cli(['instances', 'get', ID, '--profile', 'sandbox', '--json']);
  expect(errorOf(json.stderr).hint).toContain('gpucloud --profile sandbox instances');
  const plain = await world.cli(['instances', 'get', ID]);
  expect(plain.stderr).toContain('gpucloud instances list --all');
  const created = ['--profile', 'sandbox', 'instances', 'create', 'trainer', ...HARDWARE];
  await world.cli(created);
  const flags = ['--profile', 'sandbox'];
  const short = await world.cli([...flags, 'billing', 'runway', '--fail-below', '1000000']);
  expect(short.stderr).toMatch(/^hint: .*: gpucloud --profile sandbox status$/m);
  const audited = await world.cli([...flags, 'audit']);
  expect(audited.stderr).toMatch(/: gpucloud --profile sandbox audit --exact$/m);
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
