import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../support/account-service.ts';
import { type Computer, createComputer, PROGRAM, RUNNER } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Service, startService } from '../support/service.ts';
import { openTerminal } from '../support/terminal.ts';

/** Compares the terminal output of the built program with screens/, ignoring times. */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let computer: Computer;
let account: AccountService;
let service: Service;
beforeEach(async () => {
  computer = await createComputer();
  account = new AccountService(Date.now());
  service = await startService(account.handler);
});

function env(): Record<string, string> {
  return { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' };
}

async function run(...argv: string[]): Promise<number | null> {
  return (await computer.gpucloud(argv, { env: env() })).code;
}

interface Look {
  readonly term?: string;
  readonly zone?: string;
}

async function draw(
  columns: number,
  argv: readonly string[],
  { term = 'xterm-256color', zone = 'UTC' }: Look = {},
) {
  const terminal = openTerminal({
    program: RUNNER,
    args: [PROGRAM, ...argv],
    env: { ...computer.env, ...env(), TZ: zone, ...(term === 'dumb' ? { NO_COLOR: '1' } : {}) },
    cwd: computer.home,
    columns,
    rows: 60,
    term,
  });
  const code = await terminal.ended();
  const screen = terminal.scrollback();
  const written = terminal.written();
  await terminal.close();
  return { code, screen, written };
}

/** Returns the width of the widest line, since a wider line would wrap. */
function widest(written: string): number {
  const lines = stripVTControlCharacters(written).split(/\r?\n/);
  return Math.max(...lines.map((line) => stringWidth(line)));
}

/** Replaces dates and elapsed minutes with placeholders. */
function timeless(screen: string): string {
  return screen
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d \+00:00/g, 'YYYY-MM-DD HH:MM +00:00')
    .replace(/requested (now|\d+ s ago)/, 'requested N s ago')
    .replace(/^(lost +UNKNOWN +- +- +)\d+ s /m, '$1N s ');
}

async function picture(name: string, columns: number, argv: readonly string[] = ['status']) {
  const { screen, written } = await draw(columns, argv);
  expect(widest(written)).toBeLessThanOrEqual(columns);
  await expect(`${timeless(screen)}\n`).toMatchFileSnapshot(`screens/${name}-${columns}.txt`);
  return screen;
}

const SCENES: Readonly<Record<string, () => Promise<void>>> = {
  empty: async () => {},
  'one machine': async () => {
    expect(await run('instances', 'track', account.instance('trainer'))).toBe(0);
  },
  'names of the world': async () => {
    await run(
      'instances',
      'track',
      account.instance('обучение-модели'),
      account.instance('日本語の機械', { price_per_hour_snapshot: '1234.505', status: 'STOPPED' }),
      account.instance('rocket-🚀-👩‍💻', { status: 'INSTALLING' }),
      account.instance(`${'long-'.repeat(9)}name`, { price_per_hour_snapshot: '5' }),
    );
    account.drive('Данные 数据 🚀');
    account.drive('d'.repeat(120), { price_per_hour: '0.12' });
  },
  'fifty machines': async () => {
    const ids = Array.from({ length: 50 }, (_, at) =>
      account.instance(`box-${at + 1}`, { price_per_hour_snapshot: `${100 - at}.50` }),
    );
    account.balance = '1000000.00';
    await run('instances', 'track', ...ids);
  },
  'three hours': async () => {
    account.balance = '270.50';
    await run('instances', 'track', account.instance('trainer'));
  },
  'a suspended drive': async () => {
    account.balance = '0.00';
    account.drive('datasets', {
      status: 'SUSPENDED',
      paid_until: account.ago(2 * DAY + HOUR / 2),
      last_billed_at: account.ago(2 * DAY + HOUR / 2),
      updated_at: account.ago(DAY + HOUR / 2),
    });
  },
  'an unknown': async () => {
    account.broken.set('/instances', 'hangUp');
    expect(await run('instances', 'create', 'lost', ...HARDWARE)).toBe(7);
    account.broken.clear();
    const created_at = account.ago(3 * DAY);
    await run('instances', 'track', account.instance('trainer', { created_at }));
    for (let hour = 0; hour < 24; hour += 1) {
      account.transaction('USAGE_CHARGE', '100.00', hour * HOUR + 60_000);
    }
  },
};

