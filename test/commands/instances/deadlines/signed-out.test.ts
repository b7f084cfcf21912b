import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { TEST_KEY } from '../../../support/run-cli.ts';
import { no } from '../../../support/service.ts';
import { warningsOf } from '../../../support/stderr-lines.ts';
import { CREATE, type DeadlineWorld, deadlineWorld } from './world.ts';

let world: DeadlineWorld;
beforeEach(async () => {
  world = await deadlineWorld({ signedIn: false });
  mkdirSync(join(world.home, 'bin'));
  program('systemctl', 'exit 1');
  program(
    'crontab',
    `case $1 in
      -l) cat "$STATE/crontab" 2>/dev/null || { echo "no crontab for me" >&2; exit 1; } ;;
      -) cat > "$STATE/crontab" ;;
    esac`,
  );
  program('ps', 'echo "  1 init"; echo " 42 cron"');
  await login('work');
});

function program(name: string, script: string): void {
  const path = join(world.home, 'bin', name);
  writeFileSync(path, `#!/bin/sh\nSTATE='${world.home}'\n${script}\n`);
  chmodSync(path, 0o755);
}

const REAP = ['instances', 'reap'];
const cli = (argv: readonly string[], env: Record<string, string> = {}, stdin = '') =>
  world.cli(argv, {
    env: { PATH: `${join(world.home, 'bin')}:/usr/bin:/bin`, ...env },
    stdin,
  });
const crontab = () => readFileSync(join(world.home, 'crontab'), 'utf8');

async function login(profile: string, key = TEST_KEY): Promise<number> {
  const words = ['login', '--profile', profile, '--base-url', world.service.url, '--yes'];
  const { code } = await cli([...words, '--key-stdin', '--store', 'file'], {}, `${key}\n`);
  return code;
}

/** Schedules a profile in the crontab, then runs `reap` as cron would. */
async function arm(profile: string): Promise<void> {
  // No cron runs in this test, so --install fails.
  expect((await cli(['--profile', profile, ...REAP, '--install'])).code).toBe(1);
  const [entry = ''] = new RegExp(`gpucloud-reap-${profile}-[0-9a-f]+$`, 'm').exec(crontab()) ?? [];
  const env = { GPUCLOUD_REAP_ENTRY: entry };
  expect((await cli(['--profile', profile, ...REAP, '--every', '5m'], env)).code).toBe(0);
}

async function rentInFourHours(): Promise<void> {
  const { code, stderr } = await cli([...CREATE, '--terminate-after', '4h']);
  expect(code, stderr).toBe(0);
}

async function status(profile = 'work') {
  const { stdout } = await cli(['--profile', profile, ...REAP, '--status', '--json']);
  return JSON.parse(stdout);
}

/** Returns the warning about an unenforced deadline in four hours. */
const unenforced = (why: RegExp | string) =>
  expect.stringMatching(
    new RegExp(
      `^Nothing on this computer enforces the deadline of trainer \\(2026-01-1\\d [^)]*\\): ${
        typeof why === 'string' ? why : why.source
      }\\.$`,
    ),
  );
const ofDeadlines = (stderr: string) =>
  warningsOf(stderr).filter((text) => text.includes('enforces'));

describe('logout', () => {
  test('lists the deadlines that are no longer enforced', async () => {
    await arm('work');
    await rentInFourHours();
    expect(await status()).toMatchObject({ armed: true, reason: null });
    const { stderr } = await cli(['logout', '--json']);
    expect(ofDeadlines(stderr)).toEqual([unenforced('the profile "work" has no key')]);
    expect(await status()).toMatchObject({
      armed: false,
      reason: 'the profile "work" has no key',
    });
    expect(await login('work')).toBe(0);
    expect(await status()).toMatchObject({ armed: true, reason: null });
  });

  test('stops enforcement even if a run is in progress', async () => {
    await arm('work');
    await rentInFourHours();
    const { handler } = world.rented;
    let logout: Promise<unknown> | undefined;
    Object.assign(world.rented, {
      handler: async (request: Parameters<typeof handler>[0]) => {
        logout ??= cli(['logout']);
        await logout;
        return handler(request);
      },
    });
    expect((await cli([...REAP, '--every', '5m'])).code).toBe(0);
    expect(logout).toBeDefined();
    expect(await status()).toMatchObject({ armed: false });
  });

  test('omits the deadlines while another profile of the account enforces them', async () => {
    await login('home');
    await arm('home');
    await arm('work');
    await rentInFourHours();
    const { stderr } = await cli(['--profile', 'work', 'logout', '--json']);
    expect(ofDeadlines(stderr)).toEqual([]);
    expect(await status()).toMatchObject({ armed: false });
    expect(await status('home')).toMatchObject({ armed: true });
  });
});

