import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { createSandboxWorld, createWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../support/sandbox-ids.ts';
import type { Handler } from '../support/service.ts';
import { type Agent, budget, openAgent, statusesIn, waitingClock } from './agent.ts';

/** 89.90 ₽ per hour. */
const CHEAP = { offer: [OFFER], image: IMAGE };

let world: SandboxWorld;
let clock: ReturnType<typeof waitingClock>;
let change: (handler: Handler) => Handler;
beforeEach(async () => {
  clock = waitingClock();
  change = (handler) => handler;
  world = await createSandboxWorld((handler) => (request) => change(handler)(request), clock);
  // The catalog learns prices from instances.
  await world.cli(['instances', 'create', 'first', ...HARDWARE]);
});
afterEach(() => world.close());

const open = (...argv: string[]) => openAgent(world, argv);

const statuses = () => statusesIn(world);

/** For slow computers. */
const SLOWLY = { timeout: 20_000 };

/** Holds each request such as `POST /instances` until `respond` is called. */
function hold(held: RegExp) {
  let respond = () => {};
  const responding = new Promise<void>((resolve) => {
    respond = resolve;
  });
  change = (handler) => async (request) => {
    if (held.test(`${request.method} ${request.path}`)) await responding;
    return handler(request);
  };
  const last = () =>
    world.service.requests.map(({ method, path }) => `${method} ${path}`).at(-1) ?? '';
  return { respond, isHeld: () => expect.poll(last, SLOWLY).toMatch(held) };
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

async function create(agent: Agent, name: string, given: object = {}) {
  return agent.call('instances_create', { name, ...CHEAP, terminate_after: '50m', ...given });
}

test('lists the tools, but rents nothing, while the account is unknown', async () => {
  const { respond } = hold(/\/users\/me$/);
  const flags = ['--allow', 'all', ...budget(100)];
  const agent = await openAgent(world, flags, { isEarly: true });
  const { tools } = await agent.client.listTools();
  expect(tools.map(({ name }) => name)).toContain('instances_create');
  const made = Promise.all([create(agent, 'one'), create(agent, 'two')]);
  await agent.client.ping();
  expect(world.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  respond();
  expect((await made).map(({ isError }) => isError).sort()).toEqual([false, true]);
  const rented = { id: expect.any(String), name: expect.stringMatching(/^(one|two)$/) };
  const at = expect.stringMatching(/^2026-01-15T1\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await agent.purse()).toEqual({
    ...{ max_cost: '100.00', committed: '89.90', left: '10.10', max_instances: null },
    ...{ instances: [{ ...rented, ends_at: at }], unknown_requests: [], ends_at: at },
  });
  await agent.end();
});

test('ends without the account if stdin closes while it is unknown', async () => {
  let respond = () => {};
  const responding = new Promise<void>((resolve) => {
    respond = resolve;
  });
  change = (handler) => async (request) => {
    if (request.path !== '/users/me') return handler(request);
    await responding;
    return 'hangUp';
  };
  onTestFinished(() => respond());
  const agent = await openAgent(world, ['--allow', 'all', ...budget(100)], { isEarly: true });
  const made = create(agent, 'one').catch(() => undefined);
  await expect.poll(() => world.service.requests.at(-1)?.path, SLOWLY).toBe('/users/me');
  expect(await agent.end()).toMatchObject({ code: 0 });
  await made;
  change = (handler) => handler;
  expect(await statuses()).toEqual({ first: 'PROVISIONING' });
});

describe('the budget', () => {
  test('rejects a request that could exceed it, and sends nothing', async () => {
    const agent = await open('--allow', 'all', ...budget(200));
    const first = await create(agent, 'one');
    expect(first).toMatchObject({ isError: false, purse: { committed: '89.90', left: '110.10' } });
    // The session ends it, so nothing warns that it bills until someone terminates it.
    expect(first.warnings?.map(({ code }) => code)).toEqual(['no_ssh_key']);
    const sent = world.service.requests.length;
    const second = await create(agent, 'two', { terminate_after: '51m' });
    expect(second).toMatchObject({
      isError: true,
      exit_code: 2,
      error: {
        code: 'guard',
        message:
          'The session may spend 200.00 ₽. 89.90 ₽ is spent or reserved, and two may cost 179.80 ₽ until the deadline. Nothing was sent.',
      },
    });
    const posts = world.service.requests.slice(sent).filter(({ method }) => method === 'POST');
    expect(posts).toEqual([]);
    expect(await create(agent, 'two')).toMatchObject({ isError: false });
    const ends_at = expect.any(String);
    const named = (name: string) => ({ id: expect.any(String), name, ends_at });
    const { instances, ...purse } = await agent.purse();
    expect({ ...purse, instances: instances.toSorted(byName) }).toEqual({
      ...{ max_cost: '200.00', committed: '179.80', left: '20.20', max_instances: null, ends_at },
      ...{ instances: [named('one'), named('two')], unknown_requests: [] },
    });
    expect(await agent.end()).toMatchObject({ code: 0 });
    expect(await statuses()).toMatchObject({ one: 'TERMINATING', two: 'TERMINATING' });
  });

  test('lets two of twenty parallel requests through', async () => {
    const agent = await open('--allow', 'all', ...budget(200));
    const names = Array.from({ length: 20 }, (_, at) => `box-${at}`);
    const made = await Promise.all(names.map((name) => create(agent, name)));
    expect(made.filter(({ isError }) => !isError)).toHaveLength(2);
    const codes = made.flatMap(({ error }) => error?.code ?? []);
    expect(new Set(codes)).toEqual(new Set(['guard']));
    expect(await agent.purse()).toMatchObject({ committed: '179.80' });
    await agent.end();
    expect((await statuses()).first).not.toMatch(/^TERMINAT/);
  });

  test('counts an ended instance at its started hours, and no longer as running', async () => {
    const agent = await open('--allow', 'all', ...budget(400, '--max-instances', '1'));
    await create(agent, 'one', { terminate_after: '3h' });
    expect(await agent.purse()).toMatchObject({ committed: '359.60' });
    expect(await create(agent, 'two')).toMatchObject({ error: { code: 'guard' } });
    clock.advance(61 * 60_000);
    const ended = await agent.call('instances_terminate', { instance: ['one'], wait: true });
    expect(ended).toMatchObject({ isError: false, purse: { committed: '179.80', instances: [] } });
    expect(await create(agent, 'two')).toMatchObject({ isError: false });
    await agent.end();
  });

  test('counts a request with an unknown outcome, and reports it at the end', async () => {
    const agent = await open('--allow', 'all', ...budget(100));
    change = (handler) => (request) =>
      request.method === 'POST' && request.path === '/instances' ? 'hangUp' : handler(request);
    expect(await create(agent, 'lost')).toMatchObject({ isError: true, exit_code: 7 });
    change = (handler) => handler;
    expect(await create(agent, 'two')).toMatchObject({
      error: {
        code: 'guard',
        message:
          'The session may spend 100.00 ₽. 89.90 ₽ is spent or reserved, and two may cost 89.90 ₽ until the deadline. Nothing was sent.',
      },
    });
    expect(await agent.purse()).toMatchObject({ unknown_requests: ['lost'] });
    const { code, stderr } = await agent.end();
    expect(code).toBe(7);
    expect(stderr).toContain("The outcome of the session's request for lost is unknown.");
  });

  test('reserves the whole price with a huge budget, and for a huge limit', async () => {
    const huge = `1${'0'.repeat(30)}`;
    const flags = ['--max-cost', huge, '--for', '4h', '--unenforced'];
    const agent = await open('--allow', 'all', ...flags);
    expect(await create(agent, 'one')).toMatchObject({ isError: false });
    expect(await create(agent, 'two', { max_price: `${huge}0` })).toMatchObject({
      error: { code: 'guard' },
    });
    expect(await agent.purse()).toMatchObject({
      committed: '89.90',
      left: `${'9'.repeat(28)}10.10`,
    });
    await agent.end();
  });

  test('rejects an unknown price, and accepts it with a limit', async () => {
    const agent = await open('--allow', 'all', ...budget(100));
    const other = { offer: ['a100a100-0000-4000-8000-000000000002'] };
    expect(await create(agent, 'one', other)).toMatchObject({
      error: {
        code: 'guard',
        message: 'The price of one is unknown. Nothing was sent.',
        hint: 'set a price limit: --max-price RUB',
      },
    });
    // The real price is above the limit, so the instance is terminated at once.
    expect(await create(agent, 'one', { ...other, max_price: '50' })).toMatchObject({
      isError: true,
      exit_code: 1,
      purse: { instances: [] },
    });
    await agent.end();
  });

  test('counts the known price of a lost request with a lower limit', async () => {
    const agent = await open('--allow', 'all', ...budget(100));
    change = (handler) => (request) =>
      request.method === 'POST' && request.path === '/instances' ? 'hangUp' : handler(request);
    expect(await create(agent, 'lost', { max_price: '0.01' })).toMatchObject({ exit_code: 7 });
    expect(await agent.purse()).toMatchObject({ committed: '89.90', left: '10.10' });
    expect(await create(agent, 'two', { max_price: '0.01' })).toMatchObject({
      error: { code: 'guard' },
    });
    await agent.end();
  });

  test('counts a request with an unknown outcome as an instance', async () => {
    const agent = await open('--allow', 'all', ...budget(5000, '--max-instances', '1'));
    change = (handler) => (request) =>
      request.method === 'POST' && request.path === '/instances' ? 'hangUp' : handler(request);
    expect(await create(agent, 'lost')).toMatchObject({ exit_code: 7 });
    change = (handler) => handler;
    expect((await create(agent, 'two')).error?.message).toBe(
      'The session allows 1 instance, and 1 may be running: lost. The request adds 1. Nothing was sent.',
    );
    await agent.end();
  });

  test('checks several instances of one request together', async () => {
    const agent = await open('--allow', 'all', ...budget(200));
    const { isError, error } = await create(agent, 'box', { count: 3 });
    expect({ isError, code: error?.code }).toEqual({ isError: true, code: 'guard' });
    expect(await agent.purse()).toMatchObject({ committed: '0.00' });
    await agent.end();
  });
});

describe('deadlines', () => {
  test('gives an instance without one the end of the session', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    const { isError, purse } = await create(agent, 'one', { terminate_after: null });
    expect({ isError, committed: purse?.committed }).toEqual({
      isError: false,
      committed: '449.50',
    });
    const { stdout } = await world.cli(['instances', 'list', '--json']);
    const row = JSON.parse(stdout).find(({ name }: { name: string }) => name === 'one');
    expect(row.ends_at).toBe('2026-01-15T16:00:00.000Z');
    const ends = { terminate_after: null, terminate_at: '2026-01-15T15:00:00Z' };
    expect(await create(agent, 'two', ends)).toMatchObject({ isError: false });
    await agent.end();
  });

  test('terminates an instance at its deadline while the session goes on', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    await create(agent, 'one', { terminate_after: '10m' });
    await create(agent, 'two', { terminate_after: '2h' });
    clock.advance(11 * 60_000);
    await expect
      .poll(async () => (await agent.purse()).instances.map(({ name }) => name), SLOWLY)
      .toEqual(['two']);
    await agent.end();
  });

  test.each([[[]], [['--keep']]])('ends the session after --for, with %j', async (keep) => {
    const agent = await open('--allow', 'all', ...budget(1000, ...keep));
    await create(agent, 'one');
    clock.advance(30_000);
    clock.advance(4 * 3_600_000);
    expect(await agent.ended).toMatchObject({ code: 0 });
    expect((await statuses()).one).toMatch(/^TERMINAT/);
  });

  test.each([
    ['at its deadline', '2h'],
    ['with the session', '5h'],
  ])("terminates an instance %s after the built-in sandbox's clock jumped", async (_at, jump) => {
    const sandbox = ['--profile', 'sandbox'];
    const own = await createWorld({ handler: () => 'hangUp', clock, signedIn: false });
    onTestFinished(() => own.close());
    const agent = await openAgent(own, [...sandbox, '--allow', 'all', ...budget(1000)]);
    const { isError } = await create(agent, 'one', { terminate_after: '1h' });
    expect(isError).toBe(false);
    expect((await own.cli([...sandbox, 'sandbox', 'advance', jump])).code).toBe(0);
    clock.advance(30_000);
    await (jump === '5h'
      ? agent.ended
      : expect.poll(async () => (await agent.purse()).instances, SLOWLY).toEqual([]));
    await agent.end();
    const { stdout } = await own.cli([...sandbox, 'instances', 'list', '--all', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ status: expect.stringMatching(/^TERMINAT/) }]);
  });

  test("rents nothing after this computer's clock is set back", async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    clock.step(-24 * 3_600_000);
    const { error } = await create(agent, 'one', { terminate_after: '5h' });
    // The clocks differ too much to set a deadline.
    expect(error?.code).toBe('not_understood');
    expect(await agent.purse()).toMatchObject({ committed: '0.00' });
    await agent.end();
  });
});

