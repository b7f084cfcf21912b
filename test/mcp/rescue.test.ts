import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type DeadlineWorld, deadlineWorld, ID } from '../commands/instances/deadlines/world.ts';
import { type FakeSsh, fakeSsh, realSleeps } from '../idle/usage-world.ts';
import { addKey } from '../jobs/rescue/rented.ts';
import { needs } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';
import { IMAGE, OFFER } from '../support/sandbox-ids.ts';
import { budget, openAgent, waitingClock } from './agent.ts';

const PORT = 1;

let ssh: FakeSsh;
let world: DeadlineWorld;

beforeEach(async () => {
  ssh = fakeSsh();
  ssh.add(PORT);
  world = await deadlineWorld({ clock: realSleeps() });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
  ssh.close();
});

const terminations = () =>
  world.service.requests.filter(({ path }) => path.endsWith('/terminate')).length;
const got = (name: string) => join(world.home, 'got', name);

async function failing() {
  const { stdout } = await world.cli(['instances', 'get', 'trainer', '--json']);
  return JSON.parse(stdout).rescue_failing;
}

/** Starts a session that rents an instance, for which a person sets `--rescue`. */
async function begin(more: string[] = [], options: Parameters<typeof openAgent>[2] = {}) {
  const agent = await rent({}, options);
  const words = ['--after', '2h', '--rescue', `out:${got('')}`, ...more];
  const { code, stderr } = await world.cli(['instances', 'expire', 'trainer', ...words], {
    env: ssh.env,
  });
  expect(code, stderr).toBe(0);
  return agent;
}

/** Begins a session that rents an instance. */
async function rent(given: object, options: Parameters<typeof openAgent>[2] = {}) {
  const own = addKey(world.home);
  world.rented.sshKeys = [own];
  world.rented.shows = () => ({ price_per_hour_snapshot: '89.90' });
  const agent = await openAgent(world, ['--allow', 'all', ...budget(1000)], {
    env: ssh.env,
    ...options,
  });
  const made = await agent.call('instances_create', {
    name: 'trainer',
    offer: [OFFER],
    image: IMAGE,
    terminate_after: '2h',
    max_price: '100',
    ...given,
  });
  expect(made).toMatchObject({ isError: false });
  world.rented.rent(ID, 'trainer', {
    status: 'ACTIVE',
    price_per_hour_snapshot: '89.90',
    ...{ ip_address: '192.168.5.6', ssh_username: 'root', ssh_port: PORT, ssh_keys: [own] },
  });
  return agent;
}

describe('the end of a session', needs('ssh'), () => {
  test('copies the --rescue paths of its instance, then terminates it', async () => {
    const agent = await begin();
    ssh.write(PORT, 'home/out/a', 'result\n');
    const { code, stderr } = await agent.end();
    expect(code, stderr).toBe(0);
    expect(readFileSync(got('a'), 'utf8')).toBe('result\n');
    expect(terminations()).toBe(1);
  });

  test('copies the --rescue paths of an agent, and reserves its budget', async () => {
    vi.spyOn(process, 'cwd').mockReturnValue(world.home);
    const agent = await rent({ rescue: ['out:got'], rescue_budget: '50' });
    ssh.write(PORT, 'home/out/a', 'result\n');
    // 3 hours until 10 minutes after the deadline, the budget, and the hour that it may begin.
    expect(await agent.purse()).toMatchObject({ committed: '450.00' });
    const { code, stderr } = await agent.end();
    expect(code, stderr).toBe(0);
    expect(readFileSync(got('a'), 'utf8')).toBe('result\n');
    expect(terminations()).toBe(1);
  });

  test('terminates without copying after SIGTERM if nothing enforces deadlines', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const agent = await begin([], { interrupts: { first: first.signal, second: second.signal } });
    agent.pipes.stdin.end();
    await expect.poll(failing, { timeout: 20_000 }).not.toBeNull();
    expect(terminations()).toBe(0);
    first.abort(new CliError('terminated', 'Terminated.'));
    const { code, stderr } = await agent.ended;
    expect(code, stderr).toBe(125);
    expect(stderr).toContain(
      'Terminating trainer although its --rescue is incomplete (not copied: out).',
    );
    expect(terminations()).toBe(1);
  });

  test('tries once without a budget, and reports what is missing', async () => {
    const agent = await begin(['--rescue-budget', '0']);
    const { code, stderr } = await agent.end();
    expect(code, stderr).toBe(125);
    expect(stderr).toContain('(not copied: out)');
    expect(existsSync(got('a'))).toBe(false);
    expect(terminations()).toBe(1);
  });
});

