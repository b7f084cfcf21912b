import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { serviceFolder } from '../../../src/journal/files.ts';
import { type AccountWorld, createAccountWorld, DAY, HOUR } from '../../support/account-service.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';

let { world, service, known, status } = {} as AccountWorld;
beforeEach(async () => {
  ({ world, service, known, status } = await createAccountWorld());
});

const codes = (doc: { attention: { code: string }[] }) => doc.attention.map(({ code }) => code);

describe('status', () => {
  test('reports an account without instances and drives', async () => {
    service.balance = '0';
    const { code, stderr } = await world.cli(['status']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('reports an unknown burn rate if the record of a request is unreadable', async () => {
    const account = join('state/journal', serviceFolder(world.service.url), 'user-1');
    const folder = join(world.home, account, 'requests');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'lost.json'), '{');
    const { stdout } = await world.cli(['status']);
    expect(stdout).not.toContain('no known');
    await world.cli(['billing', 'runway', '--fail-below', '24h']);
  });

  test('prints with -q the IDs of instances that bill or may bill', async () => {
    const ids = [
      service.instance('runs', { created_at: service.ago(HOUR) }),
      service.instance('halted', { status: 'STOPPED', created_at: service.ago(2 * HOUR) }),
      service.instance('going', { status: 'TERMINATING', created_at: service.ago(3 * HOUR) }),
    ];
    await known(...ids);
    const { stdout } = await world.cli(['status', '-q']);
    expect(stdout).toBe(`${ids[0]}\n${ids[1]}\n`);
  });

  test('omits IDs with -q if nothing bills', async () => {
    expect(await world.cli(['status', '-q'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('lists the newest instance first, and suggests to terminate all', async () => {
    const made = (name: string, hours: number, fields = {}) =>
      service.instance(name, { created_at: service.ago(hours * HOUR), ...fields });
    await known(made('old', 9), made('new', 1), made('middle', 5));
    await status();
  });

  test('suggests to terminate those with a finding, not those at work', async () => {
    await known(
      service.instance('work', { created_at: service.ago(HOUR) }),
      service.instance('failed', { status: 'ERROR', created_at: service.ago(2 * HOUR) }),
      service.instance('left', { created_at: service.ago(30 * HOUR) }),
    );
    await status();
  });

  test.each([
    ['one deadline', [['--after', '4h']]],
    ['one idle rule', [['--if-idle', '30m']]],
    [
      'a deadline and an idle rule',
      [
        ['--after', '4h'],
        ['--if-idle', '30m'],
      ],
    ],
  ])('shows the columns of %s of two instances', async (_what, rules) => {
    const names = ['new', 'old'];
    await known(
      ...names.map((name, at) =>
        service.instance(name, { created_at: service.ago((at + 1) * HOUR) }),
      ),
    );
    for (const [at, rule] of rules.entries()) {
      const set = await world.cli(['instances', 'expire', names[at] ?? '', ...rule]);
      expect(set.code, set.stderr).toBe(0);
    }
    await world.cli(['status']);
  });

  test('prints every value of the screen as JSON', async () => {
    await known(service.instance('trainer'));
    service.drive('data', { price_per_hour: '6.005' });
    service.balance = '287.715';
    await status();
  });

  test("uses the service's clock if the computer's is two days behind", async () => {
    ({ service, known, status } = await createAccountWorld(2 * DAY));
    await known(service.instance('trainer', { created_at: service.ago(3 * HOUR) }));
    const { doc } = await status();
    expect(doc.as_of).toBe(new Date(service.now).toISOString());
    expect(doc.instances).toMatchObject([{ name: 'trainer', age_seconds: 3 * 3600 }]);
    expect(codes(doc)).not.toContain('instance_overdue');
  });

  test('sends requests in parallel, each only once', async () => {
    const ids = Array.from({ length: 6 }, (_, at) => service.instance(`box-${at}`));
    await known(...ids);
    await world.cli(['status']);
    // The service responds only once nine requests arrived, so sequential requests would never
    // finish.
    service.together = 9;
    const { requests } = await status();
    expect(requests.map(({ path }) => path.split('?')[0]).sort()).toEqual([
      '/billing/transactions',
      ...ids.map((id) => `/instances/${id}`),
      '/storage/drives',
      '/users/me',
    ]);
    expect(service.together).toBe(1);
  });

  test('shows 12 of 50 instances in a terminal, and all with --all or in a pipe', async () => {
    const ids = Array.from({ length: 50 }, (_, at) =>
      service.instance(`box-${at}`, { price_per_hour_snapshot: `${100 - at}.50` }),
    );
    await known(...ids);
    const env = { NO_COLOR: '1' };
    const shown = async (...flags: string[]) => {
      const { stdout } = await world.cli(['status', ...flags], { terminal: true, env });
      return stdout.match(/^box-\d+/gm) ?? [];
    };
    expect(await shown()).toEqual(Array.from({ length: 12 }, (_, at) => `box-${at}`));
    expect(await shown('--all')).toHaveLength(50);
    await world.cli(['status'], { terminal: true, env });
    const piped = await world.cli(['status']);
    expect(piped.stdout.match(/^box-\d+/gm)).toHaveLength(50);
    expect((await status()).doc.instances).toHaveLength(50);
  });

  test.each([
    [13, 13, undefined],
    [14, 12, 'and 2 more: gpucloud drives list, or status --all'],
  ])('of %d drives shows %d in a terminal, those in trouble first', async (count, shown, more) => {
    for (let at = 0; at < count; at += 1)
      service.drive(`data-${at}`, { status: at === count - 1 ? 'ERROR' : 'AVAILABLE' });
    const { stdout } = await world.cli(['status'], { terminal: true, env: { NO_COLOR: '1' } });
    const rows = stdout.match(/^data-\d+/gm) ?? [];
    expect([rows[0], rows.length]).toEqual([`data-${count - 1}`, shown]);
    expect(stdout.match(/^and .*/m)?.[0]).toBe(more);
  });

  test('adds the selected profile to suggested commands', async () => {
    const { stdout } = await world.cli(['--profile', 'sandbox', 'status'], {
      env: { GPUCLOUD_API_KEY: undefined, GPUCLOUD_BASE_URL: undefined },
    });
    expect(stdout).toContain('gpucloud --profile sandbox instances create');
  });
});

describe('the burn rate', () => {
  test('lists items that may bill, with their highest possible cost', async () => {
    await known(
      service.instance('on'),
      service.instance('off', { status: 'STOPPED', price_per_hour_snapshot: '10' }),
    );
    await world.cli(['status']);
    await known(
      service.instance('broken', { status: 'ERROR', failure_reason: 'no power' }),
      service.instance('ending', { status: 'TERMINATING' }),
      service.instance('new', { status: 'HIBERNATING' }),
    );
    await status();
    await world.cli(['status']);
    await known(service.instance('mute', { price_per_hour_snapshot: null }));
    await world.cli(['status']);
  });
});

describe('the balance', () => {
  test.each(['-12.345', '269.70', '0', 'much'])('warns if the balance is %s', async (balance) => {
    await known(service.instance('trainer'));
    service.balance = balance;
    await status();
    await world.cli(['status']);
  });

  test('prints a balance of 30 digits exactly', async () => {
    await known(service.instance('trainer'));
    service.balance = '123456789012345678901234567890.123456789';
    await status();
    const { stdout } = await world.cli(['status'], { terminal: true });
    expect(stdout).toContain('Lasts      more than 100 years, at this rate\n');
    for (const balance of ['2157.60', '2157.59']) {
      service.balance = balance;
      await world.cli(['status', '--color', 'always']);
    }
  });
});

describe('the attention list', () => {
  test('shows a suspended drive, with the time left and the command that resumes it', async () => {
    service.drive('Данные', {
      status: 'SUSPENDED',
      paid_until: service.ago(2 * DAY),
      last_billed_at: service.ago(2 * DAY),
      updated_at: service.ago(DAY),
    });
    await status();
    service.drive('free', { name: null });
    service.drive('unsure', {
      status: 'SUSPENDED',
      last_billed_at: null,
      updated_at: null,
      paid_until: null,
    });
    await world.cli(['status']);
  });

  test('names the instance of each drive, and finds one that was not known here', async () => {
    const id = service.instance('trainer');
    await known(id, service.instance('other'));
    service.drive('data', { current_instance_id: id });
    service.drive('far', { current_instance_id: service.instance('elsewhere') });
    service.drive('free');
    await world.cli(['status']);
  });

  test('shows a request with a lost response, without a second warning', async () => {
    service.broken.set('/instances', 'hangUp');
    expect((await world.cli(['instances', 'create', 'lost', ...HARDWARE])).code).toBe(7);
    service.broken.clear();
    await known(service.instance('trainer'));
    await world.cli(['status']);
    await status();
  });

  test('does not link a free drive to an instance without an ID', async () => {
    service.drive('data');
    service.broken.set('/instances', 'hangUp');
    await world.cli(['instances', 'create', 'lost', ...HARDWARE]);
    service.broken.clear();
    const { stdout } = await world.cli(['status']);
    expect(stdout).toMatch(/^data +AVAILABLE .* -$/m);
  });

  test('shows instances that are gone or past their paid time', async () => {
    const gone = service.instance('gone');
    await known(gone, service.instance('late', { paid_until: service.ago(2 * HOUR) }));
    service.instances.delete(gone);
    await status();
    await world.cli(['status'], { terminal: true });
  });

  test('shows an instance 10 minutes after its paid time', async () => {
    const late = (seconds: number) => ({ paid_until: service.ago(seconds * 1000) });
    const over = service.instance('over', late(610));
    await known(over, service.instance('just', late(590)));
    const { doc } = await status();
    expect(doc.attention).toMatchObject([{ code: 'instance_overdue', resource: over }]);
  });

  test('removes control characters and line breaks from names', async () => {
    service.drive(`\u001b]52;c;eA==\u0007\u001b[2J${'very-long-'.repeat(20)}`, { status: 'ERROR' });
    const { stdout } = await world.cli(['status'], { terminal: true, env: { NO_COLOR: '1' } });
    expect(stdout).not.toContain('\u001b');
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });
});

test('shows no costs if nothing bills, and no rate if nothing can be read', async () => {
  await known(service.instance('over', { status: 'TERMINATED', price_per_hour_snapshot: '0' }));
  await world.cli(['status', '--all']);
  await known(service.instance('odd', { status: 'HIBERNATING' }));
  await world.cli(['status']);
  await known(service.instance('trainer', { price_per_hour_snapshot: null }));
  service.broken.set('/instances', 'hangUp');
  service.broken.set('/storage', 'hangUp');
  await world.cli(['status']);
});

describe('status with unreadable parts', () => {
  const FAULT = { status: 500, body: { statusCode: 500, message: 'boom', error: 'Internal' } };

  test.each([
    ['/billing/transactions', 'transactions', 'the transactions'],
    ['/storage/drives', 'drives', 'the drives'],
    ['/users/me', 'profile', 'the balance'],
  ])('shows the readable parts, and exits with 1: %s', async (path, part, words) => {
    await known(service.instance('trainer'));
    service.drive('data');
    service.broken.set(path, FAULT);
    const { stdout, stderr } = await world.cli(['status']);
    expect(stdout).toContain(`- Could not read ${words}, exit code 1: `);
    expect(stderr).toContain(`error: Could not read ${words} (the rest is shown): `);
    const { doc } = await status();
    expect(doc.unread).toMatchObject([{ part, code: 'refused' }]);
    expect(doc.charges === null).toBe(part !== 'profile');
    expect(doc.burn.per_hour === null).toBe(part === 'drives');
    expect(doc.hours_left === null).toBe(part !== 'transactions');
  });

  test('shows the last known state of an unreadable instance', async () => {
    const id = service.instance('trainer');
    await known(id, service.instance('second'));
    service.broken.set(`/instances/${id}`, FAULT);
    await status();
  });

  test('counts instances, drives, problems and unread parts in a row', async () => {
    const id = service.instance('trainer');
    await known(id, service.instance('second'));
    for (const name of ['one', 'two', 'six']) service.drive(name);
    service.broken.set(`/instances/${id}`, FAULT);
    service.balance = '1000.00';
    const columns =
      'balance,per_hour,per_day,per_month,unexplained,instances,drives,attention,unread';
    const { code, stdout } = await world.cli(['status', '-o', 'csv', '--columns', columns]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: `${columns}\n1000.00,197.80,4747.20,142416.00,0.00,2,3,2,instances\n`,
    });
  });

  test('prints one error and the last known state if nothing can be read', async () => {
    await known(service.instance('trainer'));
    service.broken.set('/', 'hangUp');
    const { code, stderr } = await world.cli(['status']);
    expect(code).not.toBe(0);
    expect(stderr.match(/^error: /gm)).toHaveLength(1);
  });

  test('prints nothing to stdout if the key is refused', async () => {
    await known(service.instance('trainer'));
    service.broken.set('/', { status: 401, body: { statusCode: 401, message: 'no', error: 'no' } });
    expect(await world.cli(['status'])).toMatchObject({ code: 4, stdout: '' });
  });
});
