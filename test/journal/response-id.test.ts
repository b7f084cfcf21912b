import { describe, expect, test } from 'vitest';
import { responseId } from '../../src/journal/index.ts';
import { fc } from '../support/random.ts';
import { envelope } from '../support/service.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const NESTED = '99999999-1111-4222-8333-444455556666';

const instance = {
  id: ID,
  name: 'trainer',
  status: 'PROVISIONING',
  offer: { id: NESTED, name: 'A100 "x1"' },
  ssh_keys: [{ id: NESTED }],
};
const body = JSON.stringify(envelope(instance, 201));
const whole = body.indexOf(ID) + ID.length + 1;

describe('responseId', () => {
  test("returns a response's ID in lower case", () => {
    const loud = body.replaceAll(ID, ID.toUpperCase());
    expect(responseId(loud)?.id).toBe(ID);
    expect(responseId(loud.slice(0, whole))?.id).toBe(ID);
  });

  test('returns the ID if the response is cut after it, and never another', () => {
    for (let length = 0; length <= body.length; length += 1) {
      const found = responseId(body.slice(0, length))?.id;
      expect(found, `cut at ${length}`).toBe(length < whole ? undefined : ID);
    }
  });

  test('returns the whole ID or undefined, wherever the response is cut', () => {
    const fields = fc.shuffledSubarray(Object.entries(instance), { minLength: 5 });
    fc.assert(
      fc.property(fields, fc.constantFrom(0, 2, '\t'), fc.nat(), (entries, space, cut) => {
        const text = JSON.stringify({ data: Object.fromEntries(entries) }, null, space);
        expect(responseId(text)).toEqual({ id: ID, name: 'trainer' });
        expect([ID, undefined]).toContain(responseId(text.slice(0, cut % text.length))?.id);
      }),
    );
  });

  test('returns the ID of a response without an envelope', () => {
    expect(responseId(JSON.stringify(instance))).toEqual({ id: ID, name: 'trainer' });
  });

  test.each([
    ['an empty text', ''],
    ['HTML', '<html id="x"><body>502</body></html>'],
    ['a path as ID', '{"data":{"id":"../.."}}'],
    ['a number as ID', '{"data":{"id":5}}'],
    ['null as ID', `{"data":{"id":null,"offer":{"id":"${NESTED}"}}}`],
    ['the ID of a nested object, cut', `{"data":{"offer":{"id":"${NESTED}"},"na`],
    ['a list', `{"data":[{"id":"${ID}"}]}`],
  ])('returns no ID for %s', (_what, text) => {
    expect(responseId(text)).toBeUndefined();
  });

  test.each([
    ['unclosed lists', '{"a":['],
    ['quotation marks', '"'],
    ['invalid IDs', '"id":'],
    ['spaces', ' '],
  ])('searches %s for an ID in linear time', (_what, piece) => {
    expect(responseId(`{"data":{${piece.repeat(400_000)}`)).toBeUndefined();
  });
});
