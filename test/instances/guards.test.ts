import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Instance, nameIn, RentingService } from '../support/renting-service.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE, OFFERED } from '../support/sandbox-ids.ts';
import type { RecordedRequest } from '../support/service.ts';
import { no, ok } from '../support/service.ts';
import { errorOf, stderrLines } from '../support/stderr-lines.ts';
import { withoutTranscript } from '../support/transcript.ts';
import { until } from '../support/until.ts';

const OFFER = { id: HARDWARE[1] ?? '', name: 'RTX 4090' };
const PRICED = { price_per_hour_snapshot: '100.00', offer: OFFER, status: 'ACTIVE' };

let world: World;
let service: RentingService;
beforeEach(async () => {
  service = new RentingService();
  service.newId = () => randomUUID();
  world = await createWorld({ handler: service.handler });
  await world.cli(['profiles', 'add', 'work', '--base-url', world.service.url]);
});

const env = { GPUCLOUD_PROFILE: 'work' };
const cli = (...argv: string[]) => world.cli(argv, { env });
const create = (name: string, ...flags: string[]) =>
  cli('instances', 'create', name, ...HARDWARE, '--json', ...flags);
const posts = (requests: readonly RecordedRequest[]) =>
  requests.filter(({ method }) => method === 'POST').length;

const listed = async () => JSON.parse((await cli('instances', 'list', '--json')).stdout);

async function guard(...flags: string[]): Promise<void> {
  const { code, stderr } = await cli('profiles', 'set', 'work', ...flags);
  expect(code, stderr).toBe(0);
}

/** Rents instances for 100 ₽ per hour. */
async function rented(...names: string[]): Promise<Instance[]> {
  return Promise.all(
    names.map(async (name) => {
      service.shows = () => PRICED;
      const { code, stdout, stderr } = await create(name, '--yes');
      expect(code, stderr).toBe(0);
      const { id } = JSON.parse(stdout) as { id: string };
      return service.rent(id, name, PRICED);
    }),
  );
}

async function refusal(
  argv: Promise<{ code: number; stderr: string; requests: readonly RecordedRequest[] }>,
) {
  const { code, stderr, requests } = await argv;
  expect({ code, posts: posts(requests) }).toEqual({ code: 2, posts: 0 });
  const error = errorOf(stderr);
  expect(error).toMatchObject({ code: 'guard', may_be_billing: false });
  return error as { message: string; hint: string };
}