describe('profiles remove', () => {
  test("removes the profile's schedule, and lists the deadlines that are no longer enforced", async () => {
    await login('home');
    await arm('home');
    await arm('work');
    const [home] = crontab().split('\n');
    await rentInFourHours();
    await cli(['profiles', 'remove', 'home', '--yes']);
    expect(crontab()).not.toContain(home);
    expect(crontab()).toContain('gpucloud-reap-work-');
    const { stderr } = await cli(['profiles', 'remove', 'work', '--yes', '--json']);
    expect(crontab()).toBe('');
    expect(ofDeadlines(stderr)).toEqual([unenforced('"instances reap" is not scheduled')]);
    await login('work');
    expect(await status()).toMatchObject({ armed: false, scheduler: null });
  });

  test("keeps the profile if its schedule can't be removed", async () => {
    await arm('work');
    program('crontab', 'test "$1" = -l && cat "$STATE/crontab"');
    await cli(['profiles', 'remove', 'work', '--yes']);
    expect((await cli(['profiles', 'get', 'work'])).code).toBe(0);
  });

  test('removes a profile on a computer without a scheduler', async () => {
    expect((await cli(['profiles', 'remove', 'work', '--yes'])).code).toBe(0);
    expect(existsSync(join(world.home, 'crontab'))).toBe(false);
  });
});

describe('a refused key', () => {
  const refuse = () => {
    const { handler } = world.rented;
    Object.assign(world.rented, {
      handler: (request: Parameters<typeof handler>[0]) =>
        request.headers['x-api-key'] === TEST_KEY ? no(401, 'Unauthorized') : handler(request),
    });
    return () => Object.assign(world.rented, { handler });
  };
  const why = /"instances reap" failed now: The service did not accept the API key .*/;

  test.each([
    ['a command', ['drives', 'list', '--json']],
    ['a scheduled run', [...REAP, '--every', '5m', '--json']],
  ])(
    'lists the deadlines as no longer enforced after %s with a refused key',
    async (_what, argv) => {
      await arm('work');
      await rentInFourHours();
      const accept = refuse();
      const { stderr } = await cli(argv);
      expect(ofDeadlines(stderr)).toEqual([unenforced(why)]);
      expect(await status()).toMatchObject({ armed: false, reason: expect.stringMatching(why) });
      accept();
      expect((await cli([...REAP, '--every', '5m'])).code).toBe(0);
      expect(await status()).toMatchObject({ armed: true, reason: null });
    },
  );

  test('keeps enforcing deadlines if another key was refused, or if a proxy refused the key', async () => {
    await arm('work');
    await rentInFourHours();
    const { handler } = world.rented;
    Object.assign(world.rented, {
      handler: (request: Parameters<typeof handler>[0]) =>
        request.headers['x-api-key'] === TEST_KEY ? handler(request) : no(401, 'Unauthorized'),
    });
    const other = 'svc_sk_other_0123456789abcdef';
    expect(await login('work', other)).toBe(4);
    const env = { GPUCLOUD_API_KEY: other, GPUCLOUD_BASE_URL: world.service.url };
    expect(await cli(['drives', 'list', '--json'], env)).toMatchObject({ code: 4 });
    expect(await status()).toMatchObject({ armed: true, reason: null });
    Object.assign(world.rented, {
      handler: () => ({ status: 401, body: '<html>Sign in</html>' }),
    });
    const page = await cli(['drives', 'list', '--json']);
    expect({ code: page.code, warnings: ofDeadlines(page.stderr) }).toEqual({
      code: 4,
      warnings: [],
    });
    expect(await status()).toMatchObject({ armed: true, reason: null });
  });
});
