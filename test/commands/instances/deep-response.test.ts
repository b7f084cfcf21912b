import { beforeEach, describe, expect, test } from 'vitest';
import { DEEPEST } from '../../../src/api/response/envelope.ts';
import { NEW, RentingService } from '../../support/renting-service.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import type { Answer } from '../../support/service.ts';

const FORMATS = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'];
/** Leaves room for three levels: the envelope, `data` and the field. */
const MOST = DEEPEST - 3;

let world: World;
let service: RentingService;
let answer: (path: string) => Answer | undefined = () => undefined;
beforeEach(async () => {
  service = new RentingService();
  answer = () => undefined;
  world = await createWorld({
    handler: (request) => answer(request.path) ?? service.handler(request),
  });
});

/** Creates a deeply nested response with a secret at the lowest level. */
function instance(levels: number, status = 200): Answer {
  const inner = `${'[{"a":'.repeat(levels / 2)}"hunter2hunter2"${'}]'.repeat(levels / 2)}`;
  const fields = `"id":"${NEW}","name":"box","status":"ACTIVE","metadata":{"x":${inner}},"new":${inner}`;
  return { status, body: `{"status":"success","code":${status},"data":{${fields}}}` };
}

describe('a deeply nested response', () => {
  test.each(FORMATS)('exits with 10 in get for a deeply nested response: -o %s', async (format) => {
    answer = () => instance(3000);
    await world.cli(['instances', 'get', NEW, '-o', format]);
  });

  test.each(FORMATS)('prints a response nested up to the limit: -o %s', async (format) => {
    answer = (path) => (path.startsWith('/instances/') ? instance(MOST - 1) : undefined);
    await world.cli(['instances', 'get', NEW, '-o', format]);
  });

  test('prints and stores the ID of a new instance', async () => {
    service.posts.push(() => {
      service.rent(NEW, 'box');
      return instance(3000, 201);
    });
    await world.cli(['instances', 'create', 'box', ...HARDWARE]);
    const { stdout: listed } = await world.cli(['instances', 'list', '--json']);
    expect(JSON.parse(listed)).toMatchObject([{ id: NEW, status: 'PROVISIONING' }]);
  });

  test('exits with 4 for a deeply nested response with status 403', async () => {
    answer = () => instance(3000, 403);
    expect((await world.cli(['instances', 'get', NEW])).code).toBe(4);
    expect((await world.cli(['api', 'GET', '/x'])).code).toBe(4);
  });

  test.each([['/x'], ['/x', '--json'], ['/x', '-o', 'jsonl'], ['/x', '--paginate']])(
    'exits with 10 in api for a deeply nested response: %s %s',
    async (...argv) => {
      answer = () => instance(3000);
      await world.cli(['api', 'GET', ...argv]);
    },
  );
});