describe('--max-instances', () => {
  test('rejects gpucloud run beyond the limit, and sends nothing', needs('ssh'), async () => {
    await rented('box-1');
    await guard('--max-instances', '1');
    const words = ['run', ...OFFERED, '--ssh-key', randomUUID(), '--identity', '/dev/null'];
    const run = await cli(...words, '--terminate-after', '1h', '--', 'true');
    expect({ code: run.code, posts: posts(run.requests) }).toEqual({ code: 2, posts: 0 });
    expect(run.stderr).toContain('allows 1 instance, and 1 may be running: box-1.');
  });

  test('rejects an instance beyond the limit, even with --yes, and sends nothing', async () => {
    await rented('box-1', 'box-2', 'box-3', 'box-4', 'box-5');
    await guard('--max-instances', '5');
    for (const flags of [[], ['--yes'], ['--max-price', '1']]) {
      expect(await refusal(create('box-6', ...flags))).toMatchObject({
        message:
          'Profile "work" allows 5 instances, and 5 may be running: box-1, box-2, box-3, box-4, box-5. Nothing was sent.',
        hint: expect.stringContaining('gpucloud profiles set work --max-instances 6'),
      });
    }
    // After the refusal, the name is free.
    await guard('--max-instances', '6');
    expect((await create('box-6')).code).toBe(0);
  });

  test('rejects a reorder beyond --max-instances', async () => {
    const [old] = await rented('old');
    service.rent(old?.id ?? '', 'old', { status: 'TERMINATED' });
    await rented('box-1');
    await guard('--max-instances', '1');
    await refusal(cli('instances', 'reorder', old?.id ?? '', 'again', '--json'));
    await guard('--max-instances', '2');
    expect((await cli('instances', 'reorder', old?.id ?? '', 'again')).code).toBe(0);
  });

  test('does not count an instance that was terminated elsewhere', async () => {
    const [first] = await rented('box-1');
    await guard('--max-instances', '1');
    await refusal(create('box-2'));
    service.rent(first?.id ?? '', 'box-1', { status: 'TERMINATING' });
    expect((await create('box-2')).code).toBe(0);
  });

  test('counts an instance whose termination was rolled back', async () => {
    const [first] = await rented('box-1');
    await guard('--max-instances', '1');
    await cli('instances', 'terminate', 'box-1', '--yes');
    service.rent(first?.id ?? '', 'box-1', PRICED);
    expect((await refusal(create('box-2'))).message).toContain('1 may be running: box-1.');
  });

  test('counts an instance that the service does not find', async () => {
    const [first] = await rented('box-1');
    await guard('--max-instances', '1');
    service.instances.delete(first?.id ?? '');
    await refusal(create('box-2'));
  });

  test('counts a request that another process has just stored', async () => {
    await rented('box-1');
    await guard('--max-instances', '2');
    const { linkSync } = fs;
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    // Another process writes a request just before this process does.
    vi.spyOn(fs, 'linkSync').mockImplementation((whole, path) => {
      if (String(path).endsWith('/requests/box-2.json')) {
        const theirs = {
          version: 1,
          uid: randomUUID(),
          operation: 'create',
          name: 'box-3',
          asked_at: new Date(world.clock.now()).toISOString(),
          pid: null,
          timeout_ms: 60_000,
          offer_id: null,
        };
        fs.writeFileSync(join(dirname(String(path)), 'box-3.json'), JSON.stringify(theirs));
      }
      linkSync(whole, path);
    });
    syncBuiltinESMExports();
    expect((await refusal(create('box-2'))).message).toContain('2 may be running: box-1, box-3.');
    // The refused request leaves no record.
    expect(await listed()).toMatchObject([{ name: 'box-3' }, { name: 'box-1' }]);
  });

  test("counts an instance that can't be read", async () => {
    const [first] = await rented('box-1');
    await guard('--max-instances', '1');
    service.failing.add(`/instances/${first?.id}`);
    await refusal(create('box-2'));
  });

  test('counts a request with an unknown outcome', async () => {
    service.posts.push(() => 'hangUp');
    expect((await create('lost')).code).toBe(7);
    await guard('--max-instances', '1');
    expect((await refusal(create('box-2'))).message).toContain('1 may be running: lost.');
    await refusal(create('lost', '--yes'));
  });

  test('does not count a refused request for --max-instances', async () => {
    await guard('--max-instances', '1');
    service.posts.push(() => no(400, 'No'));
    expect((await create('box-1')).code).toBe(1);
    expect((await create('box-1')).code).toBe(0);
  });

  test('sends two of ten simultaneous requests if two are allowed', async () => {
    // Which of them are refused is not certain.
    withoutTranscript();
    await guard('--max-instances', '2');
    let open = 0;
    let most = 0;
    let refused = 0;
    const slow = async ({ body }: RecordedRequest) => {
      open += 1;
      most = Math.max(most, open);
      await until(() => refused === 8);
      open -= 1;
      const { instance_name: name } = body as { instance_name: string };
      return ok(service.rent(randomUUID(), name, PRICED), 201);
    };
    service.posts.push(...Array.from({ length: 10 }, () => slow));
    const before = world.service.requests.length;
    const ended = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => {
        const done = await world.cli(['instances', 'create', `box-${at}`, ...HARDWARE, '--json'], {
          env,
          isAlive: () => true,
        });
        if (done.code === 2) refused += 1;
        return done;
      }),
    );
    expect(posts(world.service.requests.slice(before))).toBe(2);
    expect(most).toBeLessThanOrEqual(2);
    expect(ended.map(({ code }) => code).sort()).toEqual([0, 0, ...Array(8).fill(2)]);
    for (const { code, stderr } of ended) {
      if (code === 2) expect(errorOf(stderr)).toMatchObject({ code: 'guard' });
    }
  });
});

