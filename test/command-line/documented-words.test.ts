import { afterAll, beforeAll, expect, test } from 'vitest';
import { noteUndocumented, typesOf } from '../../src/command-line/documented-words.ts';
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

const TYPES = ['STATUS_CHANGE', 'BILLING', 'ERROR'];
const MUST = 'must be one or more of status_change, billing, error, separated by commas';

test.each([
  ['status-change,Billing', ['OTHER', 'STATUS_CHANGE', 'BILLING']],
  ['other, error,error', ['OTHER', 'ERROR']],
  ['new_type', ['OTHER', 'NEW_TYPE']],
  ['biling', 'Unknown type "biling". did you mean billing?'],
  ['a b', `--type "a b": ${MUST}`],
  ['x'.repeat(41), `--type "${'x'.repeat(41)}": ${MUST}`],
  ['error,', '--type "error,": must be a comma-separated list without empty items'],
])('reads the types %j after another', (text, expected) => {
  const read = () => {
    try {
      return typesOf(TYPES)(text, ['OTHER']);
    } catch (error) {
      const { message, hint } = error as { message: string; hint?: string };
      return [message, hint].filter((part) => part !== undefined).join(' ');
    }
  };
  expect(read()).toEqual(expected);
});

test('notes only undocumented types', () => {
  const notes: string[] = [];
  const context = { err: { note: (text: string) => notes.push(text) } } as never;
  noteUndocumented(['BILLING', 'ERROR'], TYPES, context);
  noteUndocumented(['NEW', 'BILLING', 'OTHER'], TYPES, context);
  expect(notes).toEqual(['Sending an undocumented type: NEW, OTHER.']);
});
