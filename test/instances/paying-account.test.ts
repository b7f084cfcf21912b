import { beforeEach, expect, test } from 'vitest';
import { ANNA_KEY, accounts, BORIS_KEY } from '../commands/login/accounts.ts';
import { needs } from '../support/needs.ts';
import { createWorld, type World } from '../support/run-cli.ts';
import { HARDWARE, OFFERED } from '../support/sandbox-ids.ts';
import { ok } from '../support/service.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({
    signedIn: false,
    handler: (request) =>
      request.path.startsWith('/users/me')
        ? accounts(request)
        : ok(request.path === '/ssh-keys' ? [{ id: 'k', name: 'laptop' }] : []),
  });
});

const login = (profile: string, key: string) =>
  world.cli(
    [
      ...['login', '--profile', profile, '--base-url', world.service.url, '--key-stdin'],
      ...['--store', 'file'],
    ],
    { stdin: `${key}\n` },
  );
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE, '--dry-run'];
const first = ({ stderr, stdout }: { stderr: string; stdout: string }) =>
  `${stderr}${stdout}`.split('\n')[0];

test('names no account with a single profile', async () => {
  await login('first', ANNA_KEY);
  expect(first(await world.cli(CREATE))).toMatch(/^Price per hour/);
  expect((await world.cli(['status'])).stdout).not.toContain('Account');
});

test('names the account that pays, if there are several profiles', needs('ssh'), async () => {
  await login('first', ANNA_KEY);
  await login('second', BORIS_KEY);
  const BORIS = 'Account: Boris (profile second)';
  expect(first(await world.cli(CREATE))).toBe(BORIS);
  expect(first(await world.cli(['--profile', 'first', ...CREATE]))).toBe(
    'Account: anna@example.com (profile first)',
  );
  const run = ['run', ...OFFERED, '--terminate-after', '1h', '--identity', '/dev/null'];
  expect(first(await world.cli([...run, '--dry-run', '--', 'true']))).toBe(BORIS);
  expect(first(await world.cli(['status']))).toMatch(/^Account +Boris \(profile second\)$/);
  expect(first(await world.cli(['--profile', 'sandbox', ...CREATE]))).toBe(
    'Account: the sandbox, which costs nothing (profile sandbox)',
  );
  const env = { GPUCLOUD_API_KEY: ANNA_KEY };
  expect(first(await world.cli(CREATE, { env }))).toBe('Account: the one of GPUCLOUD_API_KEY');
});

test('names the account before the first question', async () => {
  await login('first', ANNA_KEY);
  await login('second', BORIS_KEY);
  await world.cli(['instances', 'create', '--dry-run'], {
    terminal: true,
    stdin: '\u0003',
  });
});

test('reorder names the account and says that the price is unknown before it rents', async () => {
  await login('first', ANNA_KEY);
  await login('second', BORIS_KEY);
  const id = '11111111-2222-4333-8444-555555555555';
  await world.cli(['instances', 'reorder', id, 'trainer-2']);
});

test('login names the profile that was active before', async () => {
  await login('first', ANNA_KEY);
  await login('second', BORIS_KEY);
  expect((await login('second', BORIS_KEY)).stderr).not.toContain('Switched');
});

test('warns once that variables override --profile, and names the account that terminate uses', async () => {
  await login('first', ANNA_KEY);
  await login('second', BORIS_KEY);
  const terminate = ['--profile', 'first', 'instances', 'terminate', '--all', '--yes'];
  await world.cli(terminate);
  const env = { GPUCLOUD_API_KEY: BORIS_KEY };
  const warning =
    'GPUCLOUD_API_KEY overrides --profile first, so this command may use another account. To use the profile: unset GPUCLOUD_API_KEY';
  await world.cli(terminate, { env });
  await world.cli(['--profile', 'first', 'ssh-keys', 'list', '--json'], { env });
  // Reads only this computer's records.
  const local = await world.cli(['--profile', 'first', 'jobs', 'get', 'train'], { env });
  expect(local.stderr.split('\n')[0]).toBe(`warning: ${warning}`);
  await world.cli(['ssh-keys', 'list'], { env });
});

test('the loop that enforces deadlines names the active profile, which may change', async () => {
  await login('first', ANNA_KEY);
  await world.cli([...CREATE, '--terminate-after', '4h']);
});

test.each([
  ['50', true],
  ['89.90', false],
])('warns before renting if the last known price is over --max-price %s: %s', async (limit, is) => {
  const { stderr } = await world.cli([
    ...['--profile', 'sandbox', 'instances', 'create', 'trainer', '--no-ssh-key', '--dry-run'],
    ...['--offer', 'rtx-4090', '--image', 'ubuntu-22-04', '--max-price', limit],
  ]);
  const warning =
    'warning: The last known price of RTX 4090 is over --max-price 50.00 ₽. At that price, the new instance is terminated at once.\n';
  expect(stderr.includes(warning), stderr).toBe(is);
});
