import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NEW } from '../../support/renting-service.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { begin, CREATE, ID, lose, posts, service, world } from './lost.ts';

describe('recover and list with unreadable data', () => {
  test("resolves requests even if the drives can't be read", async () => {
    await begin();
    await lose(true);
    world.clock.advance(1000);
    await lose(false, ['instances', 'create', 'lost-box', ...HARDWARE]);
    await world.cli(['instances', 'get', ID]);
    service.failing.add('/storage/drives');
    const argv = ['instances', 'recover', '--yes', '--json'];
    await world.cli(argv);
  });

  test("lists the instances of every account if the key's account is unknown, and rents nothing", async () => {
    await begin();
    await world.cli(CREATE);
    service.failing.add('/users/me');
    const env = { GPUCLOUD_API_KEY: 'svc_sk_other_0123456789' };
    const list = await world.cli(['instances', 'list', '-q'], { env });
    expect(list).toMatchObject({ code: 0, stdout: `${NEW}\n` });
    // gpucloud rents nothing for an unknown account.
    const { code, requests } = await world.cli(['instances', 'create', 'lab', ...HARDWARE], {
      env,
    });
    expect({ code, posts: posts(requests) }).toEqual({ code: 1, posts: [] });
    service.failing.clear();
    expect(await world.cli(['instances', 'list', '-q'], { env })).toMatchObject({ stderr: '' });
  });

  test('lists an instance by its ID if its record is unreadable, and repairs the record', async () => {
    await begin();
    await world.cli(CREATE);
    const root = join(world.home, 'state', 'journal');
    const name = (await readdir(root, { recursive: true })).find((one) =>
      one.endsWith(`instances/${NEW}.json`),
    );
    const path = join(root, name ?? '');
    for (const text of ['', '{"version":1,"id":"', 'null']) {
      await writeFile(path, text);
      const { code, stdout } = await world.cli(['instances', 'list', '--json']);
      expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
        code: 0,
        rows: [{ id: NEW, name: 'trainer' }],
      });
    }
    expect(await world.cli(['instances', 'list', '-q'])).toMatchObject({
      code: 0,
      stdout: `${NEW}\n`,
      stderr: '',
    });
    expect(await readFile(`${path}.unreadable`, 'utf8')).toBe('null');
  });

  test('reads an archived instance by its ID without the unreadable file of another', async () => {
    await begin();
    const other = '3f0c5d9e-1111-4222-8333-444455558888';
    for (const [id, name] of [
      [NEW, 'trainer'],
      [other, 'other'],
    ] as const) {
      service.rent(id, name, { status: 'TERMINATED' });
      await world.cli(['instances', 'track', id]);
    }
    const root = join(world.home, 'state', 'journal');
    const name = (await readdir(root, { recursive: true })).find((one) =>
      one.endsWith(`archive/${other}.json`),
    );
    await writeFile(join(root, name ?? ''), '{');
    expect(await world.cli(['instances', 'get', NEW, '-q'])).toMatchObject({
      ...{ code: 0, stdout: `${NEW}\n`, stderr: '' },
    });
  });

  test('sends nothing if the earlier request for the name is unreadable', async () => {
    await begin();
    service.posts.push(() => 'hangUp');
    expect((await world.cli(CREATE)).code).toBe(7);
    const root = join(world.home, 'state', 'journal');
    const name = (await readdir(root, { recursive: true })).find((one) =>
      one.endsWith('requests/trainer.json'),
    );
    await writeFile(join(root, name ?? ''), '{');
    for (const more of [[], ['--yes']]) {
      const { code, requests } = await world.cli([...CREATE, ...more, '--json']);
      expect({ code, posts: posts(requests) }).toEqual({ code: 9, posts: [] });
    }
  });
});