describe('status in a terminal', () => {
  test.each(Object.keys(SCENES))('shows status with %s', async (scene) => {
    await SCENES[scene]?.();
    for (const columns of [80, 120]) await picture(`status-${scene.replaceAll(' ', '-')}`, columns);
  });

  test.each([40, 200])('fits names in any script into %i columns', async (columns) => {
    await SCENES['names of the world']?.();
    const { written } = await draw(columns, ['status']);
    // Words of commands and some table columns are never truncated.
    const lines = stripVTControlCharacters(written).split(/\r?\n/);
    const wide = lines.filter(
      (line) => stringWidth(line) > columns && !/gpucloud|₽|[0-9a-f-]{36}$/.test(line),
    );
    expect(wide).toEqual([]);
  });

  test('prints status without cursor movement or colour on a dumb terminal', async () => {
    await SCENES['one machine']?.();
    const { written } = await draw(80, ['status'], { term: 'dumb' });
    expect(written).not.toContain('\u001b');
  });

  test('redraws with --watch until Ctrl-C, and leaves the last frame', async () => {
    await SCENES['one machine']?.();
    const terminal = openTerminal({
      program: RUNNER,
      args: [PROGRAM, 'status', '--watch', '--interval', '1s'],
      env: { ...computer.env, ...env(), TZ: 'UTC' },
      cwd: computer.home,
      columns: 80,
      rows: 40,
    });
    await terminal.shows(/trainer +ACTIVE +89\.90 ₽/);
    account.balance = '777.00';
    await terminal.shows(/Balance +777\.00 ₽/);
    account.broken.set('/', 'hangUp');
    await terminal.shows(/Trying again/);
    expect(terminal.screen()).toMatch(/Balance +777\.00 ₽/);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.screen()).toMatch(/trainer +ACTIVE/);
  });
});

/** Returns a time zone where it is noon, so that the nearby hours fall on one day. */
function zoneAtNoon(moment: number): string {
  const east = 12 - new Date(moment).getUTCHours();
  // The signs in these zone names are inverted.
  return east === 0 ? 'UTC' : `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

describe('billing spend in a terminal', () => {
  const spend = (columns: number, look: Look = {}) =>
    draw(columns, ['billing', 'spend'], { zone: zoneAtNoon(account.now), ...look });

  function month(): void {
    for (let day = 0; day < 12; day += 1) {
      account.transaction('USAGE_CHARGE', `${(day % 5) * 431}.505`, day * DAY + HOUR);
    }
    account.transaction('DEPOSIT', '5000.00', 3 * DAY);
    account.transaction('REFUND', '31.505', 2 * DAY);
  }

  test.each([80, 120])('draws the chart of billing spend in %i columns', async (columns) => {
    month();
    const { screen, written } = await spend(columns);
    // Ignores the two lines of stderr, which wrap.
    const chart = screen.split('\n').filter((line) => /^\d{4}-/.test(line));
    expect(chart).toHaveLength(12);
    expect(widest(written.split('Spent')[0] ?? '')).toBeLessThanOrEqual(columns);
    // The bars are proportional to the longest bar, within one cell.
    const bars = chart.map((line) => (line.match(/█/g) ?? []).length);
    const amounts = chart.map((line) => Number(/([\d.,]+) ₽/.exec(line)?.[1]?.replaceAll(',', '')));
    const most = Math.max(...amounts);
    const longest = Math.max(...bars);
    expect(longest).toBeGreaterThan(columns / 2);
    bars.forEach((bar, at) => {
      expect(Math.abs(bar - ((amounts[at] ?? 0) / most) * longest)).toBeLessThan(1.01);
    });
    const shown = chart.map((line) => line.replace(/^\d{4}-\d\d-\d\d/, 'YYYY-MM-DD'));
    await expect(`${shown.join('\n')}\n`).toMatchFileSnapshot(`screens/spend-${columns}.txt`);
  });

  test('omits bars on a dumb terminal, since a screen reader would read them', async () => {
    month();
    const { screen } = await spend(80, { term: 'dumb' });
    expect(screen).not.toContain('█');
    expect(screen).toMatch(/1,724\.505 ₽/);
  });

  test('omits bars but shows all amounts in 24 columns', async () => {
    month();
    const { screen } = await spend(24);
    expect(screen).not.toContain('█');
    expect(screen).toMatch(/1,724\.505 ₽/);
  });
});

test('shows billing runway in a terminal', async () => {
  account.balance = '270.50';
  await run('instances', 'track', account.instance('trainer'));
  const { code, screen } = await draw(80, ['billing', 'runway', '--fail-below', '24h']);
  expect(code).toBe(5);
  await expect(`${timeless(screen)}\n`).toMatchFileSnapshot('screens/runway-80.txt');
});
