import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Context } from '../../src/context.ts';
import { argvOf } from '../../src/mcp/arguments.ts';
import type { Tool } from '../../src/mcp/tools.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { budget, openAgent, statusesIn, waitingClock } from './agent.ts';

const CHEAP = { offer: [OFFER], image: IMAGE };

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld(undefined, waitingClock());
  await world.cli(['instances', 'create', 'first', ...HARDWARE]);
});
afterEach(() => world.close());

const open = (...argv: string[]) => openAgent(world, argv);

const statuses = () => statusesIn(world);

/** Wrong arguments of a tool, and the error. */
const WRONG: readonly (readonly [string, Record<string, unknown>, string])[] = [
  [
    'instances_get',
    { instance: ['first'], profile: 'other', yes: true },
    ': unknown argument "profile"',
  ],
  ['instances_create', { name: 'x-1', ...CHEAP, yes: true }, ': unknown argument "yes"'],
  ['status', { base_url: 'http://127.0.0.1' }, ': unknown argument "base_url"'],
  ['instances_create', { name: ['x-1', '--yes'] }, '"name" must be a string'],
  ['instances_get', { instance: [{ id: 1 }] }, '"instance" must be a list of strings'],
  ['instances_create', { name: 'x-1', dry_run: '--yes' }, '"dry_run" must be true or false'],
  ['instances_create', { name: 'x-1', env: ['GPUCLOUD_API_KEY'] }, '"env" must be KEY=VALUE'],
  ['instances_create', { name: 'x-1', rescue: ['out'] }, '"rescue" must be REMOTE:LOCAL'],
  ['instances_create', { name: 'x-1', rescue: [':a:b'] }, '"rescue" must be REMOTE:LOCAL'],
  [
    'instances_create',
    { name: 'x-1', env: ['A=B'], rescue: ['out:../x'] },
    expect.stringMatching(/^rescue "\.\.\/x": must be below /),
  ],
  ['instances_reorder', { new_name: 'x-1' }, ': "instance" is missing'],
  [
    'instances_get',
    { instance: ['x'.repeat(10_000_000)] },
    ': the arguments are longer than 65536 characters',
  ],
  [
    'instances_create',
    { name: 'x-1', ...CHEAP, env_file: ['/etc/passwd'] },
    expect.stringMatching(/^env_file "\/etc\/passwd": must be below /),
  ],
  // Otherwise the command would read its stdin.
  ['instances_create', { name: 'x-1', ...CHEAP, env_file: ['-'] }, 'env_file "-": must be a path'],
  ['instances_create', { name: 'x-1', env_file: ['a\0b'] }, '"env_file" must not contain NUL'],
  ['run', { dry_run: true, command: ['a\0b'] }, '"command" must not contain NUL'],
];

const NAMES = [
  '--yes',
  '-y',
  '--profile=other',
  '--base-url=http://127.0.0.1:1',
  '--',
  '-',
  'a\u0007b',
];

const NONE = { flag: undefined, required: false, takes: 'one', holds: 'text', schema: {} } as const;
const TOOL = {
  words: ['jobs', 'try'],
  parameters: [
    { ...NONE, name: 'name' },
    { ...NONE, name: 'words', takes: 'several' },
    { ...NONE, name: 'force', flag: '--force', takes: 'nothing' },
    { ...NONE, name: 'wait', flag: '--wait', takes: 'optional' },
    { ...NONE, name: 'count', flag: '--count' },
    { ...NONE, name: 'port', flag: '--port', takes: 'several' },
    { ...NONE, name: 'env', flag: '--env', takes: 'several', holds: 'variable' },
    { ...NONE, name: 'sync', flag: '--sync', holds: 'path' },
    { ...NONE, name: 'fetch', flag: '--fetch', takes: 'several', holds: 'fetch' },
    { ...NONE, name: 'rescue', flag: '--rescue', takes: 'several', holds: 'rescue' },
    { ...NONE, name: 'on', flag: '--on', holds: 'instance' },
  ],
} as unknown as Tool;

