import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { FIELDS, manifestJsonSchema } from '../../src/instances/rent/manifest-json.ts';
import { needs } from '../support/needs.ts';
import { fc, runs } from '../support/random.ts';
import { RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

let world: World;
let folder: string;

beforeEach(async () => {
  const service = new RentingService();
  world = await createWorld({
    handler: (request) =>
      request.path === '/ssh-keys' ? ok([{ id: IMAGE, name: 'laptop' }]) : service.handler(request),
  });
  folder = join(world.home, 'project');
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(join(folder, 'src', 'train.py'), 'print(1)\n');
  await writeFile(join(folder, 'job.env'), 'EPOCHS=3\n');
});
afterEach(() => world.close());

const SIGN_IN = ['--identity', '/dev/null', '--unenforced'];
const OFFERED = ['--offer', OFFER, '--image', IMAGE] as const;
const NEEDED = `offer_id: ${OFFER}\nimage_id: ${IMAGE}\nssh_keys: [${IMAGE}]\nterminate_after: 4h\n`;

/** Runs `run -f` with a file in the folder. */
async function run(content: string, ...argv: string[]) {
  const file = join(folder, 'job.yaml');
  await writeFile(file, content);
  return world.cli(['run', '-f', file, ...SIGN_IN, ...argv]);
}

async function planned(content: string, ...argv: string[]) {
  const { code, stdout, stderr } = await run(content, '--dry-run', '--json', ...argv);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** A file with all fields of a job on an instance, except those that exclude others. */
const WHOLE = `
$schema: job.schema.json
name: trainer
offers: [${OFFER}, ${IMAGE}]
retry_for: 6h
image_id: ${IMAGE}
ssh_keys: [laptop]
template_id: ${OFFER}
storage_drive_id: ${IMAGE}
docker_config:
  image: pytorch
  run_command: sleep 1
  shm_size_gb: 8
  ports: [{external_port: 80, internal_port: 8080, protocol: TCP, name: web, is_main: true}]
  volumes: [{container_path: /data, host_path: /mnt}]
sync: src
exclude: ['*.pyc']
gitignore: false
setup: pip install -r train.py
setup_files: [src/train.py]
command: [python, train.py]
env:
  VERSION: 1.10
  DEBUG: true
env_file: [job.env]
pass_env: [HOME_TOKEN]
fetch: [results, 'out/*.csv:tables', 'log:/tmp/log']
fetch_every: 10m
terminate_after: 4h
if_idle: 45m
max_price: 90.5
keep_on_failure: 30m
grace: 5m
`;

/** Contents after the needed fields, the error, and its line. */
const WRONG: readonly [content: string, message: string, line?: number][] = [
  ['name: 9ab', 'name breaks the rule: must be 3 to 50 letters'],
  ['name: abc\ninstance_name: abc', "instance_name can't be combined with name", 6],
  ['retry_for: soon', 'retry_for breaks the rule: must be whole numbers with units'],
  ['if_idle: 1m', 'if_idle breaks the rule: must be at least 10m'],
  ['count: 0', 'count is less than 1'],
  ['count: 2', 'count needs --here'],
  ['min_count: 40', 'min_count is more than 32'],
  ['command: []', 'command is empty'],
  ['offers: []', 'offers is empty'],
  ['here: true\ncommand: make\ncount: 2\nmin_count: 3', 'min_count 3: must not exceed count 2', 8],
  ['here: true\ncommand: make\nmin_count: 3', 'min_count needs --count', 7],
  [
    'here: true\ncommand: make\nstorage_drive_id: a\ncount: 2',
    "storage_drive_id can't be combined with count 2: a drive",
    7,
  ],
  ['command: make\nfetch: [a:x, b:x]', `fetch.1 "b" and "a" would both be written to "`, 6],
  [
    'command: make\nfetch: ["a/*:x", "b/*:x"]',
    `fetch.1 "b/*" and "a/*" would both be written to "`,
    6,
  ],
  ['command: make\nrescue: [a:x, b:x]', 'rescue.1 "b" and "a" would both be written to "', 6],
  ['command: make\ngrace: 4h', 'grace must be shorter than the time until the deadline', 6],
  [
    'command: [make, -j, 4]',
    'command must be one line, or a list of words: quote numbers and true',
  ],
  ['command: ""', 'command breaks the rule: must not be empty'],
  ['command: ["", -l]', 'command breaks the rule: its first word must not be empty'],
  ['command: make\nsync: none', 'sync: the folder "', 6],
  ['sync: [a]', 'sync is not of type string'],
  ['exclude: a', 'exclude is not of type array'],
  ['gitignore: no', 'gitignore is not of type boolean'],
  ['command: make\nfetch: [a, "b/["]', 'fetch.1 "b/[": a pattern may contain only * and ?', 6],
  ['command: make\nfetch: [.]', 'fetch.0 ".": must be REMOTE[:LOCAL]', 6],
  ['command: make\nfetch: [a, "b:src/train.py/x"]', `fetch.1 "b": "`, 6],
  ['command: make\nfetch_every: 10m', 'fetch_every needs --fetch', 6],
  ['fetch_every: 1ms', 'fetch_every breaks the rule: the shortest interval is 500ms'],
  ['env: [A=x, B]', 'env must be lines KEY: VALUE, not a list of KEY=VALUE'],
  ['env:\n  A: [1]', 'env.A has an unexpected shape', 6],
  ['command: make\nenv:\n  A-B: x', 'env.A-B "A-B": must contain only letters', 7],
  [
    'env: {A: x}\ndocker_config: {image: a, env: []}',
    "env can't be combined with docker_config.env",
  ],
  ['command: make\nenv_file: [none]', 'env_file.0 "', 6],
  ['here: true\ncommand: make\nenv:\n  A: x', 'env sets variables of a container', 7],
  ['pass_env: [A=b]', 'pass_env.0 breaks the rule: '],
  ['command: make\npass_env: [NOT_SET]', 'pass_env NOT_SET: not set in the environment', 6],
  ['here: yes', 'here is not of type boolean'],
  ['here: true\nfetch: [a]\nfetch_every: 10m', "fetch_every can't be combined with here", 7],
  ['here: true\npass_env: [A]', "pass_env can't be combined with here", 6],
  ['setup: [a]', 'setup is not of type string'],
  ['command: make\nsetup: make\nsetup_files: [none]', 'setup_files.0 "', 7],
  ['command: make\nsetup_files: [src/train.py]', 'setup_files needs --setup', 6],
  ['here: true\nsetup: make', "setup can't be combined with here", 6],
  ['keep_on_failure: long', 'keep_on_failure breaks the rule: must be whole numbers with units'],
  ['grace: 5', 'grace is not of type string'],
  ['synch: .', 'synch is unknown (did you mean sync?)'],
  ['comand: make', 'comand is unknown (did you mean command?)'],
  ['salvage: [a]', 'salvage is unknown'],
  ['rescue: a', 'rescue is not of type array'],
  ['rescue_budget: -1', 'rescue_budget breaks the rule: must not be negative'],
  ['docker_config:\n  prots: []', 'docker_config.prots is unknown (did you mean ports?)', 6],
  [
    'docker_config:\n  ports:\n    - {extern_port: 1, external_port: 1, internal_port: 1}',
    'docker_config.ports.0.extern_port is unknown (did you mean external_port?)',
    7,
  ],
  ['$schema: 1', '$schema is not of type string'],
  ['offer_id: [a]', 'offer_id is not of type string', 4],
  ['image_id: 1', 'image_id is not of type string', 4],
  ['ssh_keys: laptop', 'ssh_keys is not of type array', 4],
  ['terminate_after: soon', 'terminate_after breaks the rule: must be whole numbers', 4],
  ['terminate_at: soon', 'terminate_at breaks the rule: '],
  ['template_id: 1', 'template_id is not of type string'],
  ['storage_drive_id: 1', 'storage_drive_id is not of type string'],
  ['docker_config: a', 'docker_config is not of type object'],
  ['max_price: free', 'max_price breaks the rule: '],
];

describe('run --file', needs('ssh'), () => {
  test('uses all fields of a job file, with paths relative to the file', async () => {
    const file = join(folder, 'job.yaml');
    await writeFile(file, WHOLE);
    await writeFile(join(folder, 'src/.gitignore'), '*.py\n');
    const { code, stdout, stderr } = await world.cli(
      ['run', '-f', file, ...SIGN_IN, '--dry-run', '--json', '--show-secrets'],
      { env: { HOME_TOKEN: 'a-secret' } },
    );
    expect(code, stderr).toBe(0);
    expect(stdout + stderr).not.toContain('a-secret');
    expect(JSON.parse(stdout)).toEqual({
      request: {
        offer_id: OFFER,
        image_id: IMAGE,
        instance_name: 'trainer',
        ssh_keys: [IMAGE],
        template_id: OFFER,
        storage_drive_id: IMAGE,
        docker_config: {
          image: 'pytorch',
          run_command: 'sleep 1',
          shm_size_gb: 8,
          ports: [
            { external_port: 80, internal_port: 8080, protocol: 'TCP', name: 'web', is_main: true },
          ],
          env: [
            { key: 'EPOCHS', value: '3' },
            { key: 'VERSION', value: '1.10' },
            { key: 'DEBUG', value: 'true' },
          ],
          volumes: [{ container_path: '/data', host_path: '/mnt' }],
        },
      },
      command: ['python', 'train.py'],
      setup: 'pip install -r train.py',
      variables: ['HOME_TOKEN'],
      sync: {
        folder: join(folder, 'src'),
        files: 2,
        bytes: 14,
        largest: [
          { path: 'train.py', bytes: 9 },
          { path: '.gitignore', bytes: 5 },
        ],
        left_out: { files: 0, bytes: 0, partial: false },
      },
      fetch: [
        { remote: 'results', local: join(folder, 'results') },
        { remote: 'out/*.csv', local: `${join(folder, 'tables')}/` },
        { remote: 'log', local: '/tmp/log' },
      ],
      terminate: 'after 4 h, or after 45 min without use',
      cost_at_most: '452.5',
      cost_estimate: null,
      deadline: new Date(world.clock.now() + 4 * 3_600_000).toISOString(),
      if_idle_seconds: 2700,
      max_price: '90.5',
      would_send: true,
      from_profile: [],
    });
  });

  test('prefers flags to the fields of the file', async () => {
    const flags = ['--name', 'other', '--offer', IMAGE, '--terminate-at', '2026-01-16T18:00Z'];
    const rest = ['--fetch', 'log', '-e', 'A=1', '--', 'make'];
    const plan = await planned(WHOLE.replace(/pass_env.*/, ''), ...flags, ...rest);
    expect(plan).toMatchObject({
      request: {
        instance_name: 'other',
        offer_id: IMAGE,
        docker_config: { image: 'pytorch', env: [{ key: 'EPOCHS' }, { key: 'A' }] },
      },
      command: ['make'],
      fetch: [{ remote: 'log', local: 'log' }],
      deadline: '2026-01-16T18:00:00.000Z',
    });
  });

  test('runs a command of one line with sh, and sets its variables', async () => {
    const secret = 'env:\n  TOKEN: a-secret\n  EMPTY: ""\n';
    const { stdout, stderr } = await run(
      `${NEEDED}command: echo a-secret | wc\n${secret}`,
      ...['--dry-run', '--json'],
    );
    expect(JSON.parse(stdout)).toMatchObject({
      command: ['sh', '-c', 'echo ******** | wc'],
      variables: ['TOKEN', 'EMPTY'],
    });
    expect(stdout + stderr).not.toContain('a-secret');
  });

  test('copies a variable without a value from the environment', async () => {
    const content = `${NEEDED}command: make\nenv:\n  TOKEN:\n`;
    const { code, stderr } = await run(content, '--dry-run');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: ${join(folder, 'job.yaml')}, line 7: env.TOKEN: "TOKEN" has no value and is not set in the environment\n`,
    });
  });

  test('accepts an instance file as a job without a command', async () => {
    expect(await run(NEEDED)).toMatchObject({
      code: 2,
      requests: [],
      stderr: `error: ${join(folder, 'job.yaml')} has no command: add "command" to it, or put COMMAND after --\n`,
    });
    expect((await planned(NEEDED, '--', 'make')).command).toEqual(['make']);
  });

  test.each(WRONG)('names the file, line and field of %j', async (content, message, line = 5) => {
    const [field = ''] = content.split(':');
    const needed = NEEDED.split('\n').filter((one) => !one.startsWith(`${field}:`));
    const { code, stderr, requests } = await run(`${needed.join('\n')}${content}\n`);
    const posts = requests.filter(({ method }) => method !== 'GET');
    expect({ code, posts }, stderr).toEqual({ code: 2, posts: [] });
    expect(stderr).toContain(`error: ${join(folder, 'job.yaml')}, line ${line}: ${message}`);
  });

  test('rejects a wrong value of each field', () => {
    const text = WRONG.map(([content]) => content).join('\n');
    const fields = Object.keys(FIELDS).filter((field) => !field.includes('.'));
    expect(fields.filter((field) => !text.includes(`${field}:`))).toEqual([]);
  });

  test('rejects --detach for a job file with here', async () => {
    const { code, stderr } = await run(`${NEEDED}here: true\ncommand: make\n`, '--detach');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `error: ${join(folder, 'job.yaml')}, line 5: here can't be combined with --detach\n`,
    });
  });
});

