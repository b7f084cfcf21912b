import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type CliOptions, createWorld, TEST_KEY, type World } from '../../support/run-cli.ts';
import { type Answer, envelope, type Handler } from '../../support/service.ts';

export interface Check {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly hint: string | null;
}

export const NOW = '2026-01-15T12:00:00.000Z';
export const USER = { id: 'u1', email: 'ann@example.com', name: 'Ann', balance: '1.00' };

export function answer(status: number, body: unknown, date: string | undefined = NOW): Answer {
  const headers = date === undefined ? {} : { date: new Date(date).toUTCString() };
  return { status, headers, body };
}

/** Creates a service whose account has these SSH keys. */
export const serving =
  (keys: readonly object[] = [], date?: string, user: object = USER): Handler =>
  ({ path }) =>
    answer(200, envelope(path === '/ssh-keys' ? keys : user), date);

export const well = serving();

export async function worldOf(handler: Handler = well, signedIn = true): Promise<World> {
  const world = await createWorld({ handler, signedIn, isKeyNew: true });
  await fakeSsh(world, 'echo "OpenSSH_9.2p1 Test" >&2');
  return world;
}

export const bin = (world: World) => join(world.home, 'bin');

export async function fakeSsh(world: World, script: string): Promise<void> {
  await mkdir(bin(world), { recursive: true });
  await writeFile(join(bin(world), 'ssh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

export const withSsh = (world: World, env: CliOptions['env'] = {}) => ({
  env: { PATH: bin(world), LANG: 'C.UTF-8', ...env },
});

/** Runs doctor, and finds its checks by ID. */
export async function examine(world: World, env: CliOptions['env'] = {}, ...argv: string[]) {
  return read(world, argv, withSsh(world, env));
}

export async function read(world: World, argv: readonly string[], given: CliOptions) {
  const { code, stdout, stderr, requests } = await world.cli(['doctor', '--json', ...argv], given);
  const report = JSON.parse(stdout) as { checks: Check[]; ok: boolean };
  const failed = report.checks.filter(({ status }) => status === 'fail').map(({ id }) => id);
  expect({ ok: report.ok, code }).toEqual({
    ok: failed.length === 0,
    code: failed.length === 0 ? 0 : 1,
  });
  const error = `"message":"${failed.length} of 19 checks failed: ${failed.join(', ')}."`;
  if (failed.length > 0) expect(stderr).toContain(error);
  expect(stdout + stderr).not.toContain(TEST_KEY);
  const of = (id: string) => report.checks.find((check) => check.id === id);
  return { code, report, of, stderr, requests };
}

const USUAL = [
  'program pass npm package /usr/lib/node_modules/gpucloud/bin/gpucloud.js',
  'node warn not checked: the Node.js version is unknown',
  'ssh pass OpenSSH_9.2p1 Test',
  'completion pass not installed',
  'profile pass no profile is active',
  'base_url pass $URL, from GPUCLOUD_BASE_URL',
  'api_key pass svc_sk_test_…, from GPUCLOUD_API_KEY',
  'config_folder pass $HOME/config does not exist yet; gpucloud creates it when needed',
  'config_file pass $HOME/config/config.json does not exist yet: no profiles',
  'state_folder pass $HOME/state does not exist yet; gpucloud creates it when needed',
  'state_writable pass $HOME/state can be created',
  'proxy pass none for $HOST',
  "certificates pass trusts Node.js's bundled CA certificates",
  'service pass $URL responded in 0 ms',
  'account pass the key belongs to ann@example.com',
  'ssh_key warn the account has no SSH key → add one: gpucloud ssh-keys add',
  'deadlines pass "instances reap" is not scheduled',
  'mcp pass agents can read; to rent within a budget, they need a scheduled "instances reap"',
  "clock pass 1 s behind the service's clock",
];

/** Returns the checks that differ from those of a computer without any files. */
export function unusual({ checks }: { checks: readonly Check[] }, world: World): string[] {
  return checks
    .map(({ id, status, message, hint }) =>
      `${id} ${status} ${message}${hint === null ? '' : ` → ${hint}`}`
        .replaceAll(world.home, '$HOME')
        .replaceAll(world.service.url, '$URL')
        .replaceAll(new URL(world.service.url).host, '$HOST'),
    )
    .filter((line) => !USUAL.includes(line));
}
