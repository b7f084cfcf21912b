import { beforeEach, describe, expect, test } from 'vitest';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { sent } from '../../support/service.ts';

const id = (at: number) => `3f0c5d9e-1111-4222-8333-44445555000${at}`;
const ALL = ['instances', 'terminate', '--all'];

let world: World;
let service: RentingService;
let made: number;
beforeEach(async () => {
  service = new RentingService();
  made = 0;
  service.newId = () => {
    made += 1;
    return id(made);
  };
  world = await createWorld({ handler: service.handler });
});

async function rent(...names: string[]): Promise<void> {
  for (const name of names) {
    const { code, stderr } = await world.cli(['instances', 'create', name, ...HARDWARE]);
    expect(code, stderr).toBe(0);
  }
}
const statuses = () => [...service.instances.values()].map(({ status }) => status);

describe('instances terminate --all', () => {
  test('terminates every instance of the list, also those that only a drive names', async () => {
    await rent('one', 'two', 'old');
    await world.cli(['instances', 'terminate', 'old', '--yes']);
    service.rent(id(9), 'elsewhere');
    service.drives = [{ id: 'drive-1', current_instance_id: id(9) }];
    const { stdout, requests } = await world.cli([...ALL, '--yes', '--json']);
    expect(statuses()).toEqual(Array(4).fill('TERMINATING'));
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'one' }, { name: 'two' }, { id: id(9) }]);
    const ends = sent(requests).filter((line) => line.startsWith('POST'));
    expect(ends.sort()).toEqual([1, 2, 9].map((at) => `POST /instances/${id(at)}/terminate`));
  });

  test('shows each instance and asks; the default is no', async () => {
    await rent('one', 'two');
    for (const at of [1, 2])
      service.rent(id(at), at === 1 ? 'one' : 'two', { price_per_hour_snapshot: '89.90' });
    const terminal = { terminal: true, columns: 300 };
    const no = await world.cli(ALL, { ...terminal, stdin: '\n' });
    expect(no.code).toBe(130);
    expect(no.stderr).toContain('Terminate these 2 instances and their disks?');
    expect(statuses()).toEqual(['PROVISIONING', 'PROVISIONING']);
    const yes = await world.cli(ALL, { ...terminal, stdin: 'y\n' });
    expect(yes.code).toBe(0);
    expect(statuses()).toEqual(['TERMINATING', 'TERMINATING']);
  });

  test('sends nothing when not interactive without --yes', async () => {
    await rent('one');
    const { code, stderr, requests } = await world.cli(ALL);
    expect({ code, stderr, requests }).toEqual({
      code: 2,
      stderr: 'error: not interactive: add --yes to confirm (Terminate all known instances?)\n',
      requests: [],
    });
  });

  test('rejects names beside --all', async () => {
    const { code, stderr, requests } = await world.cli([...ALL, 'one', '--yes']);
    expect({ code, stderr, requests }).toEqual({
      code: 2,
      stderr: "error: --all can't be used with INSTANCE\n",
      requests: [],
    });
  });

  test('does nothing if no instance bills', async () => {
    await rent('gone');
    service.instances.clear();
    await world.cli([...ALL, '--yes']);
    const json = await world.cli([...ALL, '--yes', '--json']);
    expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 0, stdout: '[]\n' });
    await world.cli(ALL, { terminal: true, stdin: 'n\r' });
  });

  test('terminates the others and exits with 7 if a request has an unknown outcome', async () => {
    await rent('one');
    service.posts = [() => 'hangUp'];
    expect((await world.cli(['instances', 'create', 'lost', ...HARDWARE])).code).toBe(7);
    await world.cli([...ALL, '--yes']);
    expect(statuses()).toEqual(['TERMINATING']);
  });

  test('terminates the known instances if the drives can not be read, and fails', async () => {
    await rent('one');
    service.failing.add('/storage/drives');
    await world.cli([...ALL, '--yes']);
    expect(statuses()).toEqual(['TERMINATING']);
  });

  test('also terminates an instance that can not be read, and exits with 7', async () => {
    await rent('one', 'two');
    service.failing.add(`/instances/${id(1)}`);
    await world.cli([...ALL, '--yes']);
    expect(statuses()).toEqual(['TERMINATING', 'TERMINATING']);
  });
});