describe('create --file with a job file', () => {
  test('uses the fields of the instance, and names those that it ignores', async () => {
    const file = join(folder, 'job.yaml');
    await writeFile(file, `${NEEDED}name: box\nsync: .\ncommand: make\nenv: {A: x}\n`);
    const create = ['instances', 'create', '-f', file, '--unenforced'];
    const { code, stderr, requests } = await world.cli(create);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`Ignored fields of ${file}: sync, command, env.`);
    expect(requests.find(({ method }) => method === 'POST')?.body).toEqual({
      offer_id: OFFER,
      image_id: IMAGE,
      instance_name: 'box',
      ssh_keys: [IMAGE],
    });
    const container = await world.cli([...create, '--docker-image', 'nginx', '--name', 'web']);
    expect(container.requests.find(({ method }) => method === 'POST')?.body).toMatchObject({
      docker_config: { image: 'nginx', env: [{ key: 'A', value: 'x' }] },
    });
  });

  test('rents several instances for the count of a job file', async () => {
    const file = join(folder, 'job.yaml');
    await writeFile(file, `${NEEDED}name: box\nhere: true\ncount: 2\nmin_count: 1\n`);
    const { requests } = await world.cli(['instances', 'create', '-f', file, '--unenforced']);
    const posts = requests.filter(({ method }) => method === 'POST');
    expect(posts.map(({ body }) => body)).toMatchObject([
      { instance_name: expect.stringMatching(/^box-[12]$/) },
      { instance_name: expect.stringMatching(/^box-[12]$/) },
    ]);
  });
});

