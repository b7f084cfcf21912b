import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { startHere } from '../../src/jobs/here/local-command.ts';
import { usesInstances } from '../../src/jobs/here/note-local.ts';
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
    ['--on=dev --detach', "error: --here can't be combined with --on\n"],
    ['--detach', "error: --here can't be combined with --detach\n"],
    ['--ssh-arg=-A', "error: --here can't be combined with --ssh-arg\n"],
    ['--fetch-every=1m --pass-env=HOME', "error: --fetch-every can't be combined with --here\n"],
    ['--pass-env=HOME', "error: --pass-env can't be combined with --here\n"],
    [
      '--setup=make',
      "error: --setup can't be combined with --here\n" +
        'hint: COMMAND runs on this computer: let it prepare the instances\n',
    ],
  ])('rejects run --here with %s', async (flag, message) => {
    const { code, stderr, requests } = await world.cli([
      'run',
      '--here',
      ...flag.split(' '),
      '--',
      'true',
    ]);
    expect({ code, stderr, requests }).toEqual({ code: 2, stderr: message, requests: [] });
  });

  test.each([
    [
      ['--count', '2'],
      'error: --count needs --here\nhint: to run COMMAND on each instance: gpucloud instances create NAME --count 2 --terminate-after 8h --wait=ssh; then for each: gpucloud run --on NAME-1 --detach --sync . -- COMMAND; to run it on this computer, using several instances: gpucloud run --count 4 --here -- parallel …\n',
    ],
    [
      ['--count', '2', '--fetch', 'results', '--fetch', 'a.log:logs'],
      'gpucloud run --on NAME-1 --detach --sync . --fetch results:results/NAME-1/ --fetch a.log:logs/NAME-1/ -- COMMAND;',
    ],
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

  test('says that the command runs on this computer, and warns if it uses no instance', async () => {
    const warns = async (count: readonly string[], ...command: string[]) => {
      const argv = ['run', ...REQUEST, ...HERE, ...count, '--dry-run', '--', ...command];
      const { stderr, requests } = await world.cli(argv, { env: PATH });
      expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
      return stderr.includes('warning: COMMAND mentions none of');
    };
    const script = join(folder, 'train.sh');
    await writeFile(script, 'nvidia-smi\n');
    for (const count of [['--count', '2'], []])
      expect(await warns(count, 'sh', 'train.sh')).toBe(true);
    const uses = 'ssh -F "$GPUCLOUD_SSH_CONFIG" gpucloud-job';
    expect(await warns([], 'sh', '-c', uses)).toBe(false);
  });

  test('finds the variables in the words and in the scripts that they name', async () => {
    const uses = join(folder, 'uses.py');
    const large = join(folder, 'large.py');
    const [other, exact] = [join(folder, 'other.py'), join(folder, 'exact.py')];
    await writeFile(exact, 'GPUCLOUD_HOSTFILE'.padEnd(1024 * 1024));
    expect(usesInstances(['python', exact])).toBe(true);
    await writeFile(uses, 'os.environ["GPUCLOUD_HOSTFILE"]\n');
    await writeFile(large, `GPUCLOUD_HOSTFILE${' '.repeat(1024 * 1024)}`);
    await writeFile(other, 'os.environ["GPUCLOUD_API_KEY"]\n');
    expect(usesInstances(['python', uses])).toBe(true);
    expect(usesInstances(['sh', '-c', `cd . && python ${uses}`])).toBe(true);
    expect(usesInstances(['ansible', '-i', '$GPUCLOUD_ANSIBLE_INVENTORY'])).toBe(true);
    for (const path of [other, large, folder, join(folder, 'none'), '\0']) {
      expect(usesInstances(['python', path]), path).toBe(false);
    }
  });

  test('prints a plan of several instances that matches the schema', needs('ssh'), async () => {
    const hardware = ['--offer', IDS, '--image', IDS, '--ssh-key', IDS, '--name', 'job'];
    const variables = ['--docker-image', 'ubuntu', '--env', 'A=b'];
    const plan = [
      ...variables,
      '--count',
      '3',
      '--min-count',
      '2',
      '--fetch',
      `out:${folder}`,
      '--dry-run',
    ];
    const argv = ['run', ...hardware, ...HERE, '--identity', '/dev/null', ...plan];
    const json = await world.cli([...argv, '--json', '--', 'true'], { env: PATH });
    expect(RESULTS.run?.schema().safeParse(JSON.parse(json.stdout)).success, json.stderr).toBe(
      true,
    );
  });
});

