import { expect, test } from 'vitest';
import { createSandboxWorld } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { sshPublicKey } from '../support/ssh-key.ts';

const MINUTE = 60_000;

test('prints each list and detail in a terminal, and its colours', async () => {
  const world = await createSandboxWorld();
  for (const words of [
    'ssh-keys add - --name laptop',
    'drives create data --size 500',
    'instances create box --if-idle 45m --terminate-after 4h --unenforced',
    'instances create over',
  ]) {
    const argv = [...words.split(' '), ...(words.startsWith('instances') ? HARDWARE : [])];
    const { code, stderr } = await world.cli(argv, { stdin: sshPublicKey('ssh-ed25519') });
    expect(code, stderr).toBe(0);
    // Instances of the same time would be in the order of their random IDs.
    await world.sandbox.advance(MINUTE);
  }
  await world.sandbox.advance(60 * MINUTE);
  await world.cli(['instances', 'terminate', 'over', '--yes']);
  await world.sandbox.advance(40 * MINUTE);
  const screen = { terminal: true, columns: 160 };
  for (const words of [
    'instances list --all',
    'instances get box',
    'instances get over',
    'instances events box',
    'instances endpoints box',
    'instances reap --status',
    'drives list',
    'drives get data',
    'billing balance',
    'billing transactions',
    'billing runway',
    'billing spend',
    'catalog list',
    'templates list',
    'templates get jupyterlab',
    'me get',
    'ssh-keys list',
    'ssh-keys get laptop',
    'api-keys list',
    'profiles list',
    'profiles get sandbox',
    'status',
    'audit',
  ]) {
    await world.cli(words.split(' '), screen);
    await world.cli([...words.split(' '), '--color', 'always']);
  }
  await world.cli(['sandbox', 'catalog'], screen);
  for (const verb of ['status', 'advance 1h']) {
    await world.cli(['sandbox', ...verb.split(' '), '--state', world.sandboxFile], screen);
  }
});
