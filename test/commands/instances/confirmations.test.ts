import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inZone } from '../../support/in-zone.ts';
import {
  createSandboxWorld,
  createWorld,
  type SandboxWorld,
  type World,
} from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';

const HOUR = 3_600_000;

let world: SandboxWorld;
beforeEach(async () => {
  world = await createSandboxWorld();
});

async function instance(name: string, ...flags: string[]): Promise<void> {
  const argv = ['instances', 'create', name, ...HARDWARE, ...flags, '--wait'];
  const { code, stderr } = await world.cli(argv);
  expect(code, stderr).toBe(0);
}

describe('instances terminate', () => {
  test("prints each instance's price, age and refund before the prompt", async () => {
    await instance('trainer');
    await instance('second');
    world.clock.advance(2 * HOUR + 30 * 60_000);
    const { stderr, code } = await world.cli(['instances', 'terminate', 'trainer', 'second'], {
      terminal: true,
      columns: 300,
      stdin: 'n\n',
    });
    expect(code).toBe(130);
    expect(new Set(stderr.match(/Terminate [^?]*\?/g))).toEqual(
      new Set(['Terminate these 2 instances and their disks?']),
    );
  });

  test('prints the expected refund if paid time is left', async () => {
    await instance('trainer');
    world.clock.advance(20 * 60_000);
    const { code } = await world.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(code).toBe(0);
  });

  test('omits the refund if the paid hour ends before the response', async () => {
    const late = await createSandboxWorld((handler) => (request) => {
      if (request.path.endsWith('/terminate')) late.clock.advance(HOUR);
      return handler(request);
    });
    await late.cli(['instances', 'create', 'trainer', ...HARDWARE, '--wait']);
    const { code } = await late.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      stdin: 'y\n',
    });
    expect(code).toBe(0);
  });

  test('prints the refund from the log with --wait, without an estimate', async () => {
    await instance('trainer');
    world.clock.advance(20 * 60_000);
    const argv = ['instances', 'terminate', 'trainer', '--yes', '--wait'];
    await world.cli(argv);
  });

  test('omits an earlier hourly charge from the refund', async () => {
    await instance('trainer');
    world.clock.advance(HOUR);
    await world.cli(['instances', 'list', '--json']);
    await world.cli(['instances', 'terminate', 'trainer', '--yes', '--wait']);
  });

  test("terminates all instances if one log can't be read, and skips the other logs", async () => {
    const names = Array.from({ length: 6 }, (_, at) => `box-${at}`);
    const other = await createSandboxWorld((handler) => (request) => {
      const { path } = request;
      return path.includes('/events') ? { status: 404, body: {} } : handler(request);
    });
    await other.sandbox.reset({ balance: '1000.00' });
    for (const name of names) await other.cli(['instances', 'create', name, ...HARDWARE, '--wait']);
    const argv = ['instances', 'terminate', ...names, '--yes', '--wait'];
    const { requests } = await other.cli(argv);
    // Reads that were already in flight still count.
    expect(requests.filter(({ path }) => path.includes('/events')).length).toBeLessThan(5);
  });

  describe('with an attached drive', () => {
    beforeEach(async () => {
      await world.cli(['drives', 'create', 'datasets', '--size', '100GB', '--yes']);
      await instance('trainer', '--drive', 'datasets');
      await instance('plain');
    });

    test.each([
      ['--yes', {}, []],
      ['--yes --wait', {}, ['--wait']],
      ['a question', { terminal: true, columns: 300, stdin: 'y\n' }, []],
    ])('notes what goes on billing, with %s', async (_how, io, flags) => {
      const yes = 'stdin' in io ? [] : ['--yes'];
      const argv = ['instances', 'terminate', 'trainer', 'plain', ...yes, ...flags];
      const { code, stderr } = await world.cli(argv, io);
      expect(code, stderr).toBe(0);
      expect(stderr.split('keeps').length + stderr.split('is kept').length).toBe(3);
    });

    test.each([[['trainer']], [['trainer', 'plain']], [['plain']]])(
      'asks about the disks of %j, and names the drive',
      async (names) => {
        const io = { terminal: true, columns: 300, stdin: 'n\n' };
        const { code } = await world.cli(['instances', 'terminate', ...names], io);
        expect(code).toBe(130);
      },
    );

    test('says nothing of a drive that is already deleted', async () => {
      const other = await createSandboxWorld((handler) => async (request) => {
        const answer = await handler(request);
        if (answer === 'hangUp' || request.path !== '/storage/drives') return answer;
        return JSON.parse(JSON.stringify(answer).replace(/IN_USE|SYNCING|AVAILABLE/, 'DELETED'));
      });
      await other.cli(['drives', 'create', 'datasets', '--size', '100GB', '--yes']);
      const argv = ['instances', 'create', 'trainer', ...HARDWARE, '--drive', 'datasets', '--wait'];
      await other.cli(argv);
      await other.cli(['instances', 'terminate', 'trainer', '--yes']);
      await other.close();
    });

    test('notes the drive without a price if the drives can not be read', async () => {
      const other = await createSandboxWorld((handler) => (request) => {
        const isLate = request.path === '/storage/drives' && other.clock.now() > LATER;
        return isLate ? { status: 500, body: {} } : handler(request);
      });
      const LATER = other.clock.now() + HOUR;
      await other.cli(['drives', 'create', 'datasets', '--size', '100GB', '--yes']);
      const argv = ['instances', 'create', 'trainer', ...HARDWARE, '--drive', 'datasets', '--wait'];
      await other.cli(argv);
      other.clock.advance(2 * HOUR);
      await other.cli(['instances', 'terminate', 'trainer', '--yes']);
    });

    test('says nothing of it in JSON, and sends no other request', async () => {
      const argv = ['instances', 'terminate', 'trainer', '--yes', '--json'];
      const { requests } = await world.cli(argv);
      expect(requests.map(({ path }) => path)).not.toContain('/storage/drives');
    });
  });

  test('omits the refund with --yes and without --wait', async () => {
    await instance('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '--yes']);
  });

  test('omits the refund for a stopped instance', async () => {
    await instance('trainer');
    await world.cli(['instances', 'stop', 'trainer', '--wait']);
    await world.cli(['instances', 'terminate', 'trainer'], {
      terminal: true,
      stdin: 'n\n',
    });
  });

  test('terminates without a prompt an instance that is already terminated', async () => {
    await instance('trainer');
    await instance('second');
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    const argv = ['instances', 'terminate', 'trainer'];
    await world.cli(argv, { terminal: true, stdin: '' });
    const both = await world.cli([...argv, 'second'], { terminal: true, stdin: 'n\n' });
    expect(both.code).toBe(130);
  });

  test('prompts for a terminating instance, since the service may roll it back', async () => {
    await instance('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y']);
    const argv = ['instances', 'terminate', 'trainer'];
    const asked = await world.cli(argv, { terminal: true, stdin: 'n\n' });
    expect(asked.code).toBe(130);
    expect(asked.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  test('skips the prompt and its reads with --yes', async () => {
    await instance('trainer');
    const { requests } = await world.cli(['instances', 'terminate', 'trainer', '-y'], {
      terminal: true,
    });
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});

describe('instances start', () => {
  test('prints the amount that start will reserve', async () => {
    await instance('trainer');
    await instance('second');
    for (const name of ['trainer', 'second'])
      await world.cli(['instances', 'stop', name, '--wait']);
    const before = (await world.sandbox.status()).available;
    await world.cli(['instances', 'start', 'trainer', 'second']);
    const after = (await world.sandbox.status()).available;
    expect((Number(before) - Number(after)).toFixed(2)).toBe('179.80');
  });

  test('counts only STOPPED instances in the reservation', async () => {
    await instance('trainer');
    await instance('second');
    await world.cli(['instances', 'stop', 'trainer', '--wait']);
    await world.cli(['instances', 'start', 'trainer', 'second']);
  });

  test.each(['STOPPING', 'ERROR', 'TERMINATED'])(
    'omits the reservation if the instance is %s',
    async (status) => {
      const id = '3f0c5d9e-1111-4222-8333-444455556666';
      const data = { id, status, price_per_hour_snapshot: '89.90' };
      const ended = await createWorld({
        handler: ({ method }) =>
          method === 'GET'
            ? ok(data)
            : { status: 400, body: { statusCode: 400, message: 'no', error: 'Bad Request' } },
      });
      await ended.cli(['instances', 'start', id]);
    },
  );

  test('reports an unknown price instead of zero', async () => {
    const id = '3f0c5d9e-1111-4222-8333-444455556666';
    const untold = await createWorld({
      handler: ({ method }) => ok({ id, status: method === 'GET' ? 'STOPPED' : 'STARTING' }),
    });
    await untold.cli(['instances', 'start', id]);
  });
});

describe('instances reorder', () => {
  test('lists the settings that are not copied', async () => {
    await world.cli(['drives', 'create', 'data', '--size', '10']);
    await instance('lab', '--template', 'jupyterlab', '--drive', 'data');
    await world.cli(['instances', 'terminate', 'lab', '-y', '--wait']);
    await world.cli(['instances', 'reorder', 'lab', 'lab-2'], {
      terminal: true,
      columns: 300,
    });
  });
});

describe('an offer whose price changed since it was last seen', () => {
  let priced: World;
  afterEach(() => priced.close());

  test('warns after renting if the price rose', async () => {
    const prices = ['10.00', '12.5', '12.50', '11'];
    let count = 0;
    priced = await createWorld({
      handler: ({ method, body }) => {
        const name = (body as { instance_name?: string } | undefined)?.instance_name;
        if (method === 'POST') count += 1;
        const id = `3f0c5d9e-1111-4222-8333-44445555666${count}`;
        const offer = { id: HARDWARE[1], name: 'RTX 4090' };
        const price_per_hour_snapshot = prices[count - 1];
        const data = { id, name, status: 'PROVISIONING', price_per_hour_snapshot, offer };
        return ok(data, 201);
      },
    });
    const told: string[] = [];
    for (const at of prices.keys()) {
      const { stderr } = await priced.cli(['instances', 'create', `box-${at}`, ...HARDWARE]);
      told.push(...stderr.split('\n').filter((line) => line.includes(' costs ')));
    }
    expect(told).toEqual([
      'warning: box-1 costs 12.50 ₽ per hour, more than the 10.00 ₽ when the offer was last seen. To terminate it: gpucloud instances terminate box-1',
    ]);
  });
});

describe('--max-price with an unusable response', () => {
  const ID = '3f0c5d9e-1111-4222-8333-444455556666';
  let odd: World;
  afterEach(() => odd.close());

  /** Creates the instance, but returns a number as its status. */
  async function create(read: object | number) {
    const sent: string[] = [];
    let isEnded = false;
    odd = await createWorld({
      handler: ({ method, path }) => {
        if (method === 'POST' && path === '/instances') {
          sent.push('create');
          return ok({ id: ID, status: 5 }, 201);
        }
        if (path === `/instances/${ID}/terminate`) {
          isEnded = true;
          sent.push('terminate');
          return ok({ status: 'TERMINATING' });
        }
        if (path === `/instances/${ID}`) {
          return typeof read === 'number'
            ? { status: read, body: { statusCode: read, message: 'no', error: 'no' } }
            : ok({ id: ID, name: 'box', status: isEnded ? 'TERMINATING' : 'ACTIVE', ...read });
        }
        return ok([]);
      },
    });
    const argv = ['instances', 'create', 'box', ...HARDWARE, '--max-price', '100', '--json'];
    return { ...(await odd.cli(argv)), sent };
  }

  test('terminates an instance that costs more than the limit', async () => {
    const { code, stderr, sent } = await create({ price_per_hour_snapshot: '100.01' });
    expect({ code, sent }).toEqual({ code: 1, sent: ['create', 'terminate'] });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.message).toContain(
      'and was terminated at once',
    );
  });

  test('keeps an instance within the limit, and reports the unusable response', async () => {
    const { code, stderr, sent } = await create({ price_per_hour_snapshot: '100' });
    expect({ code, sent }).toEqual({ code: 10, sent: ['create'] });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
      resource: ID,
      may_be_billing: true,
    });
  });

  test("terminates an instance whose price can't be read, and exits with 7 without a read of its end", async () => {
    const { code, stderr, sent } = await create(400);
    expect({ code, sent }).toEqual({ code: 7, sent: ['create', 'terminate'] });
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.message).toContain(
      'has an unreadable price',
    );
  });
});

