import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../support/account-service.ts';
import { manualClock } from '../../support/clock.ts';
import { createWorld, journalOf, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { type Handler, no, ok } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let world: World;
let service: AccountService;
let handler: Handler;
beforeEach(async () => {
  const clock = manualClock();
  service = new AccountService(clock.now());
  service.profile = { name: 'Anna' };
  handler = service.handler;
  keys({ key_prefix: TEST_KEY.slice(0, 20), last_used_at: service.ago(0) });
  world = await createWorld({ handler: (request) => handler(request), clock });
});
afterEach(() => world.close());

interface Row {
  readonly check: string;
  readonly result: string;
  readonly message: string;
  readonly evidence: readonly string[];
  readonly per_hour: string | null;
  readonly command: string | null;
}

async function audit(...flags: string[]) {
  const { code, stdout, stderr, requests } = await world.cli(['audit', '--json', ...flags]);
  const rows: Row[] = stdout === '' ? [] : JSON.parse(stdout);
  const row = (check: string) => rows.find((one) => one.check === check);
  return { code, stderr, requests, rows, row };
}

/** The result of one check, and the exit code. */
async function resultOf(check: string, ...flags: string[]) {
  const { code, row } = await audit(...flags);
  return { code, ...row(check) };
}

async function known(...ids: string[]): Promise<void> {
  const { code, stderr } = await world.cli(['instances', 'track', ...ids]);
  expect(code, stderr).toBe(0);
}

const running = (fields = {}) =>
  service.instance(`box-${service.instances.size + 1}`, {
    created_at: service.ago(HOUR),
    ...fields,
  });

function keys(...list: object[]): void {
  const fields = { is_active: true, expires_at: null };
  const data = list.map((key, at) => ({ id: `key-${at}`, name: `key-${at}`, ...fields, ...key }));
  service.broken.set('GET /api-keys', ok(data));
}

function reserved(amount: string | undefined): void {
  const user = { id: 'user-1', name: 'Anna', balance: '900.00', reserved_balance: amount };
  service.broken.set('PATCH /users/me', ok(user));
}

describe('--exact', () => {
  const exact = () => resultOf('reserved_balance', '--exact');

  test('is ok if the service holds exactly the prices of the running instances', async () => {
    await known(running(), running());
    reserved('179.80');
    expect(await exact()).toMatchObject({
      code: 0,
      result: 'ok',
      message:
        'The service holds 179.80 ₽ for instances, exactly the hourly cost of the instances known to run.',
    });
  });

  test.each([null, '', '  '])('sends nothing for an account named %j', async (name) => {
    service.profile = { name };
    const { code, row, requests } = await audit('--exact');
    expect({ code, row: row('reserved_balance') }).toMatchObject({
      code: 10,
      row: { result: 'unknown', command: 'gpucloud me update --name NAME' },
    });
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('sends its update once, although it failed', async () => {
    service.broken.set('PATCH /users/me', no(503, 'Later'));
    const { code, stderr, row, requests } = await audit('--exact');
    expect({ code, row: row('reserved_balance') }).toMatchObject({
      code: 10,
      row: { result: 'unknown' },
    });
    expect(errorOf(stderr)).toMatchObject({ code: 'not_understood', may_be_billing: false });
    const sent = requests.filter(({ method }) => method !== 'GET');
    expect(sent).toMatchObject([{ method: 'PATCH', body: { name: 'Anna' } }]);
  });

  test.each([undefined, 'much'])('is unknown if the held funds are %j', async (amount) => {
    reserved(amount);
    expect(await exact()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test.each([
    ['the balance', () => (service.balance = '9000.00'), 'The balance changed while it was read.'],
    ['the name', () => (service.profile = { name: 'Bo' }), 'The account name changed while'],
    [
      'the status of an instance',
      () => {
        for (const instance of service.instances.values()) instance.status = 'STOPPING';
      },
      'An instance changed while it was read.',
    ],
  ])('is unknown if %s changes while it reads', async (_what, change, message) => {
    await known(running());
    reserved('89.90');
    handler = (request) => {
      const answer = service.handler(request);
      if (request.method === 'PATCH') change();
      return answer;
    };
    expect(await exact()).toMatchObject({
      code: 10,
      result: 'unknown',
      message: expect.stringContaining(message),
    });
  });

  test('is unknown if a stopped instance may hold the difference', async () => {
    await known(running(), running({ status: 'STOPPED' }));
    reserved('89.90');
    expect(await exact()).toMatchObject({ code: 0, result: 'ok' });
    reserved('179.80');
    expect(await exact()).toMatchObject({
      code: 10,
      result: 'unknown',
      evidence: expect.arrayContaining([
        expect.stringMatching(/^box-2 .*STOPPED, 89\.90 ₽ per hour: may hold funds too$/),
      ]),
    });
  });

  test('finds what no stopped instance can hold', async () => {
    await known(running(), running({ status: 'STOPPED' }));
    reserved('200.00');
    expect(await exact()).toMatchObject({ code: 5, result: 'finding', per_hour: '20.20' });
  });

  test('is unknown if the service holds less than the running instances cost', async () => {
    await known(running());
    reserved('50.00');
    expect(await exact()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test('is unknown if an untracked instance may hold the difference', async () => {
    const id = running();
    await known(id);
    await world.cli(['instances', 'untrack', id, '--yes']);
    reserved('89.90');
    expect(await exact()).toMatchObject({
      code: 10,
      result: 'unknown',
      evidence: [expect.stringContaining('not tracked: may hold funds too')],
    });
  });

  test("is unknown if an instance can't be read", async () => {
    const id = running();
    await known(id);
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    reserved('89.90');
    expect(await exact()).toMatchObject({ result: 'unknown' });
  });
});

describe('instances that ended here', () => {
  async function ended(terminated_at: string | null = service.ago(2 * HOUR)) {
    const created_at = service.ago(48 * HOUR);
    const id = running({ status: 'TERMINATED', created_at, terminated_at });
    await known(id);
    return service.instances.get(id) ?? {};
  }
  const check = () => resultOf('ended_but_charged');

  test('are ok if they were charged for their last hour', async () => {
    const instance = await ended();
    instance.last_billed_at = service.ago(HOUR);
    expect(await check()).toMatchObject({
      code: 0,
      result: 'ok',
      message: 'No terminated instance is charged (1 was read).',
    });
  });

  test('are found if they were charged later', async () => {
    const instance = await ended();
    instance.last_billed_at = service.ago(HOUR - MINUTE);
    expect(await check()).toMatchObject({
      code: 5,
      result: 'finding',
      per_hour: '89.90',
      evidence: [
        expect.stringContaining(
          'ended at 2026-01-15T10:00:00.000Z, and was charged at 2026-01-15T11:01:00.000Z',
        ),
      ],
    });
  });

  test('are found if they run again', async () => {
    const instance = await ended();
    instance.status = 'ACTIVE';
    expect(await check()).toMatchObject({ code: 5, result: 'finding', per_hour: '89.90' });
  });

  test("are not known if they can't be read", async () => {
    const { id } = await ended();
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test('explain no charge between their end and the time it was seen', async () => {
    await ended(service.ago(20 * HOUR));
    service.transaction('USAGE_CHARGE', '1000.00', HOUR);
    // 4 hours and one more.
    expect(await resultOf('unexplained_charges')).toMatchObject({
      result: 'finding',
      message: expect.stringContaining('everything known here costs at most 449.50 ₽'),
      evidence: ['1 charge of 1,000.00 ₽: no description'],
    });
  });

  test('explain no charge after their end, although they are read again', async () => {
    await ended(null);
    world.clock.advance(20 * HOUR);
    await audit();
    service.transaction('USAGE_CHARGE', '1000.00', -19 * HOUR);
    expect(await resultOf('unexplained_charges')).toMatchObject({
      result: 'finding',
      message: expect.stringContaining('everything known here costs at most 449.50 ₽'),
    });
  });
});

describe('other API keys', () => {
  const own = { key_prefix: TEST_KEY.slice(0, 20), last_used_at: null };
  const check = () => resultOf('other_api_keys');

  test.each([
    ['was never used', null, 'ok'],
    ['was used a day ago', 24, 'ok'],
    ['was used within a day', 23, 'finding'],
  ])('are judged if one %s', async (_what, hours, result) => {
    const last_used_at = hours === null ? null : service.ago(hours * HOUR);
    keys(own, { name: 'ci', key_prefix: 'svc_sk_ci_1...', last_used_at });
    expect(await check()).toMatchObject({
      code: result === 'ok' ? 0 : 5,
      result,
      evidence: result === 'ok' ? [] : ['ci (svc_sk_ci_1...), last used 23 h ago'],
    });
  });

  test.each([
    ['no key begins like the own one', [{ key_prefix: 'svc_sk_other' }]],
    ['several keys begin alike', [own, own]],
    ['the last use is not shown', [own, { key_prefix: 'svc_sk_ci' }]],
  ])('is unknown if %s', async (_what, list) => {
    keys(...list);
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
  });

  test("is unknown if they can't be listed", async () => {
    service.broken.set('GET /api-keys', no(500, 'No'));
    expect(await check()).toMatchObject({ code: 10, result: 'unknown' });
  });
});

describe('requests and instances', () => {
  test('finds a request with an unknown outcome, and shows its possible price', async () => {
    service.broken.set('POST /instances', 'hangUp');
    const argv = ['instances', 'create', 'lost', ...HARDWARE, '--max-price', '120'];
    expect((await world.cli(argv)).code).toBe(7);
    const { code, stderr, row } = await audit();
    expect({ code, row: row('open_requests') }).toMatchObject({
      code: 5,
      row: {
        result: 'finding',
        evidence: ['lost, requested at 2026-01-15T12:00:00.000Z'],
        per_hour: '120.00',
        command: 'gpucloud instances recover',
      },
    });
    expect(errorOf(stderr)).toMatchObject({ code: 'finding', may_be_billing: true });
  });

  test('finds what runs for a day without a deadline', async () => {
    const id = running({ created_at: service.ago(24 * HOUR) });
    await known(id, running({ created_at: service.ago(24 * HOUR - 1) }));
    expect(await resultOf('running_long')).toMatchObject({
      code: 5,
      result: 'finding',
      evidence: [`box-1 (${id}), ACTIVE, 89.90 ₽ per hour, rented 1 day ago`],
      per_hour: '89.90',
      command: 'gpucloud instances expire box-1 --after 4h',
    });
  });

  test('finds what is past its deadline', async () => {
    const id = running({ created_at: service.ago(48 * HOUR) });
    await known(id);
    const argv = ['instances', 'expire', id, '--after', '3h'];
    const { code, stderr } = await world.cli(argv);
    expect(code, stderr).toBe(0);
    expect(await resultOf('running_long')).toMatchObject({ result: 'ok' });
    world.clock.advance(4 * HOUR);
    expect(await resultOf('running_long')).toMatchObject({
      result: 'finding',
      evidence: [expect.stringContaining('1 h past its deadline')],
      command: 'gpucloud instances reap',
    });
  });
});

test('is ok with an instance that another process rents while the audit reads', async () => {
  const id = running();
  service.drive('data', { status: 'IN_USE', current_instance_id: id });
  const scope = { service: world.service.url, apiKey: TEST_KEY };
  handler = async (request) => {
    if (request.path === '/storage/drives') {
      await journalOf(world, scope).observe({ id, status: 'ACTIVE', name: 'box-1' }, 'create');
    }
    return service.handler(request);
  };
  expect(await resultOf('rented_elsewhere')).toMatchObject({ code: 0, result: 'ok' });
});

test('is unknown if the instance that a drive names could not be read', async () => {
  const id = running();
  const drive = service.drive('data', { status: 'IN_USE', current_instance_id: id });
  service.drive('old', { name: null, status: 'IN_USE', current_instance_id: id });
  service.broken.set(`/instances/${id}`, no(500, 'No'));
  expect(await resultOf('rented_elsewhere')).toMatchObject({
    code: 10,
    result: 'unknown',
    evidence: [
      `${id}, attached to the drive data`,
      expect.stringMatching(new RegExp(`^${id}, attached to the drive (?!${drive}$)drive-`)),
    ],
  });
});

test('is unknown while another process waits for the response to a create', async () => {
  const isAlive = (pid: number) => pid === process.pid;
  const scope = { service: world.service.url, account: 'user-1' };
  const request = {
    operation: 'create',
    name: 'trainer',
    offer_id: null,
    timeout_ms: 60_000,
  } as const;
  await journalOf(world, scope, isAlive).open(request, new Set());
  const { code, stdout } = await world.cli(['audit', '--json'], { isAlive });
  const rows: Row[] = JSON.parse(stdout);
  expect({ code, row: rows.find(({ check }) => check === 'open_requests') }).toMatchObject({
    code: 10,
    row: { result: 'unknown', evidence: ['trainer is being created'], command: 'gpucloud audit' },
  });
});

test("exits with the service's error if nothing can be read", async () => {
  handler = () => 'hangUp';
  const { code, rows } = await audit();
  expect({ code, rows }).toEqual({ code: 6, rows: [] });
});

test('prints findings first, and only their names with -q', async () => {
  await known(running());
  reserved('189.90');
  const { code, stdout } = await world.cli(['audit', '--exact']);
  expect(code).toBe(5);
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    'FINDING reserved_balance, 100.00 ₽ per hour',
    '- The service holds 189.90 ₽ for instances. The instances known to run cost 89.90 ₽ per hour. Unknown instances cost 100.00 ₽ per hour. Look for them in the web console.',
    expect.stringMatching(/^- box-1 \(.*\), ACTIVE, 89\.90 ₽ per hour$/),
  ]);
  expect(stdout).toContain('\nOK\n- No request has an unknown outcome.\n');
  expect((await world.cli(['audit', '--exact', '-q'])).stdout).toBe('reserved_balance\n');
});