describe('--max-burn', () => {
  test("adds the offer's last price to the prices of the instances", async () => {
    await rented('box-1', 'box-2');
    await guard('--max-burn', '299.99');
    expect(await refusal(create('box-3'))).toMatchObject({
      message:
        'Profile "work" allows 299.99 ₽ per hour, but with box-3 the instances may cost 300.00 ₽. Nothing was sent.',
    });
    await guard('--max-burn', '300');
    expect((await create('box-3')).code).toBe(0);
  });

  test('rejects an unknown price without --max-price if --max-burn is set', async () => {
    await guard('--max-burn', '500');
    expect(await refusal(create('box-1'))).toEqual(
      expect.objectContaining({
        message:
          'Profile "work" allows 500.00 ₽ per hour, and the price of box-1 is unknown. Nothing was sent.',
        hint: 'set a price limit with --max-price RUB',
      }),
    );
    await refusal(create('box-1', '--max-price', '500.01'));
    service.shows = () => PRICED;
    expect((await create('box-1', '--max-price', '500')).code).toBe(0);
  });

  test.each(['create', 'reorder'])(
    'counts an unresolved %s at the highest known price of its offer',
    async (verb) => {
      // Rented for 300 ₽ once, and for 100 ₽ last.
      service.shows = () => ({ ...PRICED, price_per_hour_snapshot: '300.00' });
      const { stdout } = await create('dear', '--yes');
      const { id } = JSON.parse(stdout) as { id: string };
      service.rent(id, 'dear', { ...PRICED, price_per_hour_snapshot: '300.00' });
      await cli('instances', 'terminate', 'dear', '--yes');
      service.rent(id, 'dear', {
        ...PRICED,
        status: 'TERMINATED',
        price_per_hour_snapshot: '300.00',
      });
      const else_ = {
        offer: { id: randomUUID(), name: 'Else' },
        price_per_hour_snapshot: '900.00',
      };
      const { id: other } = service.rent(randomUUID(), 'else', { ...else_, status: 'TERMINATED' });
      await cli('instances', 'track', other);
      await listed();
      await rented('box-1');
      service.posts.push(() => 'hangUp');
      // Nothing enforces this limit, since the response was lost.
      const lost =
        verb === 'create'
          ? create('lost', '--max-price', '1')
          : cli('instances', 'reorder', id, 'lost', '--max-price', '1');
      expect((await lost).code).toBe(7);
      await guard('--max-burn', '499.99');
      expect((await refusal(create('box-2'))).message).toContain(
        'but with box-2 the instances may cost 500.00 ₽.',
      );
      await guard('--max-burn', '500');
      expect((await create('box-2')).code).toBe(0);
    },
  );

  test('exits with 7 if an unresolved request may cost any price', async () => {
    service.posts.push(() => 'hangUp');
    expect((await create('lost', '--max-price', '400')).code).toBe(7);
    await guard('--max-burn', '500');
    const { code, stderr, requests } = await create('box-1', '--max-price', '1');
    expect({ code, posts: posts(requests) }).toEqual({ code: 7, posts: 0 });
    expect(errorOf(stderr)).toMatchObject({
      code: 'outcome_unknown',
      message:
        'Profile "work" allows 500.00 ₽ per hour, but the price of lost is unknown, and so is the outcome of its request. Nothing was sent.',
      resource: 'lost',
      may_be_billing: true,
    });
  });

  test('counts a reorder at the price of the terminated instance', async () => {
    const [old] = await rented('old');
    service.rent(old?.id ?? '', 'old', { ...PRICED, status: 'TERMINATED' });
    await guard('--max-burn', '99');
    await refusal(cli('instances', 'reorder', old?.id ?? '', 'again', '--json'));
    await guard('--max-burn', '100');
    expect((await cli('instances', 'reorder', old?.id ?? '', 'again')).code).toBe(0);
  });
});

