import { describe, expect, test } from 'vitest';
import { createWorld, type World } from '../../support/run-cli.ts';
import { type Answer, no, ok } from '../../support/service.ts';
import { sshPublicKey } from '../../support/ssh-key.ts';

// What a change does after an unknown outcome. ending.test.ts covers terminate.

const ID = '11111111-1111-4111-8111-111111111111';
const KEY = sshPublicKey('ssh-ed25519');

let world: World;

type Scripted = Answer | 'hangUp';

/** Sends the next response to each POST, and this state to each read. */
async function run(argv: readonly string[], posts: readonly Scripted[], state: () => unknown) {
  const left = [...posts];
  world = await createWorld({
    handler: ({ method }) =>
      method === 'POST' ? (left.shift() ?? no(500, 'unscripted')) : ok(state()),
  });
  const { code, stdout, stderr, requests } = await world.cli([...argv, '--json']);
  const sent = requests.filter(({ method }) => method === 'POST').length;
  return { code, stdout, stderr, sent };
}

describe('instances stop', () => {
  const stop = (posts: readonly Scripted[], status: string) =>
    run(['instances', 'stop', ID], posts, () => ({ id: ID, status }));

  test.each(['STOPPING', 'STOPPED'])(
    'succeeds with one request if the instance is %s after a lost response',
    async (status) => {
      expect(await stop(['hangUp'], status)).toMatchObject({ code: 0, sent: 1 });
    },
  );
});

describe('instances start', () => {
  const start = (post: Scripted, state: object) =>
    run(['instances', 'start', ID], [post, post], () => ({ id: ID, ...state }));

  test.each([
    ['STARTING', 'a lost response', 'hangUp'],
    ['ACTIVE', 'a lost response', 'hangUp'],
    ['STARTING', '502', no(502, 'no')],
    ['STARTING', '408', no(408, 'no')],
  ] as const)('succeeds if the instance is %s after %s', async (status, _what, post) => {
    const { code, sent } = await start(post, { status, paid_until: 'P' });
    expect({ code, sent }).toEqual({ code: 0, sent: 1 });
  });

  // The API document does not say whether a STOPPED instance bills.
  test.each(['STOPPED', 'STOPPING', 'STARTING', 'ERROR'])(
    'exits with 1 after the documented 500, with the status %s',
    async (status) => {
      const { code, sent } = await start(no(500, 'no'), { status });
      expect({ code, sent }).toEqual({ code: 1, sent: 1 });
    },
  );

  test.each([
    ['refuses the key', no(401, 'no')],
    ['does not find it', no(404, 'no')],
    ['fails', no(500, 'no')],
  ])('keeps the doubt about a lost response if the read of the instance %s', async (_what, get) => {
    let isSent = false;
    world = await createWorld({
      handler({ method }) {
        isSent ||= method === 'POST';
        if (method === 'POST') return 'hangUp';
        return isSent ? get : ok({ id: ID, status: 'STOPPED' });
      },
    });
    await world.cli(['instances', 'start', ID, '--json']);
  });

  test('never sends a second request after a lost response, and prints the status', async () => {
    const { code, sent } = await start('hangUp', { status: 'STOPPED' });
    expect({ code, sent }).toEqual({ code: 7, sent: 1 });
  });
});

describe('drives resume', () => {
  const resume = (post: Scripted, drive: object) =>
    run(['drives', 'resume', ID], [post, ok({ id: ID, status: 'AVAILABLE' })], () => ({
      id: ID,
      name: 'data',
      ...drive,
    }));

  test.each([
    [{ status: 'AVAILABLE' }, 1],
    [{ status: 'IN_USE' }, 1],
    [{ status: 'SUSPENDED' }, 2],
    // A drive without a status may still be suspended.
    [{}, 2],
  ])('reads %j after a lost response, and sends %i requests', async (drive, sent) => {
    expect(await resume('hangUp', drive)).toMatchObject({ code: 0, sent });
  });
});

describe('ssh-keys add', () => {
  const there = { id: 'k1', name: 'laptop', public_key: `${KEY}  another comment` };

  test.each([
    ['a lost response', 'hangUp'],
    ['500', no(500, 'no')],
  ] as const)('finds its key in the list after %s', async (_what, post) => {
    let reads = 0;
    const add = ['ssh-keys', 'add', '-', '--name', 'laptop'];
    const left = [post];
    world = await createWorld({
      handler({ method }) {
        if (method === 'POST') return left.shift() ?? no(500, 'unscripted');
        reads += 1;
        return ok(reads === 1 ? [] : [there]);
      },
    });
    const { requests } = await world.cli([...add, '--json'], { stdin: `${KEY}\n` });
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
  });
});