test('sends nothing for a call that was cancelled at once', async () => {
  const agent = await open('--allow', 'all', ...budget(1000));
  const params = { name: 'instances_create', arguments: { name: 'unwanted', ...CHEAP } };
  const messages = [
    { id: 'x', method: 'tools/call', params },
    { method: 'notifications/cancelled', params: { requestId: 'x' } },
  ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  agent.pipes.stdin.write(messages.join(''));
  expect(await create(agent, 'one')).toMatchObject({ isError: false });
  expect(await create(agent, 'two')).toMatchObject({ isError: false });
  expect(Object.keys(await statuses()).sort()).toEqual(['first', 'one', 'two']);
  await agent.end();
});

test('shows with the progress what a call waits for', async () => {
  const agent = await open('--allow', 'all', ...budget(1000));
  const given = { name: 'one', ...CHEAP, terminate_after: '50m', wait: 'active' };
  const messages: (string | undefined)[] = [];
  change = (handler) => (request) => {
    // Each read of the wait lets five seconds pass.
    if (request.method === 'GET') clock.advance(5_000);
    return handler(request);
  };
  await agent.client.callTool({ name: 'instances_create', arguments: given }, undefined, {
    onprogress: ({ message }) => messages.push(message),
  });
  expect(messages).toContainEqual(expect.stringMatching(/^\d+ s: .*one/));
  await agent.end();
});

describe('the end of a session', () => {
  test('leaves what others rented', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    await create(agent, 'one');
    await world.cli(['instances', 'create', 'mine', ...HARDWARE]);
    await agent.end();
    expect(await statuses()).toEqual({
      first: 'PROVISIONING',
      one: 'TERMINATING',
      mine: 'PROVISIONING',
    });
  });

  test('terminates on SIGTERM', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], { interrupts });
    await create(agent, 'one');
    first.abort(new CliError('terminated', 'Terminated.'));
    const { code, stderr } = await agent.ended;
    expect(code, stderr).toBe(143);
    expect((await statuses()).one).toBe('TERMINATING');
  });

  test('waits for the response to a request that rents, also after a second signal', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], { interrupts });
    const { respond, isHeld } = hold(/^POST \/instances$/);
    const made = create(agent, 'one');
    await isHeld();
    for (const each of [first, second]) each.abort(new CliError('terminated', 'Terminated.'));
    respond();
    expect((await made).warnings).toContainEqual({
      code: 'outcome_unknown',
      message: 'Waiting for the response: one may already exist and be billing.',
    });
    expect(await agent.ended).toMatchObject({ code: 143 });
    expect(await statuses()).toEqual({ first: 'PROVISIONING', one: 'TERMINATING' });
  });

  test('terminates after a message that is too long, and says why', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    await create(agent, 'one');
    for (let mebibyte = 0; mebibyte < 11; mebibyte += 1)
      agent.pipes.stdin.write('x'.repeat(2 ** 20));
    const { code, stderr } = await agent.ended;
    expect({ code, last: stderr.trim().split('\n').at(-1) }).toEqual({
      code: 2,
      last: 'error: The client sent a message of more than 10 MiB, so the session has ended.',
    });
    expect((await statuses()).one).toBe('TERMINATING');
  });

  test('takes a message of 10 MB', async () => {
    const agent = await open();
    const text = 'x'.repeat(10_000_000);
    const { error } = await agent.call('instances_get', { instance: [text] });
    expect(error?.message).toBe('instances_get: the arguments are longer than 65536 characters');
    expect((await agent.end()).code).toBe(0);
  });

  test('rejects calls while it ends, and sends nothing', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], { interrupts });
    await create(agent, 'one');
    const { respond, isHeld } = hold(/terminate$/);
    first.abort(new CliError('terminated', 'Terminated.'));
    const sent = () => world.service.requests.map(({ path }) => path);
    await isHeld();
    for (const late of [create(agent, 'two'), agent.call('status')]) {
      expect(await late).toMatchObject({
        isError: true,
        exit_code: 2,
        error: { code: 'guard', message: 'The session has ended. Nothing was sent.' },
      });
    }
    expect(sent().at(-1)).toMatch(/terminate$/);
    respond();
    expect(await agent.ended).toMatchObject({ code: 143 });
    expect(await statuses()).toEqual({ first: 'PROVISIONING', one: 'TERMINATING' });
  });

  test('waits for a termination at a deadline, also with --keep', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const interrupts = { first: first.signal, second: second.signal };
    const agent = await openAgent(world, ['--allow', 'all', ...budget(1000, '--keep')], {
      interrupts,
    });
    await create(agent, 'one', { terminate_after: '10m' });
    const { respond, isHeld } = hold(/terminate$/);
    clock.advance(11 * 60_000);
    await isHeld();
    first.abort(new CliError('terminated', 'Terminated.'));
    // A server that has ended responds to no call.
    for (let call = 0; call < 20; call += 1) {
      expect(await agent.call('status')).toMatchObject({ error: { code: 'guard' } });
    }
    respond();
    expect(await agent.ended).toMatchObject({ code: 143 });
    expect((await world.cli(['instances', 'get', 'one', '--json'])).stdout).toContain(
      '"TERMINATING"',
    );
  });

  test('keeps instances with --keep', async () => {
    const agent = await open('--allow', 'all', ...budget(1000, '--keep'));
    await create(agent, 'one');
    expect(await agent.end()).toMatchObject({ code: 0 });
    expect((await statuses()).one).toBe('PROVISIONING');
  });

  test('exits with 7 if a termination is not certain', async () => {
    const agent = await open('--allow', 'all', ...budget(1000));
    await create(agent, 'one');
    change = (handler) => (request) =>
      request.path.endsWith('/terminate') ? { status: 500, body: {} } : handler(request);
    const ended = agent.end();
    const ticking = setInterval(() => clock.advance(30_000), 5);
    const { code, stderr } = await ended.finally(() => clearInterval(ticking));
    expect(code, stderr).toBe(7);
    expect(stderr).toContain('Could not terminate one');
  });
});
