import { beforeEach, expect, test } from 'vitest';
import {
  CREATE,
  type DeadlineWorld,
  deadlineWorld,
  ID,
} from '../commands/instances/deadlines/world.ts';
import { putJob } from '../contract/tree.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld();
  await world.cli(CREATE);
  const ssh = { ip_address: '192.0.2.1', ssh_username: 'root', ssh_port: 22 };
  world.rented.rent(ID, 'trainer', { status: 'ACTIVE', ...ssh });
  const signIn = { user: 'ubuntu', identity: '/keys/gpu', ssh_words: ['-A'] };
  await putJob(world.env, { id: ID, name: 'trainer' }, signIn);
});

const printed = async (...words: string[]) => (await world.cli(['instances', ...words])).stdout;

test.each([
  ['ssh', ['ssh', 'trainer', '--print']],
  ['scp', ['scp', '--print', 'trainer:a', 'b']],
  ['tunnel', ['tunnel', 'trainer', '6006', '--print']],
])('%s signs in with the user and the key of the last job', async (_verb, words) => {
  const line = await printed(...words);
  expect(line).toContain('-i /keys/gpu -o IdentitiesOnly=yes');
  expect(line).toContain('ubuntu@192.0.2.1');
  // scp and the user's own sessions don't get the arguments of a job.
  expect(line.split(' ')).not.toContain('-A');
  expect(await printed(...words, '--user', 'ann')).toContain('ann@192.0.2.1');
});

test.each([
  ['ssh-config', ['ssh-config'], ['User ubuntu', 'IdentityFile /keys/gpu']],
  ['inventory', ['inventory'], ['ansible_user: ubuntu', '-i /keys/gpu']],
])('%s contains the user and the key of the last job', async (_verb, words, parts) => {
  const text = await printed(...words);
  for (const part of parts) expect(text).toContain(part);
});
