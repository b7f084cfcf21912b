import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { namesText } from '../../src/jobs/phases.ts';
import { RESULTS } from '../../src/json-results/index.ts';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { no } from '../support/service.ts';

let world: World;
let folder: string;

beforeEach(async () => {
  world = await createWorld({ handler: () => no(500, 'unexpected') });
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-plan-'));
});
afterEach(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

const REQUEST = ['--offer', 'a-1', '--image', 'b-1', '--ssh-key', 'laptop', '--name', 'job'];
const IDS = '3f0c5d9e-1111-4222-8333-444455556666';
const PATH = { PATH: process.env.PATH };

async function refused(words: readonly string[], command = 'true'): Promise<string> {
  const argv = ['run', ...REQUEST, ...words, '--', command];
  const { code, stderr, requests } = await world.cli(argv, { env: PATH });
  expect({ code, requests: requests.length }, stderr).toEqual({ code: 2, requests: 0 });
  return stderr;
}

describe('gpucloud run --here before renting', () => {
  const HERE = ['--here', '--terminate-after', '1h'];

  test.each([
    ['--on=dev', "error: --here can't be combined with --on\n"],
    ['--detach', "error: --here can't be combined with --detach\n"],
    ['--ssh-arg=-A', "error: --here can't be combined with --ssh-arg\n"],
    ['--fetch-every=1m', "error: --fetch-every can't be combined with --here\n"],
    ['--pass-env=HOME', "error: --pass-env can't be combined with --here\n"],
    [
      '--setup=make',
      "error: --setup can't be combined with --here\n" +
        'hint: COMMAND runs on this computer: let it prepare the instances\n',
    ],
  ])('rejects run --here with %s', async (flag, message) => {
    const { code, stderr, requests } = await world.cli(['run', '--here', flag, '--', 'true']);
    expect({ code, stderr, requests }).toEqual({ code: 2, stderr: message, requests: [] });
  });

  test.each([
    [['--count', '2'], '--count needs --here'],
    [['--min-count', '2'], '--min-count needs --here'],
    [['--here', '--min-count', '2'], '--min-count needs --count'],
    [['--here', '--count', '2', '--min-count', '3'], 'must not exceed --count'],
    [['--here', '--count', '2', '--drive', 'data'], 'a drive can be attached to only one instance'],
    [['--here', '--env', 'A=b'], '--env sets variables of a container'],
    [['--here', '--env-file', 'job.env'], '--env-file sets variables of a container'],
  ])('rejects the run flags %j before renting', async (words, message) => {
    expect(await refused([...words, '--terminate-after', '1h'])).toContain(message);
  });

  test('exits with 2 if --terminate-after is missing', needs('ssh'), async () => {
    expect(await refused(['--here'])).toContain('--terminate-after is missing');
  });

  test('exits with 2 if the command is not a program on this computer', async () => {
    expect(await refused(HERE, 'no-such-program')).toContain(
      'COMMAND "no-such-program" is not on PATH: --here runs it on this computer',
    );
    expect(await refused(HERE, './none')).toContain(
      'COMMAND "./none" is not a program on this computer',
    );
    expect(await refused(HERE, folder)).toContain('is not a program on this computer');
    expect(await refused(HERE, '')).toContain('COMMAND is missing');
  });

  test('lists all instance names and folders with --dry-run', needs('ssh'), async () => {
    const hardware = ['--offer', IDS, '--image', IDS, '--ssh-key', IDS, '--name', 'job'];
    const plan = ['--count', '3', '--min-count', '2', '--fetch', `out:${folder}`, '--dry-run'];
    const argv = ['run', ...hardware, ...HERE, '--identity', '/dev/null', ...plan];
    const json = await world.cli([...argv, '--json', '--', 'true'], { env: PATH });
    expect(RESULTS.run?.schema().safeParse(JSON.parse(json.stdout)).success, json.stderr).toBe(
      true,
    );
    expect(JSON.parse(json.stdout)).toMatchObject({
      names: ['job-1', 'job-2', 'job-3'],
      min_count: 2,
      command: ['true'],
      would_send: true,
    });
    const text = await world.cli([...argv, '--', 'true'], { env: PATH });
    expect(text.stdout).toMatch(/^ +names: +job-1, job-2, job-3$/m);
    expect(text.stdout).toMatch(/^ +run here: +true$/m);
    expect(text.stdout).toContain(`out to ${folder}/NAME/`);
  });
});

test('prints the hourly price of all instances with --dry-run', needs('ssh'), async () => {
  const argv = [
    ...['run', '--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--ssh-key', IDS, '--name', 'job'],
    ...['--here', '--count', '3', '--terminate-after', '1h', '--identity', '/dev/null'],
    ...['--dry-run', '--', 'true'],
  ];
  const env = { ...PATH, GPUCLOUD_PROFILE: 'sandbox', GPUCLOUD_API_KEY: undefined };
  const { code, stderr } = await world.cli(argv, { env: { ...env, GPUCLOUD_BASE_URL: undefined } });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('RTX 4090: 3 × 89.90 ₽ per hour');
});

test.each([
  [['job'], 'job'],
  [['job-1', 'job-2'], 'job-1 and job-2'],
  [['job-1', 'job-2', 'job-3'], 'job-1 to job-3'],
  [['job-9', 'job-10', 'job-11'], 'job-9 to job-11'],
  [['job-1', 'job-3', 'job-4'], 'job-1, job-3 and job-4'],
  [['a-1', 'a-2', 'a-3', 'a-4', 'a-6'], '5 instances'],
])('abbreviates the instance names %j', (names, text) => {
  expect(namesText(names)).toBe(text);
});