test.each<[Record<string, unknown>, string[] | string]>([
  [{}, []],
  [{ words: ['-x', '--'], name: '--yes' }, ['--', '--yes', '-x', '--']],
  [{ force: true, wait: true }, ['--force', '--wait']],
  [{ force: false, wait: false }, []],
  [{ wait: 'ssh' }, ['--wait=ssh']],
  [{ wait: 3 }, ['--wait=3']],
  [{ count: 0 }, ['--count=0']],
  [{ count: '' }, ['--count=']],
  [{ port: [80, '443'] }, ['--port=80', '--port=443']],
  [{ port: '80' }, ['--port=80']],
  [{ env: ['A=', 'B=x=y'] }, ['--env=A=', '--env=B=x=y']],
  [{ sync: 'src', on: 'box' }, ['--sync=src', '--on=box']],
  [{ fetch: ['/etc/passwd:got', 'a:b:c'] }, ['--fetch=/etc/passwd:got', '--fetch=a:b:c']],
  [{ rescue: ['/etc:got'] }, ['--rescue=/etc:got']],
  [{ force: 'true' }, '"force" must be true or false'],
  [{ force: 1 }, '"force" must be true or false'],
  [{ wait: ['ssh'] }, '"wait" must be a string'],
  [{ count: true }, '"count" must be a string'],
  [{ count: Number.NaN }, '"count" must be a string'],
  [{ port: true }, '"port" must be a list of strings'],
  [{ port: [80, null] }, '"port" must be a list of strings'],
  [{ env: ['A'] }, '"env" must be KEY=VALUE'],
  [{ rescue: ['out:'] }, '"rescue" must be REMOTE:LOCAL'],
  [{ rescue: ['out:/x'] }, 'rescue "/x": must be below HERE'],
  [{ fetch: ['/out:/x'] }, 'fetch "/x": must be below HERE'],
  [{ fetch: ['out:-'] }, 'fetch "-": must be a path'],
  [{ sync: '..' }, 'sync "..": must be below HERE'],
  [{ sync: '-' }, 'sync "-": must be a path'],
])('turns the arguments %j into %j', async (given, expected) => {
  const folders = async () => ({ config: '/none/config', state: '/none/state' });
  const made = argvOf(TOOL, given, ['--added'], undefined, { folders } as unknown as Context);
  const argv = await made.catch(({ message }) => message.replace(process.cwd(), 'HERE'));
  if (typeof expected === 'string') return expect(argv).toBe(expected);
  const [flags, words] = expected[0] === '--' ? [[], expected.slice(1)] : [expected, []];
  expect(argv).toEqual([
    ...['jobs', 'try', ...flags, '--added', '--json', '--no-input', '--', ...words],
  ]);
});

describe('what an agent may touch', () => {
  test('refuses to terminate what the session did not rent', async () => {
    const agent = await open('--allow', 'jobs', ...budget(1000));
    const { error } = await agent.call('instances_terminate', { instance: ['first'] });
    expect(error).toEqual({
      code: 'guard',
      message: 'This session did not rent "first". Nothing was sent.',
      hint: 'use an instance of this session: read gpucloud://purse',
      http_status: null,
      retryable: false,
      resource: null,
      may_be_billing: false,
    });
    expect(await agent.call('instances_get', { instance: ['first'] })).toMatchObject({
      ...{ isError: false, result: { name: 'first' } },
    });
    const all = await agent.call('instances_terminate', { all: true, instance: [] });
    expect(all.error?.message).toBe('instances_terminate: unknown argument "all"');
    const none = await agent.call('instances_terminate');
    expect(none).toMatchObject({ isError: true, error: { code: 'usage' } });
    const on = await agent.call('run', { on: 'first', command: ['true'] });
    expect(on.error?.code).toBe('guard');
    await agent.end();
    expect((await statuses()).first).not.toMatch(/^TERMINAT/);
  });

  test('rejects wrong arguments before any request', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    const sent = world.service.requests.length;
    const ends = [];
    for (const [name, given] of WRONG) ends.push(await agent.call(name, given));
    expect(
      ends.map(({ isError, error }) => ({ isError, code: error?.code, text: error?.message })),
    ).toEqual(
      WRONG.map(([tool, , text]) => {
        const whole = typeof text === 'string' && text.startsWith(':') ? `${tool}${text}` : text;
        return { isError: true, code: 'usage', text: whole };
      }),
    );
    expect(world.service.requests.slice(sent)).toEqual([]);
    await agent.end();
  });

  test("refuses gpucloud's own folders, which hold keys and the journal", async () => {
    vi.spyOn(process, 'cwd').mockReturnValue(world.home);
    onTestFinished(() => void vi.restoreAllMocks());
    const agent = await open('--allow', 'jobs', ...budget(1000));
    const sent = world.service.requests.length;
    for (const [given, path] of [
      [{ sync: '.' }, 'sync "."'],
      [{ sync: 'config' }, 'sync "config"'],
      [{ env_file: ['config/config.json'] }, 'env_file "config/config.json"'],
      [{ fetch: ['out:state/jobs'] }, 'fetch "state/jobs"'],
      [{ rescue: ['out:state'] }, 'rescue "state"'],
    ] as const) {
      const { error } = await agent.call('run', { ...CHEAP, ...given, command: ['true'] });
      expect(error?.message).toBe(`${path}: must not contain gpucloud's own folders`);
    }
    expect(world.service.requests.slice(sent)).toEqual([]);
    await agent.end();
  });

  test('takes each name as one, never as a flag', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    for (const name of NAMES) {
      const made = await agent.call('instances_create', { name, ...CHEAP, terminate_after: '50m' });
      const { error } = await agent.call('instances_terminate', { instance: [name] });
      expect({ name, isError: made.isError, code: made.error?.code }).toEqual({
        ...{ name, isError: true, code: 'usage' },
      });
      // A hyphen means stdin, which is empty.
      expect(error?.code ?? name).toMatch(/^(usage|not_found|-)$/);
    }
    await agent.end();
    expect(await statuses()).toEqual({ first: expect.not.stringMatching(/^TERMINAT/) });
  });
});