const KINDS = ['first', 'near', 'half', 'asked', 'last'] as const;
type Kind = (typeof KINDS)[number];

/** Starts a command here, and returns the signals and messages after these stops. */
async function startedHere(
  before: readonly Kind[],
  after: readonly Kind[],
  exit: Promise<never> = new Promise(() => undefined),
) {
  const said: string[] = [];
  const stops = new Map(KINDS.map((kind) => [kind, new AbortController()]));
  const stop = (kinds: readonly Kind[]) => {
    for (const kind of kinds)
      stops.get(kind)?.abort(new CliError('hungUp', 'The terminal closed.'));
  };
  const { first, ...signals } = Object.fromEntries(
    [...stops].map(([kind, { signal }]) => [kind, signal]),
  );
  const context = {
    async start() {
      stop(before);
      return { ended: exit, kill: (name: string) => said.push(name) };
    },
    ...{ interrupts: { first }, clock: { sleep: () => new Promise(() => undefined) } },
    ...{ host: { stdin: {}, stderr: {} } },
    err: {
      note: (text: string) => said.push(text.slice(0, 8)),
      warn: (code: string) => said.push(code),
    },
  } as unknown as Context;
  const all = { ...signals, any: new AbortController().signal } as Parameters<typeof startHere>[3];
  const { ended } = await startHere({ words: ['train'] }, {}, 'job', all, context);
  stop(after);
  return { said, ended };
}

test.each<[readonly Kind[], readonly Kind[], readonly string[]]>([
  [[], ['first', 'near'], ['SIGINT', 'Interrup', 'deadline_near', 'SIGINT']],
  [[], ['half', 'asked'], ['SIGTERM', 'Stopping', 'SIGINT']],
  [['near', 'half'], ['last'], ['deadline_near', 'SIGINT', 'SIGTERM', 'SIGHUP']],
  [['last', 'near', 'first'], ['half', 'asked'], ['SIGHUP']],
  [[], ['last', ...KINDS], ['SIGHUP']],
])('a command here gets signals at %j, then at %j: %j', async (before, after, said) => {
  expect((await startedHere(before, after)).said).toEqual(said);
});

test.each([
  ['ENOENT', 'the file or its interpreter was not found (ENOENT)'],
  ['EACCES', 'EACCES'],
])('says why a command here can not start: %s', async (code, why) => {
  const exit = Promise.reject(Object.assign(new Error(code), { code }));
  await expect((await startedHere([], [], exit)).ended).rejects.toMatchObject({
    message: `Could not start train: ${why}.`,
  });
});

test.each([
  [['job'], 'job'],
  [['job-1', 'job-2'], 'job-1 and job-2'],
  [['job-1', 'job-2', 'job-3'], 'job-1 to job-3'],
  [['job-9', 'job-10', 'job-11'], 'job-9 to job-11'],
  [['job-1', 'job-3', 'job-4'], 'job-1, job-3 and job-4'],
  [['gpt2-1', 'gpt2-2', 'gpt2-3'], 'gpt2-1 to gpt2-3'],
  [['a-1', 'a-2', 'a-3', 'a-5'], 'a-1, a-2, a-3 and a-5'],
  [['a-1', 'a-2', 'a-3', 'a-4', 'a-6'], '5 instances'],
])('abbreviates the instance names %j', (names, text) => {
  expect(namesText(names)).toBe(text);
});
