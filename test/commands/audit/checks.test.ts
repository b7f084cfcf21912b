import { beforeEach, describe, expect, test } from 'vitest';
import type { AccountService } from '../../support/account-service.ts';
import { RENTAL } from '../../support/journal.ts';
import { journalOf, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { no, ok } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { type AuditWorld, createAuditWorld, HOUR, type Row } from './audit-world.ts';

let at: AuditWorld;
let world: World;
let service: AccountService;
beforeEach(async () => {
  at = await createAuditWorld();
  ({ world, service } = at);
});

function reserved(amount: string | undefined): void {
  const user = { id: 'user-1', name: 'Anna', balance: '900.00', reserved_balance: amount };
  service.broken.set('PATCH /users/me', ok(user));
}

describe('--exact', () => {
  const exact = () => at.resultOf('reserved_balance', '--exact');
  const LIST = 'gpucloud instances list';
  /** The whole result without a verdict on the funds that no running instance explains. */
  const unclear = (holds: string, cost: string, other: string, ...evidence: string[]) => ({
    ...{ code: 10, check: 'reserved_balance', result: 'unknown', per_hour: null, command: LIST },
    message: `The service holds ${holds} ₽ for instances. The known running instances cost ${cost} ₽ per hour. The purpose of the other ${other} ₽ is unclear.`,
    evidence,
  });
  const box = (n: number, status: string, price = '89.90') =>
    `box-${n} (3f0c5d9e-1111-4222-8333-00000000000${n}), ${status}, ${price} ₽ per hour`;

  test('passes if the held funds equal the prices of the running instances', async () => {
    await at.track(at.running(), at.running());
    reserved('179.80');
    expect(await exact()).toMatchObject({
      code: 0,
      result: 'ok',
      message:
        'The service holds 179.80 ₽ for instances, exactly the hourly cost of the known running instances.',
    });
  });

  test.each([null, '', '  '])(
    'skips the update with --exact for an account named %j',
    async (name) => {
      service.profile = { name };
      const { code, row, requests } = await at.audit('--exact');
      expect({ code, row: row('reserved_balance') }).toMatchObject({
        code: 10,
        row: { result: 'unknown', command: 'gpucloud me update --name NAME' },
      });
      expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    },
  );

  test('does not resend a failed --exact update', async () => {
    service.broken.set('PATCH /users/me', no(503, 'Later'));
    const { code, stderr, row, requests } = await at.audit('--exact');
    expect({ code, row: row('reserved_balance') }).toMatchObject({
      code: 10,
      row: { result: 'unknown' },
    });
    expect(errorOf(stderr)).toMatchObject({ code: 'not_understood', may_be_billing: false });
    const sent = requests.filter(({ method }) => method !== 'GET');
    expect(sent).toMatchObject([{ method: 'PATCH', body: { name: 'Anna' } }]);
  });

  test('returns unknown if the status of an instance changes during the check', async () => {
    await at.track(at.running());
    reserved('89.90');
    at.handler = (request) => {
      const answer = service.handler(request);
      if (request.method !== 'PATCH') return answer;
      for (const instance of service.instances.values()) instance.status = 'STOPPING';
      return answer;
    };
    expect(await exact()).toMatchObject({
      code: 10,
      result: 'unknown',
      message: 'An instance changed during the check. Run the audit again.',
      command: 'gpucloud audit --exact',
    });
  });

  test("returns unknown if an instance can't be read", async () => {
    const id = at.running();
    await at.track(id);
    service.broken.set(`/instances/${id}`, no(500, 'No'));
    reserved('89.90');
    const maybe = `${box(1, 'ACTIVE when last seen')}: may hold funds too`;
    expect(await exact()).toEqual(unclear('89.90', '0.00', '89.90', maybe));
  });
});

describe('the check of other API keys', () => {
  const own = { key_prefix: TEST_KEY.slice(0, 20), last_used_at: null };
  const check = () => at.resultOf('other_api_keys');
  const WHICH = 'Could not determine which of the API keys this command uses.';
  const SEE = { per_hour: null, command: 'gpucloud api-keys list' };

  test.each([
    ['never used', null, 'ok'],
    ['used a day ago', 24, 'ok'],
    ['used within a day', 23, 'finding'],
  ])('reports a key only if used within a day: %s', async (_what, hours, result) => {
    const last_used_at = hours === null ? null : service.ago(hours * HOUR);
    at.keys(own, { name: 'ci', key_prefix: 'svc_sk_ci_1...', last_used_at });
    expect(await check()).toMatchObject({
      code: result === 'ok' ? 0 : 5,
      result,
      evidence: result === 'ok' ? [] : ['ci (svc_sk_ci_1...), last used 23 h ago'],
    });
  });

  test('colours its first line, and shows another check that is unknown', async () => {
    at.keys(own, { name: 'ci', key_prefix: 'svc_sk_ci_1...', last_used_at: service.ago(HOUR) });
    service.broken.set('/billing', no(500, 'No'));
    expect((await at.world.cli(['audit', '--color', 'always'])).code).toBe(5);
  });

  test.each([
    ['no listed key has the prefix of the active key', [{ key_prefix: 'svc_sk_other' }], WHICH],
    ['several keys have the prefix of the active key', [own, own], WHICH],
    [
      'last_used_at is missing',
      [own, { key_prefix: 'svc_sk_ci' }],
      'The service did not show when an API key was last used.',
    ],
  ])('returns unknown for the check of other API keys if %s', async (_what, list, message) => {
    at.keys(...list);
    expect(await check()).toMatchObject({ code: 10, result: 'unknown', message, ...SEE });
  });

  test("returns unknown if API keys can't be listed", async () => {
    service.broken.set('GET /api-keys', no(500, 'No'));
    expect(await check()).toMatchObject({
      code: 10,
      result: 'unknown',
      message: 'Could not read the API keys: The service failed to list the API keys (500): No.',
      ...SEE,
    });
  });
});

describe('requests and instances', () => {
  test('reports a request with an unknown outcome, at no price that nothing enforces', async () => {
    service.broken.set('POST /instances', 'hangUp');
    const argv = ['instances', 'create', 'lost', ...HARDWARE, '--max-price', '120'];
    expect((await world.cli(argv)).code).toBe(7);
    const { code, stderr, row } = await at.audit();
    expect({ code, row: row('open_requests') }).toMatchObject({
      code: 5,
      row: {
        result: 'finding',
        evidence: ['lost, requested at 2026-01-15T12:00:00.000Z'],
        // Nothing enforces --max-price after a lost response, and the offer has no known price.
        per_hour: null,
        command: 'gpucloud instances recover',
      },
    });
    expect(errorOf(stderr)).toMatchObject({ code: 'finding', may_be_billing: true });
  });

  test('reports instances that have run for a day without a deadline', async () => {
    const id = at.running({ created_at: service.ago(24 * HOUR) });
    await at.track(id, at.running({ created_at: service.ago(24 * HOUR - 1) }));
    expect(await at.resultOf('running_long')).toMatchObject({
      code: 5,
      result: 'finding',
      evidence: [`box-1 (${id}), ACTIVE, 89.90 ₽ per hour, rented 1 day ago`],
      per_hour: '89.90',
      command: 'gpucloud instances expire box-1 --if-idle 45m',
    });
  });

  test('reports instances past their deadline', async () => {
    const id = at.running({ created_at: service.ago(48 * HOUR) });
    await at.track(id);
    const argv = ['instances', 'expire', id, '--after', '3h'];
    await world.cli(argv);
    expect(await at.resultOf('running_long')).toMatchObject({ result: 'ok' });
    world.clock.advance(4 * HOUR);
    expect(await at.resultOf('running_long')).toMatchObject({
      result: 'finding',
      evidence: [expect.stringContaining('1 h past its deadline')],
      command: 'gpucloud instances reap',
    });
  });
});

test('accepts an instance that another process rents during the audit', async () => {
  const id = at.running();
  service.drive('data', { status: 'IN_USE', current_instance_id: id });
  const scope = { service: world.service.url, apiKey: TEST_KEY };
  at.handler = async (request) => {
    if (request.path === '/storage/drives') {
      await journalOf(world, scope).add(id, 'create', { id, status: 'ACTIVE', name: 'box-1' });
    }
    return service.handler(request);
  };
  expect(await at.resultOf('rented_elsewhere')).toMatchObject({ code: 0, result: 'ok' });
});

test('takes no terminated instance of a drive for a rental', async () => {
  const id = at.running({ status: 'TERMINATED' });
  service.drive('data', { status: 'IN_USE', current_instance_id: id });
  await world.cli(['instances', 'list']);
  expect(await at.resultOf('rented_elsewhere')).toMatchObject({ code: 0, result: 'ok' });
});

test("returns unknown if an instance attached to a drive can't be read", async () => {
  const id = at.running();
  const drive = service.drive('data', { status: 'IN_USE', current_instance_id: id });
  service.drive('old', { name: null, status: 'IN_USE', current_instance_id: id });
  service.broken.set(`/instances/${id}`, no(500, 'No'));
  expect(await at.resultOf('rented_elsewhere')).toMatchObject({
    code: 10,
    result: 'unknown',
    evidence: [
      `${id}, attached to drive data`,
      expect.stringMatching(new RegExp(`^${id}, attached to drive (?!${drive}$)drive-`)),
    ],
  });
});

test('returns unknown while another process waits for the response to a create', async () => {
  const isAlive = (pid: number) => pid === process.pid;
  const scope = { service: world.service.url, account: 'user-1' };
  await journalOf(world, scope, isAlive).open(RENTAL, new Set());
  const { code, stdout } = await world.cli(['audit', '--json'], { isAlive });
  const rows: Row[] = JSON.parse(stdout);
  expect({ code, row: rows.find(({ check }) => check === 'open_requests') }).toMatchObject({
    code: 10,
    row: { result: 'unknown', evidence: ['trainer is being created'], command: 'gpucloud audit' },
  });
});

test("exits with 6 if the audit can't read anything", async () => {
  at.handler = () => 'hangUp';
  const { code, rows } = await at.audit();
  expect({ code, rows }).toEqual({ code: 6, rows: [] });
});

test.each(['/users/me', '/storage/drives'])(
  'prints the checks if only %s can be read',
  async (path) => {
    for (const other of ['/users/me', '/storage/drives', '/billing']) {
      if (other !== path) service.broken.set(other, no(500, 'No'));
    }
    expect((await at.audit()).code).toBe(10);
  },
);

test('prints findings first, and only the names of findings with -q', async () => {
  await at.track(at.running());
  reserved('189.90');
  await world.cli(['audit', '--exact']);
  expect((await world.cli(['audit', '--exact', '-q'])).stdout).toBe('reserved_balance\n');
  const own = { key_prefix: TEST_KEY.slice(0, 20), last_used_at: service.ago(0) };
  at.keys(own, { key_prefix: 'svc_sk_ci', last_used_at: service.ago(0) });
  const { stderr } = await at.audit('--exact');
  expect(errorOf(stderr)).toMatchObject({
    message: 'The audit has findings: other_api_keys, reserved_balance.',
    may_be_billing: true,
  });
});
