import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeHeartbeat } from '../../../src/journal/index.ts';
import { jobRecord } from '../../support/job-record.ts';
import { RentingService } from '../../support/renting-service.ts';
import { createWorld, journalOf, TEST_KEY, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { warningsOf } from '../../support/stderr-lines.ts';

const [BOX, LAB] = [
  '3f0c5d9e-1111-4222-8333-444455556666',
  '3f0c5d9e-1111-4222-8333-444455557777',
] as const;
const ENDS = '2026-02-01T18:00:00.000Z';

let service: RentingService;
/** The laptop and the host that takes over. */
let laptop: World;
let host: World;
beforeEach(async () => {
  service = new RentingService();
  laptop = await createWorld({ handler: service.handler });
  host = await createWorld({ handler: service.handler });
});
afterEach(async () => {
  await laptop.close();
  await host.close();
});

const list = async () => (await laptop.cli(['instances', 'list', '--json'])).stdout;
const track = (stdin: string, ...flags: string[]) =>
  host.cli(['instances', 'track', '-', '--json', ...flags], { stdin });
const journal = (world: World) =>
  journalOf(world, { service: world.service.url, apiKey: TEST_KEY });

/** Rents "box" with a deadline and an idle rule on the laptop. */
async function rentBox(): Promise<void> {
  service.newId = () => BOX;
  const flags = ['--terminate-at', ENDS, '--if-idle', '45m', '--unenforced'];
  const { code, stderr } = await laptop.cli(['instances', 'create', 'box', ...HARDWARE, ...flags]);
  expect(code, stderr).toBe(0);
}

describe('instances list --json | instances track -', () => {
  test('hands over deadlines and idle rules, and warns if nothing enforces them', async () => {
    await rentBox();
    service.rent(LAB, 'lab');
    await laptop.cli(['instances', 'track', LAB]);
    await track(await list());
  });

  test('says nothing about enforcement on a host with a schedule', async () => {
    await rentBox();
    await writeHeartbeat(join(host.home, 'state'), 'keeper', {
      service: host.service.url,
      account: 'user-1',
      every: 300_000,
      at: new Date(host.clock.now()).toISOString(),
      features: ['deadline', 'idle', 'job'],
    });
    const { code, stderr } = await track(await list());
    expect({ code, warnings: warningsOf(stderr) }).toEqual({ code: 0, warnings: [] });
  });

  test('keeps a deadline that the other computer already has', async () => {
    await rentBox();
    service.rent(LAB, 'lab');
    await laptop.cli(['instances', 'track', LAB]);
    const jsonLines = (await laptop.cli(['instances', 'list', '-o', 'jsonl'])).stdout;
    expect((await track(jsonLines)).code).toBe(0);
    await host.cli(['instances', 'expire', 'box', '--at', '2026-01-20T00:00:00Z']);
    await host.cli(['instances', 'expire', 'box', '--if-idle', '2h']);
    await track(await list());
    expect(await journal(host).ends(BOX)).toMatchObject({ deadline: '2026-01-20T00:00:00.000Z' });
    await track(JSON.stringify({ id: BOX, name: 'box', if_idle_seconds: 7200 }));
  });

  test('says nothing about a deadline that the other computer already took over', async () => {
    await rentBox();
    expect((await track(await list())).code).toBe(0);
    expect((await track(await list())).stderr).not.toContain('Not handed over');
  });

  test('hands over a deadline to a computer that has only an idle rule', async () => {
    await rentBox();
    expect((await track(`${BOX}\n`)).code).toBe(0);
    await host.cli(['instances', 'expire', 'box', '--if-idle', '2h']);
    expect((await track(await list())).code).toBe(0);
    expect(await journal(host).ends(BOX)).toMatchObject({
      deadline: ENDS,
      if_idle: { after: 7_200_000 },
    });
  });

  test('takes one instance of "instances get --json"', async () => {
    await rentBox();
    const one = JSON.stringify({ id: BOX, name: 'box', ends_at: ENDS }, null, 2);
    expect((await track(one)).code).toBe(0);
    expect(await journal(host).ends(BOX)).toMatchObject({ deadline: ENDS });
  });

  test('lists requests with an unknown outcome and jobs as not handed over', async () => {
    await rentBox();
    service.posts.push(() => 'hangUp');
    expect((await laptop.cli(['instances', 'create', 'lost', ...HARDWARE])).code).toBe(7);
    await mkdir(join(laptop.home, 'state', 'jobs'), { recursive: true });
    const job = jobRecord({ id: BOX, name: 'box', service: laptop.service.url });
    await writeFile(join(laptop.home, 'state', 'jobs', `${BOX}.json`), JSON.stringify(job));
    await track(await list());
  });

  test('reports an instance that the service does not find, and hands over the others', async () => {
    await rentBox();
    const rows = JSON.parse(await list());
    const gone = { id: LAB, name: 'lab', status: 'GONE', ends_at: ENDS };
    const over = { ...gone, id: LAB.replace(/7$/, '8') };
    service.rent(over.id, 'over', { status: 'TERMINATED' });
    await track(JSON.stringify([...rows, gone, over]));
  });

  test.each([
    ['[{"id":'],
    ['[1]'],
    [`${BOX}\n[1]`],
    [`[{"id":"${BOX}","ends_at":"soon"}]`],
    [`[{"id":"${BOX}"},{"id":"${LAB}","if_idle_seconds":-1}]`],
    ['[{"id":"../x"}]'],
  ])('rejects %s before any request', async (stdin) => {
    const { code, requests } = await track(stdin);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });

  test('still accepts IDs, one per line', async () => {
    service.rent(LAB, 'lab');
    expect((await track(`${LAB}\n\n`)).code).toBe(0);
  });
});
