import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, createWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';

let world: SandboxWorld;

beforeEach(async () => {
  world = await createSandboxWorld();
});

/** Reads open requests and instances from the journal's files. */
async function journal(home: string): Promise<Record<string, unknown>[]> {
  const root = join(home, 'state', 'journal');
  const records: Record<string, unknown>[] = [];
  for (const name of await readdir(root, { recursive: true })) {
    const [, place] = /(requests|instances)\/[^/]+\.json$/.exec(name) ?? [];
    if (place === undefined) continue;
    records.push({ place, ...JSON.parse(await readFile(join(root, name), 'utf8')) });
  }
  return records;
}

describe('instances create', () => {
  test('terminates an instance that costs more than --max-price', async () => {
    const { requests } = await world.cli([
      ...['instances', 'create', 'trainer', ...HARDWARE, '--max-price', '89.89'],
    ]);
    const words = requests.map(({ path }) => path.split('/').at(-1));
    expect(words).toEqual(['instances', 'terminate', requests[1]?.path.split('/')[2]]);
    await world.cli([...['instances', 'create', 'second', ...HARDWARE, '--max-price', '89.90']]);
  });

  test('exits with 12 if the instance reaches ERROR, and still prints the instance', async () => {
    await world.sandbox.inject('fail-provisioning');
    await world.cli([...['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--json']]);
  });
});

describe('instances create with a lost response', () => {
  test('stores and prints the ID from an invalid response', async () => {
    const id = '3f0c5d9e-1111-4222-8333-444455556666';
    const broken = await createWorld({
      handler: () => ok({ id, status: 5 }, 201),
    });
    await broken.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    expect(await journal(broken.home)).toMatchObject([{ place: 'instances', id }]);
  });

  test('counts a request as unknown if gpucloud itself fails after sending it', async () => {
    let isArmed = false;
    const odd = await createWorld({
      handler: () => {
        isArmed = true;
        return { status: 400, body: { statusCode: 400, message: 'no', error: 'Bad Request' } };
      },
    });
    const { now } = odd.clock;
    Object.assign(odd.clock, {
      now() {
        if (isArmed) {
          isArmed = false;
          throw new TypeError('no time');
        }
        return now();
      },
    });
    await odd.cli(['instances', 'create', 'trainer', ...HARDWARE, '--json']);
    expect(await journal(odd.home)).toMatchObject([{ place: 'requests', name: 'trainer' }]);
  });

  test('exits with 6 after a refused connection, and stores no request', async () => {
    const away = await createWorld({ handler: () => 'hangUp' });
    await away.service.close();
    const { stderr } = await away.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    expect(stderr).toMatch(/^error: /m);
    expect(await journal(away.home)).toEqual([]);
  });

  test("exits with 9 if the journal can't be written, and sends nothing", async () => {
    await writeFile(join(world.home, 'not-a-folder'), '');
    const { code, requests } = await world.cli(['instances', 'create', 'trainer', ...HARDWARE], {
      env: { GPUCLOUD_STATE_DIR: join(world.home, 'not-a-folder') },
    });
    expect({ code, requests }).toEqual({ code: 9, requests: [] });
  });
});