describe('--max-burn after the response', () => {
  const DEAR = { ...PRICED, price_per_hour_snapshot: '900.00' };
  const exceeded = (id: string) =>
    `box-1 (${id}) costs 900.00 ₽ per hour; all instances cost 900.00 ₽ per hour, over --max-burn 500.00 of profile "work".`;

  /** Sees the offer at 100 ₽ per hour, then lets it cost `price`. */
  async function offerAt(price: string | null) {
    const [old] = await rented('old');
    service.rent(old?.id ?? '', 'old', { ...PRICED, status: 'TERMINATED' });
    await guard('--max-burn', '500');
    service.shows = () => ({ ...PRICED, price_per_hour_snapshot: price });
  }

  test('warns, exits with 1 and ends nothing if the new instance exceeds the guard', async () => {
    await offerAt('900.00');
    const { code, stdout, stderr, requests } = await create('box-1');
    const { id } = JSON.parse(stdout) as { id: string };
    expect({ code, posts: posts(requests) }).toEqual({ code: 1, posts: 1 });
    expect(stderrLines(stderr)).toContainEqual({
      warning: {
        code: 'guard_exceeded',
        message: `${exceeded(id)} It is billing. To terminate it: gpucloud instances terminate box-1`,
      },
    });
    expect(service.instances.get(id)?.status).toBe('PROVISIONING');
    // Another instance would not be sent at all.
    service.rent(id, 'box-1', DEAR);
    await refusal(create('box-2'));
  });

  test('terminates the new instance with --enforce-max-burn, and no other', async () => {
    await rented('keep');
    await offerAt('900.00');
    await guard('--enforce-max-burn');
    const { code, stdout, stderr } = await create('box-1');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const error = errorOf(stderr) as { resource: string };
    expect(error).toMatchObject({ code: 'refused', may_be_billing: false });
    expect(error).toMatchObject({
      message: expect.stringMatching(/, and was terminated at once\.$/),
    });
    expect(service.instances.get(error.resource)?.status).toBe('TERMINATING');
    const living = [...service.instances.values()].filter(({ status }) => status === 'ACTIVE');
    expect(living.map(({ name }) => name)).toEqual(['keep']);
  });

  test('ends no instance because the price of another is unknown', async () => {
    await offerAt('200.00');
    await guard('--enforce-max-burn');
    service.posts.push(async ({ body }) => {
      const odd = service.rent(randomUUID(), 'odd', { status: 'ACTIVE' });
      await cli('instances', 'track', odd.id);
      return ok(service.rent(randomUUID(), nameIn(body), service.shows(body)), 201);
    });
    const { code, stderr } = await create('box-1');
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('the price of another instance is unknown, so they count as over');
    expect([...service.instances.values()].map(({ status }) => status)).not.toContain(
      'TERMINATING',
    );
  });

  test('terminates only as many of several new instances as exceed the guard, newest first', async () => {
    // Their requests come in no certain order.
    withoutTranscript();
    await offerAt('200.00');
    await guard('--enforce-max-burn');
    // All requests arrive before the first response. Each response waits for the check of the
    // instance before it: gpucloud reads that instance only then.
    const order: string[] = [];
    const waiting: (() => void)[] = [];
    const next = () => waiting.shift()?.();
    const read = new Set<string>();
    service.onRead = async (id) => {
      if (!read.has(id)) next();
      read.add(id);
    };
    service.posts = Array.from({ length: 4 }, () => async ({ body }: RecordedRequest) => {
      const turn = new Promise<void>((go) => waiting.push(go));
      if (waiting.length === 4) next();
      await turn;
      order.push(nameIn(body));
      return ok(service.rent(randomUUID(), nameIn(body), { ...DEAR, ...service.shows(body) }), 201);
    });
    const { code, stderr } = await create('box', '--count', '4', '--wait');
    expect(code).toBe(1);
    const kept = [...service.instances.values()].filter(({ status }) => status === 'ACTIVE');
    expect(kept.map(({ name }) => name).sort(), stderr).toEqual(order.slice(0, 2).sort());
  });

  test('exits with 7 if that instance may not have ended', async () => {
    await offerAt('900.00');
    await guard('--enforce-max-burn');
    service.terminations.push(...Array.from({ length: 9 }, () => () => 'hangUp' as const));
    const { code, stderr } = await create('box-1');
    expect(code).toBe(7);
    expect(errorOf(stderr)).toMatchObject({ may_be_billing: true });
  });

  test('checks an instance whose response could not be used', async () => {
    await offerAt('900.00');
    await guard('--enforce-max-burn');
    service.posts.push(({ body }) => {
      const { id } = service.rent(randomUUID(), nameIn(body), DEAR);
      return ok({ id, status: 7 }, 201);
    });
    const { code, stderr } = await create('box-1');
    expect(code, stderr).toBe(1);
    expect(stderr).toContain('and was terminated at once.');
  });
});

