import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakeSsh } from '../idle/usage-world.ts';
import { createJobWorld, IMAGE, type JobWorld, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { addKey } from '../jobs/rescue/rented.ts';
import { needs } from '../support/needs.ts';
import { createComputer } from '../support/program.ts';
import { NEW } from '../support/renting-service.ts';
import { IMAGE as PLAY_IMAGE, OFFER as PLAY_OFFER } from '../support/sandbox-ids.ts';
import { until } from '../support/ssh-world.ts';
import { makeKey } from '../support/sshd.ts';

const HOUR = 3_600_000;
const CREATE = ['instances', 'create', 'box', '--offer', OFFER, '--image', IMAGE];

let world: JobWorld;

const here = (name: string) => join(world.computer.home, 'got', name);
const gpucloud = (...argv: string[]) => world.computer.gpucloud(argv, { env: world.env });

async function done(...argv: string[]) {
  const outcome = await gpucloud(...argv);
  expect(outcome.code, outcome.stderr).toBe(0);
  return outcome;
}

async function reap(env: Readonly<Record<string, string>> = {}) {
  const words = ['instances', 'reap', '--every', '5m', '--json'];
  const { code, stdout, stderr } = await world.computer.gpucloud(words, {
    env: { ...world.env, ...env },
  });
  return { code, rows: JSON.parse(stdout || 'null'), stderr };
}

/** Creates a service whose instances accept a key of this computer. */
async function begin(): Promise<void> {
  world = await createJobWorld();
  const { home } = world.computer;
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  for (const [from, to] of [
    [world.clientKey, 'id_ed25519'],
    [`${world.clientKey}.pub`, 'id_ed25519.pub'],
  ] as const) {
    writeFileSync(join(home, '.ssh', to), readFileSync(from), { mode: 0o600 });
  }
  const [key] = world.keys;
  if (key === undefined) throw new Error('the account has a key');
  key.public_key = readFileSync(`${world.clientKey}.pub`, 'utf8');
  const rent = world.renting.rent.bind(world.renting);
  world.renting.rent = (id, name, more) => rent(id, name, { ssh_keys: [key], ...more } as object);
}

/** Writes a large file on the instance, and returns its bytes. */
function results(folder: string): Buffer {
  const bytes = randomBytes(3_000_000);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'a'), bytes);
  return bytes;
}

/** Checks the copied files as a person would. */
function expectHashes(): void {
  const list = join(world.computer.home, 'state', 'rescues', `${NEW}.sha256`);
  const { stdout } = spawnSync('sha256sum', ['-c', list], { encoding: 'utf8' });
  expect(stdout).toBe(`${here('a')}: OK\n`);
}