describe('run --init', () => {
  const init = (...argv: string[]) => world.cli(['run', '--init', ...argv]);

  test.each([
    ['--offer', 'offer'],
    ['--image', 'image'],
  ])('rejects an unknown %s', async (flag, kind) => {
    const { code, stdout, stderr } = await init(flag, 'RTX 9999');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(
      `error: ${flag} "RTX 9999": no ${kind} of this service is known here, and it is not an ID\n`,
    );
  });

  test('writes an example that runs, with the flags given', needs('ssh'), async () => {
    const ofThisRun = [
      ...['--any-env-key', '--detach', '--identity', 'id', '--poll-interval', '3s'],
      ...['--report', 'report.json', '--setup-again', '--ssh-arg=-4', '--ssh-option', 'Port=1'],
      ...['--unenforced', '--user', 'me', '--wait-timeout', '3m'],
    ];
    const { code, stdout, stderr } = await init(...OFFERED, '--ssh-key', 'laptop', ...ofThisRun);
    const names = ofThisRun.flatMap((word) => /^--[a-z-]+/.exec(word) ?? []).join(', ');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `Not in the file, so add them to the command: ${names}\n`,
    });
    expect(stdout).toContain('# yaml-language-server: $schema=job.schema.json\n');
    expect(stdout).toContain(
      `# The offer (hardware): an ID, or a name from "gpucloud catalog list".\noffer_id: ${OFFER}\n`,
    );
    expect(stdout).toContain('\ncommand: nvidia-smi\n');
    expect(stdout).toContain('# sync: "."\n');
    expect(await planned(stdout)).toMatchObject({
      command: ['sh', '-c', 'nvidia-smi'],
      terminate: 'after 4 h',
    });
  });

  test('writes no value of a variable, except with --show-secrets', async () => {
    const { stdout, stderr } = await init('-e', 'TOKEN=a-secret==', '-e', 'OTHER');
    expect(stdout).toContain('\nenv:\n  TOKEN: null\n  OTHER: null\n');
    expect(stdout).not.toContain('a-secret');
    expect(stderr).toBe('The file has no values for TOKEN: set them in the environment.\n');
    const shown = await init('-e', 'TOKEN=a-secret', '-e', 'OTHER', '--show-secrets');
    expect(shown.stdout).toContain('\nenv:\n  TOKEN: a-secret\n  OTHER: null\n');
  });

  test('writes a file from another file', async () => {
    const file = join(folder, 'job.yaml');
    const rewritten = async (content: string, ...more: string[]) => {
      await writeFile(file, content);
      return parse((await init('-f', file, '--show-secrets', ...more)).stdout);
    };
    const { $schema: _schema, ...whole } = parse(WHOLE);
    expect(await rewritten(WHOLE)).toEqual({
      ...whole,
      sync: join(folder, 'src'),
      setup_files: [join(folder, 'src/train.py')],
      env: { VERSION: '1.10', DEBUG: 'true' },
      env_file: [join(folder, 'job.env')],
      fetch: [`results:${folder}/results`, `out/*.csv:${folder}/tables/`, 'log:/tmp/log'],
    });
    const others = `offer_id: ${OFFER}\nhere: true\ncount: 2\nmin_count: 1\nrescue: [a:x]\nrescue_budget: 10.5\nterminate_at: fri 18:00`;
    expect(await rewritten(others, '--', 'make')).toEqual({ ...parse(others), command: ['make'] });
  });

  test('plans the same with the flags and with the file', needs('ssh'), async () => {
    const text = fc.stringMatching(/^[a-z][a-z0-9 ._'"#:-]{0,12}[a-z]$/);
    const value = (flag: string, values: fc.Arbitrary<string>) => values.map((one) => [flag, one]);
    const several = (flag: string, values: fc.Arbitrary<string>) =>
      fc.uniqueArray(values, { maxLength: 2 }).map((all) => all.flatMap((one) => [flag, one]));
    const maybe = (flags: fc.Arbitrary<string[]>) => fc.oneof(flags, fc.constant([]));
    const time = fc.constantFrom('90m', '30m', '2h', '45m', '1d');
    const key = fc.stringMatching(/^[A-Z][A-Z_]{0,6}[0-9]$/);
    const flags = fc
      .tuple(
        maybe(
          fc.constantFrom(['--sync', 'docs'], ['--sync', join('src', 'rules'), '--no-gitignore']),
        ),
        several('--exclude', text),
        maybe(several('--fetch', fc.constantFrom('results', 'out/*.csv:tables', 'log:no'))),
        maybe(
          several(
            '-e',
            fc.tuple(key, text).map(([name, one]) => `${name}=${one}`),
          ),
        ),
        maybe(
          fc
            .tuple(
              value(
                '--docker-image',
                text.map((one) => one.replaceAll(' ', '')),
              ),
              maybe(value('--docker-command', text)),
              maybe(value('--shm-size', fc.constantFrom('0.5', '8'))),
              maybe(fc.constant(['-p', '80:8080/udp,name=web,main', '-p', '81:81'])),
              maybe(fc.constant(['-v', '/data:/mnt'])),
            )
            .map((all) => all.flat()),
        ),
        maybe(fc.constant(['--offer', IMAGE])),
        maybe(
          fc
            .tuple(value('--setup', text), maybe(fc.constant(['--setup-file', 'README.md'])))
            .map((all) => all.flat()),
        ),
        maybe(value('--retry-for', time)),
        maybe(value('--if-idle', time)),
        maybe(value('--max-price', fc.constantFrom('90', '0.10', '12345678901234567890.5'))),
        maybe(value('--keep-on-failure', time)),
        maybe(value('--grace', fc.constantFrom('0s', '500ms', '5m'))),
        fc.constantFrom(['--terminate-after', '4h'], ['--terminate-at', '2026-01-16T18:00Z']),
      )
      .map((all) => [...OFFERED, '--ssh-key', 'laptop', '--name', 'trainer', ...all.flat()]);
    const words = fc
      .tuple(text, fc.array(text, { maxLength: 2 }))
      .map(([first, more]) => [first.replaceAll(' ', ''), ...more]);
    const plan = async (argv: readonly string[], stdin?: string) => {
      const dry = ['--dry-run', '--json', '--show-secrets', ...SIGN_IN];
      const { code, stdout, stderr } = await world.cli(
        ['run', ...dry, ...argv],
        stdin === undefined ? {} : { stdin },
      );
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    await fc.assert(
      fc.asyncProperty(flags, words, async (given, command) => {
        const file = (await init('--show-secrets', ...given, '--', ...command)).stdout;
        expect(await plan(['-f', '-'], file), file).toEqual(
          await plan([...given, '--', ...command]),
        );
      }),
      { numRuns: runs(30, 6) },
    );
  });
});

describe('the JSON Schema of a job file', () => {
  interface Part {
    readonly description?: string;
    readonly properties?: Readonly<Record<string, Part>>;
    readonly items?: Part;
  }

  const pathsIn = ({ properties = {}, items }: Part, path = ''): string[] => [
    ...(items === undefined ? [] : pathsIn(items, path)),
    ...Object.entries(properties).flatMap(([name, part]) => [
      `${path}${name}`,
      ...pathsIn(part, `${path}${name}.`),
    ]),
  ];

  test('describes each field, and no other', () => {
    expect(pathsIn(manifestJsonSchema()).sort()).toEqual(Object.keys(FIELDS).sort());
  });

  test('is the same in run and create', async () => {
    const schema = (...argv: string[]) => world.cli([...argv, '--schema']);
    const { code, stdout } = await schema('run');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(manifestJsonSchema())));
    expect((await schema('instances', 'create')).stdout).toBe(stdout);
  });
});
