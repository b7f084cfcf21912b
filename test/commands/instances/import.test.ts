import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { NEW, RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE];

let world: World;
let service: RentingService;
afterEach(() => world.close());

async function begin(): Promise<void> {
  service = new RentingService();
  world = await createWorld({ handler: service.handler });
}

/** A creation whose answer is lost, with or without a machine made. */
async function lose(made: boolean, argv: readonly string[] = CREATE): Promise<void> {
  service.posts.push(({ body }) => {
    if (made) service.rent(ID, (body as { instance_name: string }).instance_name);
    return 'hangUp';
  });
  expect((await world.cli(argv)).code).toBe(7);
}

/** The journal of this computer after somebody has changed it. */
async function exported(change: (journal: Changed) => void): Promise<string> {
  const { stdout } = await world.cli(['instances', 'export']);
  const journal = JSON.parse(stdout) as Changed;
  change(journal);
  return JSON.stringify(journal);
}

interface Changed {
  machines: { id: string; name: string; last?: { name: string; seen_at: string } }[];
  requests: { intent: { name: string } }[];
}

const second = () => ({ GPUCLOUD_STATE_DIR: join(world.home, 'second') });

describe('instances export and import', () => {
  test('carry machines and open requests to another computer', async () => {
    await begin();
    await world.cli(CREATE);
    await lose(false, ['instances', 'create', 'lost-box', ...HARDWARE]);
    const { code, stdout, requests } = await world.cli(['instances', 'export']);
    expect({ code, requests }).toEqual({ code: 0, requests: [] });
    expect(stdout).not.toContain('svc_sk_');
    const env = { GPUCLOUD_STATE_DIR: join(world.home, 'second') };
    const imported = await world.cli(['instances', 'import', '-', '--json'], {
      stdin: stdout,
      env,
    });
    expect(JSON.parse(imported.stdout)).toEqual({ machines: 1, requests: 1, known: 0 });
    const there = await world.cli(['instances', 'list', '--json'], { env });
    expect(JSON.parse(there.stdout)).toMatchObject([
      { id: null, name: 'lost-box', status: 'UNKNOWN' },
      { id: NEW },
    ]);
  });

  test.each([
    ['no JSON', 'x', 'is not JSON'],
    ['null', 'null', 'is no export'],
    ['a list', '[1]', 'is no export'],
    ['another version', '{"kind":"gpucloud-journal","version":2}', 'version is missing or wrong'],
  ])('%s is refused', async (_what, stdin, words) => {
    await begin();
    const { code, stderr } = await world.cli(['instances', 'import', '-'], { stdin });
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('a file of another service, or with names that climb, is refused', async () => {
    await begin();
    await lose(false);
    const { stdout } = await world.cli(['instances', 'export']);
    const uid = JSON.parse(stdout).requests[0].intent.uid;
    for (const [from, to] of [
      [/"service": "[^"]*"/, '"service": "https://elsewhere.example"'],
      [new RegExp(uid), '../../../evil'],
    ] as const) {
      const { code } = await world.cli(['instances', 'import', '-'], {
        stdin: stdout.replace(from, to),
      });
      expect(code).toBe(2);
    }
  });

  test('gives no known machine another name: commands end what they find by it', async () => {
    await begin();
    service.rent(ID, 'prod', { status: 'ACTIVE' });
    await world.cli(['instances', 'track', ID]);
    await world.cli(CREATE);
    const stdin = await exported(({ machines }) => {
      for (const machine of machines) {
        machine.name = machine.id === ID ? 'trainer' : 'prod';
        machine.last = { ...machine.last, name: machine.name, seen_at: '2100-01-01T00:00:00.000Z' };
      }
    });
    world.clock.advance(60_000);
    expect((await world.cli(['instances', 'import', '-'], { stdin })).code).toBe(0);
    const { requests } = await world.cli(['instances', 'terminate', 'trainer', '-y']);
    expect(requests.map(({ path }) => path)).toContain(`/instances/${NEW}/terminate`);
    expect(requests.map(({ path }) => path).join()).not.toContain(ID);
  });

  test('takes nothing that the journal could not read again', async () => {
    await begin();
    await lose(false);
    const stdin = await exported(({ requests }) => {
      for (const { intent } of requests) intent.name = 'n'.repeat(2_000_000);
    });
    const env = second();
    const { code, stderr } = await world.cli(['instances', 'import', '-'], { stdin, env });
    expect(code).toBe(2);
    expect(stderr).toContain('than any computer writes');
    expect((await world.cli(['instances', 'list'], { env })).stderr).not.toContain('warning');
  });

  test('an open request is settled when the machine that is said to come of it is read', async () => {
    await begin();
    await lose(true);
    const open = (await world.cli(['instances', 'export'])).stdout;
    await world.cli(['instances', 'track', ID]);
    const settled = (await world.cli(['instances', 'export'])).stdout;
    const env = second();
    const take = (stdin: string) => world.cli(['instances', 'import', '-'], { stdin, env });
    expect((await take(open)).stderr).not.toContain('Settled');
    // The machine can't be read just now: nothing is believed.
    const machine = service.machines.get(ID);
    service.machines.delete(ID);
    expect((await take(settled)).stderr).not.toContain('Settled');
    expect((await world.cli(['instances', 'recover'], { env })).code).toBe(7);
    if (machine !== undefined) service.machines.set(ID, machine);
    const { code, stderr } = await take(settled);
    expect(code).toBe(0);
    expect(stderr).toContain(`Settled the request for trainer: it is ${ID}, PROVISIONING.`);
    expect((await world.cli(['instances', 'recover'], { env })).code).toBe(0);
  });

  test('a machine that came of it and is over settles it too', async () => {
    await begin();
    await lose(true);
    const open = (await world.cli(['instances', 'export'])).stdout;
    await world.cli(['instances', 'track', ID]);
    service.rent(ID, 'trainer', { status: 'TERMINATED' });
    const { stdout: settled } = await world.cli(['instances', 'export']);
    const env = second();
    await world.cli(['instances', 'import', '-'], { stdin: open, env });
    const { stderr } = await world.cli(['instances', 'import', '-'], { stdin: settled, env });
    expect(stderr).toContain(`Settled the request for trainer: it is ${ID}, TERMINATED.`);
  });

  describe('whose a file is', () => {
    const other = { GPUCLOUD_API_KEY: 'svc_sk_other' };

    test('one of another account is refused', async () => {
      await begin();
      await world.cli(CREATE);
      await world.cli(['instances', 'list']);
      const { stdout } = await world.cli(['instances', 'export']);
      expect(JSON.parse(stdout).account).toBe('user-1');
      const { code, stderr } = await world.cli(['instances', 'import', '-'], {
        stdin: stdout.replaceAll('user-1', 'user-2'),
        env: second(),
      });
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('machines of another account'),
      });
    });

    test('one of no account is taken with its own key, or where the service shows its machines', async () => {
      await begin();
      await world.cli(CREATE);
      const { stdout: stdin } = await world.cli(['instances', 'export']);
      expect(JSON.parse(stdin).account).toBeNull();
      const short = await world.cli(['instances', 'export'], { env: other });
      expect(JSON.parse(short.stdout).machines).toEqual([]);
      expect(short.stderr).toContain('asked for here with another key');
      const own = await world.cli(['instances', 'import', '-'], { stdin, env: second() });
      expect({ code: own.code, requests: own.requests }).toEqual({ code: 0, requests: [] });
      const env = { ...other, GPUCLOUD_STATE_DIR: join(world.home, 'third') };
      expect((await world.cli(['instances', 'import', '-'], { stdin, env })).code).toBe(0);
      service.machines.clear();
      const empty = { ...other, GPUCLOUD_STATE_DIR: join(world.home, 'fourth') };
      const refused = await world.cli(['instances', 'import', '-'], { stdin, env: empty });
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('none of them can be read with the key in force');
      const list = await world.cli(['instances', 'list', '--json'], { env: empty });
      expect(list.stdout).toBe('[]\n');
    });

    test('where the account in force can not be found out, nothing is taken', async () => {
      await begin();
      await world.cli(CREATE);
      await world.cli(['instances', 'list']);
      const { stdout: stdin } = await world.cli(['instances', 'export']);
      service.failing.add('/users/me');
      const env = { ...second(), ...other };
      const { code } = await world.cli(['instances', 'import', '-'], { stdin, env });
      expect(code).toBe(1);
    });
  });
});
