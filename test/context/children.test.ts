import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { atTerminal } from '../support/at-terminal.ts';
import { createWorld, TEST_KEY, type World } from '../support/run-cli.ts';
import type { Handler } from '../support/service.ts';
import { ok } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const DATA: Readonly<Record<string, object>> = {
  '/users/me': { id: 'user-1', email: 'anna@example.com', name: 'Anna', balance: '1' },
  [`/instances/${ID}`]: {
    id: ID,
    name: 'trainer',
    status: 'ACTIVE',
    ip_address: '192.168.5.6',
    ssh_username: 'root',
    ssh_port: 22,
  },
};
const handler: Handler = ({ path }) =>
  path in DATA
    ? ok(DATA[path])
    : { status: 404, body: { statusCode: 404, message: 'no', error: 'Not Found' } };

let world: World;

/** Puts a program on PATH that prints the API key of its environment, or "none". */
async function install(name: string, first = ''): Promise<Record<string, string>> {
  const bin = join(world.home, 'bin');
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/sh\n${first}\necho "\${GPUCLOUD_API_KEY-none}"\n`;
  await writeFile(join(bin, name), script, { mode: 0o755 });
  return { PATH: `${bin}:/usr/bin:/bin` };
}

test('starts ssh without the API key', async () => {
  world = await createWorld({ handler });
  const env = await install('ssh');
  const { stdout } = await world.cli(['instances', 'ssh', ID], { env });
  expect(stdout).toBe('none\n');
});

test("masks the key on a key command's stderr, and prints everything else", async () => {
  world = await createWorld({ handler });
  const env = await install('vault', 'echo "unlocked: $GPUCLOUD_API_KEY" >&2');
  const login = ['login', '--base-url', world.service.url, '--key-command', 'vault'];
  const { code, stdout, stderr } = await world.cli(login, { env });
  expect(code).toBe(0);
  expect(stderr).toContain('unlocked: svc_sk_…\n');
  expect(stdout + stderr).not.toContain(TEST_KEY);
});

test('starts a key command with the whole environment', async () => {
  world = await createWorld({ handler });
  const env = await install('vault');
  const login = ['login', '--base-url', world.service.url, '--key-command', 'vault'];
  const { code, requests } = await world.cli(login, { env });
  expect(code).toBe(0);
  expect(requests[0]?.headers['x-api-key']).toBe(TEST_KEY);
});

test('withholds variables from later programs, even after an interrupt', async () => {
  world = await createWorld({ handler });
  const { context } = atTerminal(world, []);
  context.withhold(['GPUCLOUD_BASE_URL']);
  const printed: string[] = [];
  const start = async ({ start: begin }: Context) => {
    const hear = (text: string) => printed.push(text);
    const script = 'echo "${GPUCLOUD_BASE_URL-none} ${GPUCLOUD_STATE_DIR-none}"';
    const running = await begin({ file: 'sh', args: ['-c', script], hear });
    await running.ended;
  };
  await start(context);
  await context.shielded(start);
  const kept = `none ${world.env.GPUCLOUD_STATE_DIR}\n`;
  expect(printed).toEqual([kept, kept]);
});
