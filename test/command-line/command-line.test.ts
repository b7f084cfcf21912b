import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';

const CREATE = ['instances', 'create', 'box', ...HARDWARE];

let world: World;
beforeEach(async () => {
  world = await createWorld({ handler: () => ({ status: 200, body: { data: [] } }) });
});

describe('a command line', () => {
  test.each([
    [['instances', 'list', '--json=true'], '--json takes no value'],
    [['--json=true', 'instances', 'list'], '--json takes no value'],
    [['instances', 'terminate', 'trainer', '--yes=no'], '--yes takes no value'],
    [['instances', 'terminate', 'trainer', '-y=no'], '-y takes no value'],
    [[...CREATE, '--image', 'other'], '--image: given twice, but takes one value'],
    [
      [...CREATE, '--max-price', '9', '--max-price=90'],
      '--max-price: given twice, but takes one value',
    ],
    [[...CREATE, '--wait', '--wait=ssh'], '--wait: given twice, but takes one value'],
    [
      ['instances', 'list', '-o', 'csv', '--output=tsv'],
      '--output: given twice, but takes one value',
    ],
    [
      ['drives', 'create', 'caf\ufffd', '--size', '10', '--yes'],
      'word 3 "caf\ufffd": must be UTF-8',
    ],
    [[...CREATE, '--docker-command', 'a\ufffd'], '--docker-command "a\ufffd": must be UTF-8'],
    [[...CREATE, '--docker-command=a\ufffd'], '--docker-command "a\ufffd": must be UTF-8'],
  ])('rejects the command line before sending a request: %j', async (argv, message) => {
    const { code, stdout, stderr, requests } = await world.cli(argv);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toContain(`error: ${message}`);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('accepts a global flag before and after the command, and uses the last', async () => {
    const argv = ['-o', 'csv', 'instances', 'list', '-o', 'json'];
    expect(await world.cli(argv)).toMatchObject({ code: 0, stdout: '[]\n' });
  });
});

// The tree has only the part that the words name, so it must find them as commander does.
test.each([
  '-qy instances list',
  '-ojson instances list',
  '--timeout=9s --output json instances list',
  '-- instances list',
  '-q -- instances list',
  'instance -q ls',
  'instances -ojson list',
])('finds the command in %s', async (line) => {
  const { code, stderr } = await world.cli(line.split(' '));
  expect({ code, error: stderr.includes('error') }).toEqual({ code: 0, error: false });
});

const ROOT = 'Usage: gpucloud <command>';
const GROUP = 'Usage: gpucloud instances|instance <command>';
const VERB = 'Usage: gpucloud instances list|ls [options]';

test.each([
  ['--help instances', GROUP],
  ['--help instances list', VERB],
  ['instances -h list', VERB],
  ['instances --json --help list', GROUP],
  ['--help -q instances', ROOT],
])('prints the help that %s asks for', async (line, usage) => {
  const { code, stdout } = await world.cli(line.split(' '));
  expect(code).toBe(0);
  expect(stdout).toContain(usage);
  // A group lists all its verbs, not only those that the words name.
  expect(stdout.includes('untrack')).toBe(usage === GROUP);
});

test.each([
  [['version'], 'unknown command \'version\'\nhint: use "gpucloud --version"'],
  [['auth', 'login'], 'unknown command \'auth\'\nhint: use "gpucloud login"'],
  [
    ['keys'],
    'unknown command \'keys\'\nhint: use "gpucloud ssh-keys list" or "gpucloud api-keys list"',
  ],
  [['ssh', 'trainer'], 'unknown command \'ssh\'\nhint: use "gpucloud instances ssh NAME"'],
  [['list'], 'unknown command \'list\'\nhint: use "gpucloud instances list"'],
  [
    [...CREATE, '--docker-image', 'nginx', '-p', '8080'],
    '--port "8080": to publish 8080 under its own number, write 8080:8080',
  ],
])('suggests the gpucloud command for %j', async (argv, message) => {
  const { code, stderr, requests } = await world.cli(argv);
  expect({ code, stderr, requests }).toEqual({
    code: 2,
    stderr: `error: ${message}\n`,
    requests: [],
  });
});

describe('a comment that the shell passed on', () => {
  test.each([
    '# rent',
    '-q # rent',
    '--help # rent',
    '--profile # rent',
    'instances # rent',
    'instances help # rent',
    'instances list # rent',
    'instances list --columns # rent',
    'instances list --help # rent',
    'instances stop a # rent --yes',
    'instances ssh a # rent',
    'instances ssh a -- # rent',
    'run -f job.yaml # rent',
    'run -f job.yaml -- # rent',
    'run # rent -- make',
  ])('is refused before sending a request: %s', async (line) => {
    expect(await world.cli(line.split(' '))).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'error: "#": the shell passed a comment on as arguments\nhint: nothing was done; leave the comment out, or make zsh ignore comments: setopt interactive_comments\n',
      requests: [],
    });
  });

  test.each([
    ['instances list --columns=#', "error: --columns: unknown column '#'"],
    ['instances list -- #', 'error: too many arguments: "#"'],
    ['instances list #1', 'error: too many arguments: "#1"'],
    ['run -- make # all', 'error: run: missing --offer, --image, --terminate-after'],
    ['run make #', 'error: run: missing --offer, --image, --terminate-after'],
    ['instances ssh a -- make # all', 'error: INSTANCE "a":'],
  ])('is not suspected in %s', async (line, message) => {
    const { stderr, requests } = await world.cli(line.split(' '));
    expect({ stderr, requests }).toEqual({
      stderr: expect.stringContaining(message),
      requests: [],
    });
  });
});

test("suggests the folder's environment variable in a disk error", async () => {
  const file = join(world.home, 'file');
  await writeFile(file, '');
  const state = await world.cli(CREATE, { env: { GPUCLOUD_STATE_DIR: file } });
  expect(state.code).toBe(9);
  const add = ['profiles', 'add', 'work', '--base-url', 'https://api.example.com'];
  const config = await world.cli(add, { env: { GPUCLOUD_CONFIG_DIR: file } });
  expect(config.code).toBe(9);
  expect(config.stderr).toContain('GPUCLOUD_CONFIG_DIR');
  const sandbox = { GPUCLOUD_STATE_DIR: file, GPUCLOUD_PROFILE: 'sandbox' };
  const list = await world.cli(['drives', 'list'], {
    env: { ...sandbox, GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined },
  });
  expect(list.code).toBe(9);
});

test('prints a shared hint once, after the last error', async () => {
  const names = ['alpha', 'bravo', 'charlie'];
  const { code, stderr } = await world.cli(['instances', 'terminate', ...names, '--yes']);
  expect(code).toBe(3);
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((line) => line.split(':')[0])).toEqual(['error', 'error', 'error', 'hint']);
  expect(lines[3]).toContain('gpucloud instances track ID');
});