describe('an instance with --rescue', { timeout: 120_000, ...needs('ssh') }, () => {
  test('whose deadline at 02:00 passes while its computer sleeps from 01:00 to 07:00 is rescued at 07:00', async () => {
    await begin();
    await done('profiles', 'add', 'work', '--base-url', world.service.url);
    await done('profiles', 'use', 'work');
    const events = join(world.computer.home, 'events');
    await done('profiles', 'set', 'work', '--notify', `sh -c "cat >>${events}"`);
    const ends = ['--terminate-after', '3h', '--unenforced'];
    await done(...CREATE, '--ssh-key', KEY_ID, ...ends, '--rescue', `out:${here('')}`);
    // The last pass before the computer sleeps: nothing to do yet.
    world.advance(2 * HOUR);
    expect(await reap()).toMatchObject({ code: 0, rows: [] });
    const bytes = results(join(world.there, 'out'));
    world.advance(6 * HOUR);
    const { code, rows, stderr } = await reap();
    expect({ code, rows }, stderr).toMatchObject({
      code: 0,
      rows: [
        {
          name: 'box',
          outcome: 'terminated',
          reason: 'deadline',
          rescued: [{ remote: 'out', files: 1, bytes: 3_000_000, changing: [], failure: null }],
        },
      ],
    });
    expect(rows[0].overdue_seconds).toBeGreaterThanOrEqual(5 * 3600);
    expect(readFileSync(here('a')).equals(bytes)).toBe(true);
    expectHashes();
    expect(world.status()).toBe('TERMINATING');
    const lines = readFileSync(events, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'rescued', name: 'box' },
      { event: 'terminated_at_deadline', name: 'box' },
    ]);
  });

  test('whose computer sleeps longer than the budget after a failed copy is copied once more', async () => {
    await begin();
    const ends = ['--terminate-after', '1h', '--unenforced', '--rescue-budget', '20'];
    await done(...CREATE, '--ssh-key', KEY_ID, ...ends, '--rescue', `out:${here('')}`);
    world.advance(1.1 * HOUR);
    expect(await reap()).toMatchObject({ code: 125, rows: [{ outcome: 'kept' }] });
    const bytes = results(join(world.there, 'out'));
    world.advance(6 * HOUR);
    expect(await reap()).toMatchObject({ code: 0, rows: [{ outcome: 'terminated' }] });
    expect(readFileSync(here('a')).equals(bytes)).toBe(true);
    expectHashes();
  });

  test('is rescued before its idle rule terminates it', async () => {
    world = await createJobWorld();
    const ssh = fakeSsh();
    onTestFinished(() => ssh.close());
    ssh.add(1);
    const key = addKey(world.computer.home);
    world.keys.splice(0, 1, key);
    const rule = ['--if-idle', '10m', '--unenforced', '--rescue', `out:${here('')}`];
    await done(...CREATE, '--ssh-key', KEY_ID, ...rule);
    const at = { ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: 1, ssh_keys: [key] };
    world.renting.rent(NEW, 'box', { status: 'ACTIVE', ...at } as object);
    const bytes = results(join(ssh.path(1, 'home'), 'out'));
    let seconds = 5_000;
    const pass = () => {
      world.advance(5 * 60_000);
      seconds += 5 * 60;
      ssh.write(1, 'proc/uptime', `${seconds}.25 9000.00\n`);
      return reap(ssh.env);
    };
    for (let count = 0; count < 2; count += 1) {
      expect(await pass()).toMatchObject({ code: 0, rows: [] });
    }
    expect(existsSync(here('a'))).toBe(false);
    const { code, rows, stderr } = await pass();
    expect({ code, rows }, stderr).toMatchObject({
      code: 0,
      rows: [{ name: 'box', outcome: 'terminated', reason: 'idle', rescued: [{ files: 1 }] }],
    });
    expect(readFileSync(here('a')).equals(bytes)).toBe(true);
    expectHashes();
    expect(world.status()).toBe('TERMINATING');
  });

  test('is rescued by run at the deadline of its job', async () => {
    await begin();
    const words = world.words('--unenforced', '--rescue', `out:${here('')}`);
    const command = ['sh', '-c', 'mkdir out; echo result >out/a; while :; do sleep 0.1; done'];
    const running = world.computer.gpucloud([...words, '--', ...command], { env: world.env });
    await until(() => existsSync(join(world.there, 'gpucloud-run', 'work', 'out', 'a')));
    await done('instances', 'expire', 'job', '--after', '1s');
    const { code, stderr } = await running;
    expect(code, stderr).toBe(125);
    expect(readFileSync(here('a'), 'utf8')).toBe('result\n');
    expectHashes();
    expect(world.status()).toBe('TERMINATING');
  });
});

describe('an instance of mcp with --rescue', { timeout: 120_000, ...needs('ssh') }, () => {
  test('is rescued at the end of the session', async () => {
    const computer = await createComputer();
    const play = (...argv: string[]) => computer.gpucloud(['--profile', 'sandbox', ...argv]);
    mkdirSync(join(computer.home, '.ssh'), { mode: 0o700 });
    const key = makeKey(join(computer.home, '.ssh'), 'id_ed25519');
    expect(await play('ssh-keys', 'add', `${key}.pub`, '--default')).toMatchObject({ code: 0 });
    const budget = ['--max-cost', '1000', '--for', '4h', '--unenforced'];
    const child = computer.start(['--profile', 'sandbox', 'mcp', '--allow', 'all', ...budget]);
    let written = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
    const given = {
      ...{ name: 'lab', offer: [PLAY_OFFER], image: PLAY_IMAGE },
      ...{ max_price: '90', terminate_after: '2h', wait: 'ssh' },
    };
    const params = { name: 'instances_create', arguments: given };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    child.stdin.write(`${JSON.stringify(call)}\n`);
    await expect.poll(() => written, { timeout: 60_000 }).toContain('"id":1');
    expect(written).toContain('"isError":false');
    const local = join(computer.home, 'got');
    const rescue = ['instances', 'expire', 'lab', '--rescue', `out:${local}`];
    expect(await play(...rescue)).toMatchObject({ code: 0 });
    const write = ['instances', 'ssh', 'lab', '--', 'mkdir out; echo result >out/a'];
    expect(await play(...write)).toMatchObject({ code: 0 });
    child.stdin.end();
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    expect(readFileSync(join(local, 'a'), 'utf8')).toBe('result\n');
    const { stdout } = await play('instances', 'list', '--all', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'lab', status: expect.stringMatching(/^TERMINAT/) },
    ]);
  });
});