describe('--require-deadline', () => {
  test('rejects a request without a deadline if --require-deadline is set', async () => {
    await guard('--require-deadline');
    expect(await refusal(create('box-1', '--yes'))).toMatchObject({
      message: 'Profile "work" requires a deadline. Nothing was sent.',
      hint: 'add a deadline: --terminate-after 4h',
    });
    expect((await create('box-1', '--terminate-after', '4h', '--unenforced')).code).toBe(0);
    await guard('--no-require-deadline');
    expect((await create('box-2')).code).toBe(0);
  });

  test('rejects expire --never, by name or with --all, and keeps the deadline', async () => {
    expect((await create('box-1', '--terminate-after', '4h', '--unenforced')).code).toBe(0);
    const [{ ends_at }] = await listed();
    await guard('--require-deadline');
    for (const whose of ['box-1', '--all']) {
      const never = cli('instances', 'expire', whose, '--never', '--json');
      expect(await refusal(never)).toMatchObject({
        message: 'Profile "work" requires a deadline. Nothing was sent.',
        hint: 'set another deadline instead: --after 4h; or change the guard: gpucloud profiles set work --no-require-deadline',
      });
      expect((await never).requests).toEqual([]);
    }
    expect(await listed()).toMatchObject([{ ends_at }]);
    await guard('--no-require-deadline');
    expect((await cli('instances', 'expire', 'box-1', '--never')).code).toBe(0);
    expect(await listed()).toMatchObject([{ ends_at: null }]);
  });
});

describe('profiles set', () => {
  const NONE = {
    max_instances: null,
    max_burn: null,
    enforce_max_burn: false,
    require_deadline: false,
  };
  const shown = async () => JSON.parse((await cli('profiles', 'get', 'work', '--json')).stdout);

  test('changes one guard at a time, and removes it with the value none', async () => {
    expect((await shown()).guards).toEqual({ ...NONE });
    await guard('--max-instances', '2');
    await guard('--max-burn', '500');
    expect((await shown()).guards).toEqual({ ...NONE, max_instances: 2, max_burn: '500.00' });
    await guard('--max-instances', 'none');
    expect((await shown()).guards).toEqual({ ...NONE, max_burn: '500.00' });
    await guard('--max-burn', 'none');
    expect((await shown()).guards).toEqual({ ...NONE });
    expect((await create('box-1')).code).toBe(0);
  });

  test('keeps the guards when the user signs in again', async () => {
    await guard('--max-instances', '0');
    const argv = ['login', '--profile', 'work', '--key-stdin', '--store', 'file'];
    const { code, stderr } = await world.cli(argv, {
      env: { GPUCLOUD_API_KEY: undefined },
      stdin: 'svc_sk_test_0123456789abcdef\n',
    });
    expect(code, stderr).toBe(0);
    await refusal(
      world.cli(['instances', 'create', 'box-1', ...HARDWARE, '--json'], {
        env: { ...env, GPUCLOUD_API_KEY: undefined },
      }),
    );
  });

  test.each([
    [['work'], 'nothing to set'],
    [['work', '--max-instances', '-1'], '--max-instances "-1"'],
    [['work', '--max-instances', '1.5'], '--max-instances "1.5"'],
    [['work', '--max-burn', '-1'], '--max-burn "-1"'],
    [['work', '--max-burn', 'lots'], '--max-burn "lots"'],
    [['work', '--enforce-max-burn'], '--enforce-max-burn: the profile "work" has no --max-burn'],
    [['sandbox', '--max-instances', '1'], 'built in'],
  ])('exits with 2 for profiles set %j', async (argv, message) => {
    const { code, stderr } = await cli('profiles', 'set', ...argv);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test('exits with 3 for an unknown profile', async () => {
    const { code, stderr } = await cli('profiles', 'set', 'wrok', '--max-instances', '1');
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('did you mean work?'),
    });
  });
});