test.each([
  ['TERMINATING', false],
  ['TERMINATED', false],
  ['ACTIVE', true],
])('shows the paid time of an instance with status %s: %s', async (status, isShown) => {
  const id = '3f0c5d9e-1111-4222-8333-444455556666';
  const paid_until = '2026-01-15T12:56:00.000Z';
  const paidTime = inZone('2026-01-15 12:56:00');
  const data = { id, name: 'trainer', status, paid_until, price_per_hour_snapshot: '89.90' };
  const near = await createWorld({
    handler: ({ path }) => ({
      status: 200,
      body: { status: 'success', code: 200, data: path === '/storage/drives' ? [] : data },
    }),
  });
  await near.cli(['instances', 'track', id]);
  for (const argv of [
    ['get', id],
    ['list', '--all'],
    ['list', '--all', '-o', 'csv'],
  ]) {
    const { stdout } = await near.cli(['instances', ...argv]);
    const time = argv.includes('csv') ? paid_until : paidTime;
    expect(stdout.includes(time)).toBe(isShown);
  }
  await near.cli(['instances', 'get', id, '--json']);
  const screen = (await near.cli(['status'])).stdout;
  expect(screen.includes('trainer')).toBe(status !== 'TERMINATED');
  expect(screen.includes(paidTime)).toBe(isShown);
});
