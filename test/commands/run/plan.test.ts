import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { no } from '../../support/service.ts';

const ID = '3f0c5d9e-2222-4222-8333-444455556666';

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => no(500, 'unexpected') });
  const folder = join(world.home, 'in');
  await mkdir(folder);
  await writeFile(join(folder, 'a.bin'), Buffer.alloc(3000));
  await writeFile(join(folder, 'b.bin'), Buffer.alloc(2000));
  await writeFile(join(folder, '.gitignore'), 'b.bin\n');
  await writeFile(join(world.home, 'job.env'), 'TOKEN=hunter2000\n');
});
afterEach(() => world.close());

test.each([
  ['a small run', []],
  [
    'a run with all that it can have',
    [
      ...['--sync', 'in', '--setup', 'pip install x', '--env-file', 'job.env', '--grace', '7m'],
      ...['--fetch', 'out:results', '--fetch', 'log:log.txt', '--max-price', '95'],
      ...['--rescue', 'out/last:last', '--rescue', 'log', '--if-idle', '45m', '--unenforced'],
    ],
  ],
  ['all of several instances', ['--here', '--count', '2']],
  ['a run until a time', ['--terminate-at', '2026-01-15T18:00Z']],
  ['a run that is interrupted at its deadline', ['--grace', '0s']],
  ['several instances', ['--here', '--count', '3', '--min-count', '2', '--fetch', 'out:results']],
])('shows the plan of %s', needs('ssh'), async (_what, flags) => {
  const inHome = (word: string) =>
    /^(in|job\.env)$/.test(word)
      ? join(world.home, word)
      : word.replace(/:(results|log\.txt|last)$/, `:${world.home}/$1`);
  const argv = [
    ...['run', '--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--ssh-key', ID, '--name', 'job'],
    ...(flags.includes('--terminate-at') ? [] : ['--terminate-after', '3h']),
    ...['--identity', '/dev/null', ...flags.map(inHome), '--dry-run'],
  ];
  const env = {
    PATH: process.env.PATH,
    GPUCLOUD_PROFILE: 'sandbox',
    GPUCLOUD_API_KEY: undefined,
    GPUCLOUD_BASE_URL: undefined,
  };
  for (const more of [[], ['--json']]) {
    const { code, stderr } = await world.cli([...argv, ...more, '--', 'echo', 'a b'], { env });
    expect(code, stderr).toBe(0);
  }
});

test('refuses --here with the first flag that needs an instance', async () => {
  const argv = ['run', '--here', '--offer', ID, '--image', ID, '--no-ssh-key'];
  for (const more of [
    ['--setup', 'a', '--pass-env', 'B', '--fetch-every', '5m', '--fetch', 'c'],
    ['--setup', 'a', '--pass-env', 'B'],
    ['--setup', 'a', '--detach'],
    ['--detach', '--ssh-arg=-4'],
  ]) {
    expect((await world.cli([...argv, ...more, '--', 'ls'])).code).toBe(2);
  }
});

test.each(['instances create', 'run'])('%s names the line of a wrong path', async (words) => {
  const file = join(world.home, 'box.yaml');
  await writeFile(
    file,
    'name: box\ncommand: ls\nterminate_after: 3h\nrescue:\n  - out\n  - none\n',
  );
  await world.cli([...words.split(' '), '-f', file, '--offer', ID, '--image', ID, '--no-ssh-key']);
});

const HERE = 'name: box\ncommand: ls\nhere: true\nterminate_after: 3h\n';

test.each([
  ['--here --fetch a --fetch-every 10m -- ls'],
  ['--here --pass-env HOME -- ls'],
  ['--here --pass-env HOME --fetch a --fetch-every 10m --setup x -- ls'],
  ['--here --setup make -- ls'],
  ['--here --on box -- ls'],
  ['--here --detach -- ls'],
  ['--here --ssh-arg=-4 -- ls'],
  ['-f FILE --setup make'],
  ['-f FILE --detach'],
  ['-f FILE --on box'],
  ['--count 2 --fetch out -- ls'],
  ['--count 3 --min-count 2 -- ls'],
  ['--min-count 2 -- ls'],
  ['--timeout 5s --min-count 3 -- ls'],
  ['-f FILE --init --poll-interval 5s --wait-timeout 15m -- make'],
  ['-f - --dry-run'],
])('run %s', needs('ssh'), async (words) => {
  const file = join(world.home, 'box.yaml');
  await writeFile(file, HERE);
  const argv = ['run', ...words.replace('FILE', file).split(' ')];
  await world.cli(argv, { stdin: 'offer_id: a\nfetch: [out]\n' });
});
