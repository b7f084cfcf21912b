import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../support/run-cli.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

let world: World;
beforeAll(async () => {
  world = await createWorld({ handler: () => 'hangUp' });
});
afterAll(() => world.close());

const ACCEPTED =
  '--for accepts creating, provisioning, installing, active, stopping, stopped, starting, rebooting, terminating, terminated, error, ssh';

test.each([
  // One or two slips.
  ['actve', 'did you mean active?'],
  ['xactive', 'did you mean active?'],
  ['activeness', ACCEPTED],
  ['stoped', 'did you mean stopped?'],
  ['rebooti', 'did you mean rebooting?'],
  ['ebooting', 'did you mean rebooting?'],
  ['xyz', ACCEPTED],
  // Words of their own.
  ['booting', ACCEPTED],
  ['inactive', ACCEPTED],
  ['restarting', ACCEPTED],
  // Words of other clouds.
  ['running', 'did you mean active?'],
  ['started', 'did you mean active?'],
  ['ready', 'did you mean active?'],
  ['on', 'did you mean active?'],
  ['up', 'did you mean active?'],
  ['exited', 'did you mean stopped?'],
  ['shutdown', 'did you mean stopped?'],
  ['off', 'did you mean stopped?'],
  ['down', 'did you mean stopped?'],
  ['deleted', 'did you mean terminated?'],
  ['destroyed', 'did you mean terminated?'],
  ['removed', 'did you mean terminated?'],
])('rejects waiting for the unknown status %s', async (word, hint) => {
  const { code, stderr, requests } = await world.cli([
    ...['instances', 'wait', ID, '--for', word, '--json'],
  ]);
  expect({ code, requests, error: JSON.parse(stderr).error }).toMatchObject({
    code: 2,
    requests: [],
    error: { message: `Unknown status "${word}".`, hint },
  });
});
