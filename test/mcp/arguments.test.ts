import { afterEach, beforeEach, describe, expect, test } from 'vitest';
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
    const all = await agent.call('instances_terminate', { all: true, instance: [] });
    expect(all.error?.message).toBe('instances_terminate: unknown argument "all"');
    const none = await agent.call('instances_terminate');
    expect(none).toMatchObject({ isError: true, error: { code: 'usage' } });
    const on = await agent.call('run', { on: 'first', command: ['true'] });
    expect(on.error?.code).toBe('guard');
    await agent.end();
    expect((await statuses()).first).not.toMatch(/^TERMINAT/);
  });

  test.each([
    [
      'a flag of the person',
      'instances_get',
      { instance: ['first'], profile: 'other' },
      'instances_get: unknown argument "profile"',
    ],
    [
      '--yes',
      'instances_create',
      { name: 'x-1', ...CHEAP, yes: true },
      'instances_create: unknown argument "yes"',
    ],
    [
      '--base-url',
      'status',
      { base_url: 'http://127.0.0.1' },
      'status: unknown argument "base_url"',
    ],
    [
      'a list for one value',
      'instances_create',
      { name: ['x-1', '--yes'] },
      '"name" must be a string',
    ],
    [
      'an object',
      'instances_get',
      { instance: [{ id: 1 }] },
      '"instance" must be a list of strings',
    ],
    [
      'a text for a switch',
      'instances_create',
      { name: 'x-1', dry_run: '--yes' },
      '"dry_run" must be true or false',
    ],
    [
      'a variable of this computer',
      'instances_create',
      { name: 'x-1', env: ['GPUCLOUD_API_KEY'] },
      '"env" must be KEY=VALUE',
    ],
    [
      'a rescued path without LOCAL',
      'instances_create',
      { name: 'x-1', rescue: ['out'] },
      '"rescue" must be REMOTE:LOCAL',
    ],
    [
      'a rescued path outside',
      'instances_create',
      { name: 'x-1', rescue: ['out:/tmp/x'] },
      /^rescue "\/tmp\/x": must be below /,
    ],
    [
      'a missing argument',
      'instances_reorder',
      { new_name: 'x-1' },
      'instances_reorder: "instance" is missing',
    ],
    [
      'a long text',
      'instances_get',
      { instance: ['x'.repeat(10_000_000)] },
      'instances_get: the arguments are longer than 65536 characters',
    ],
    [
      'a path outside',
      'instances_create',
      { name: 'x-1', ...CHEAP, env_file: ['/etc/passwd'] },
      /^env_file "\/etc\/passwd": must be below /,
    ],
  ])('rejects %s', async (_what, name, given, message) => {
    const agent = await open('--allow', 'all', ...budget(1000));
    const sent = world.service.requests.length;
    const { isError, error } = await agent.call(name, given);
    expect({ isError, code: error?.code }).toEqual({ isError: true, code: 'usage' });
    if (typeof message === 'string') expect(error?.message).toBe(message);
    else expect(error?.message).toMatch(message);
    expect(world.service.requests.slice(sent)).toEqual([]);
    await agent.end();
  });

  test.each([
    '--yes',
    '-y',
    '--profile=other',
    '--base-url=http://127.0.0.1:1',
    '--',
    '-',
    'a\u0007b',
  ])('takes %j as a name', async (name) => {
    const agent = await open('--allow', 'all', ...budget(1000));
    const made = await agent.call('instances_create', { name, ...CHEAP, terminate_after: '50m' });
    expect({ isError: made.isError, code: made.error?.code }).toEqual({
      isError: true,
      code: 'usage',
    });
    const { error } = await agent.call('instances_terminate', { instance: [name] });
    // A hyphen means stdin, which is empty.
    expect(error?.code ?? name).toMatch(/^(usage|not_found|-)$/);
    await agent.end();
    expect(await statuses()).toEqual({ first: expect.not.stringMatching(/^TERMINAT/) });
  });
});