test('a session keeps its instance if it cannot store what it copied', needs('ssh'), async () => {
  const agent = await begin();
  ssh.write(PORT, 'home/out/a', 'result\n');
  const file = join(world.home, 'state', 'rescues');
  writeFileSync(file, '');
  const { code, stderr } = await agent.end();
  expect({ code, terminations: terminations() }, stderr).toEqual({ code: 9, terminations: 0 });
  expect(stderr.split('\n').slice(-3)).toEqual([
    `error: Could not copy the --rescue paths of trainer: Could not write the list of rented instances: ${file} is not a folder. It was not terminated. It may still be billing.`,
    'hint: when that is solved: gpucloud instances terminate trainer --rescue; without copying: gpucloud instances terminate trainer',
    '',
  ]);
});

describe('the budget of a session', needs('ssh'), () => {
  // Three started hours at 100 roubles until the deadline.
  test.each([
    ['an hour', [], '400.00'],
    ['its budget and the hour in which it ends', ['--rescue-budget', '50'], '450.00'],
    ['nothing', ['--rescue-budget', '0'], '300.00'],
  ])('counts %s for --rescue', async (_what, more, committed) => {
    const agent = await begin(more);
    expect(await agent.purse()).toMatchObject({ committed });
    ssh.write(PORT, 'home/out/a', 'result\n');
    expect(await agent.end()).toMatchObject({ code: 0 });
  });

  test('rejects a request whose --rescue could exceed it, and sends nothing', async () => {
    world.rented.sshKeys = [addKey(world.home)];
    const agent = await openAgent(world, ['--allow', 'all', ...budget(149)], { env: ssh.env });
    const given = { name: 'trainer', offer: [OFFER], image: IMAGE, max_price: '50' };
    const asked = { terminate_after: '50m', rescue: ['out:got'], rescue_budget: '50' };
    expect(await agent.call('instances_create', { ...given, ...asked })).toMatchObject({
      isError: true,
      error: {
        code: 'guard',
        message:
          'The session may spend 149.00 ₽. 0.00 ₽ is spent or reserved, and trainer may cost 150.00 ₽ until its --rescue has ended. Nothing was sent.',
      },
    });
    expect(world.service.requests.filter(({ method }) => method === 'POST')).toEqual([]);
    await agent.end();
  });
});

test(
  'a copy that fails does not delay the deadline of another instance',
  needs('ssh'),
  async () => {
    await world.close();
    const clock = waitingClock();
    world = await deadlineWorld({ clock });
    const agent = await begin(['--rescue-budget', '200']);
    world.rented.newId = () => NEW;
    const given = { name: 'other', offer: [OFFER], image: IMAGE, terminate_after: '3h' };
    const made = await agent.call('instances_create', { ...given, max_price: '100' });
    expect(made).toMatchObject({ isError: false });
    clock.advance(121 * 60_000);
    await expect.poll(failing, { timeout: 20_000 }).not.toBeNull();
    expect(terminations()).toBe(0);
    clock.advance(60 * 60_000);
    const status = () => world.rented.instances.get(NEW)?.status;
    await expect.poll(status, { timeout: 20_000 }).toBe('TERMINATING');
    world.rented.terminate(ID);
    const ticking = setInterval(() => clock.advance(30_000), 50);
    onTestFinished(() => clearInterval(ticking));
    expect(await agent.end()).toMatchObject({ code: 0 });
  },
);
