import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { salvage } from '../../src/journal/salvage.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

/** As the document shows it, with ids of other things before and after the machine's own. */
const machine = {
  offer: { id: 'offer-1', name: 'A100 "x1"', gpu_model: { id: 'gpu-1' } },
  ssh_keys: [{ id: 'key-1' }, { id: 'key-2' }],
  metadata: { id: 'meta-1', text: 'data":{"id":"evil' },
  id: ID,
  name: 'trainer',
  status: 'PROVISIONING',
  base_image: { id: 'image-1' },
  application_template: { data: { id: 'template-1' } },
};
const body = JSON.stringify({ status: 'success', code: 201, data: machine });
/** The first length at which the id stands there whole. */
const WHOLE = body.indexOf(`"${ID}"`) + ID.length + 2;

describe('the id of a new machine', () => {
  test('is found in a body cut at any byte behind it, and never a wrong one before', () => {
    for (let length = 0; length <= body.length; length += 1) {
      const { id } = salvage(body.slice(0, length));
      expect(id, `cut at ${length}`).toBe(length < WHOLE ? undefined : ID);
    }
  });

  test('is found wherever the fields stand and however they are spaced', () => {
    const fields = fc.shuffledSubarray(Object.entries(machine), { minLength: 8 });
    fc.assert(
      fc.property(fields, fc.constantFrom(0, 1, 2, '\t'), fc.nat(), (entries, space, cut) => {
        const data = Object.fromEntries(entries);
        const text = JSON.stringify({ data, meta: { id: 'meta' } }, null, space);
        expect(salvage(text).id).toBe(ID);
        const part = salvage(text.slice(0, cut % text.length)).id;
        expect([ID, undefined]).toContain(part);
      }),
    );
  });

  test.each([
    ['other JSON before it', `{"trace":[1,{"id":5}]}\n${body}`],
    ['other JSON after it', `${body}\n{"data":{"id":"another"}}`],
    ['a guard before it', `)]}',\n${body}`],
    ['a stray quotation mark before it', `proxy said "hello: ${body}`],
    ['a closing tag after it', `${body}</body></html>`],
    ['an escaped id', body.replace(ID, `\\u0033${ID.slice(1)}`)],
    ['a key __proto__', `{"__proto__":{"id":"x"},"data":{"__proto__":{"id":"y"},"id":"${ID}"}}`],
  ])('is found with %s', (_what, text) => {
    expect(salvage(text).id).toBe(ID);
  });

  test('of two, the last counts, as for a JSON reader', () => {
    expect(salvage(`{"data":{"id":"a","id":"b"}}`)).toEqual({ id: 'b', candidates: ['a'] });
  });

  test.each([
    ['an empty text', ''],
    ['HTML', '<html id="x"><body>502</body></html>'],
    ['an id that climbs', '{"data":{"id":"../.."}}'],
    ['an id that is empty', '{"data":{"id":""}}'],
    ['an id with a line break', '{"data":{"id":"a\\r\\nb"}}'],
    ['an id that is null', '{"data":{"id":null,"offer":{"id":"x"}}}'],
    ['an id that is an object', '{"data":{"id":{"id":"x"}}}'],
    ['an id that is 201 letters long', `{"data":{"id":"${'x'.repeat(201)}"}}`],
    ['the id of another thing', '{"data":{"offer":{"id":"x"}}}'],
  ])('is not found in %s', (_what, text) => {
    expect(salvage(text)).toEqual({ id: undefined, candidates: [] });
  });

  test.each([
    ['a number', '{"data":{"id":5}}', '5'],
    ['without an envelope', `{"id":"${ID}","status":"PROVISIONING"}`, ID],
    ['in a list', `{"data":[{"id":"${ID}"}]}`, ID],
    ['a level deeper', `{"data":{"instance":{"id":"${ID}"}}}`, ID],
  ])('that stands elsewhere (%s) is a candidate only', (_what, text, candidate) => {
    expect(salvage(text)).toEqual({ id: undefined, candidates: [candidate] });
  });

  test('the name beside it is told, and not that of another thing', () => {
    expect(salvage(body).name).toBe('trainer');
    expect(salvage(`{"data":{"id":"${ID}","offer":{"name":"A100"}}}`).name).toBeUndefined();
    expect(salvage(`{"name":"x"}{"data":{"id":"${ID}","name":null}}`).name).toBeUndefined();
    expect(salvage(`{"data":{"name":"a","id":"${ID}","name":"b"}}`).name).toBe('b');
  });

  test('is found behind a raw line break, which JSON forbids', () => {
    expect(salvage(`{"data":{"note":"one\ntwo","id":"${ID}"}}`).id).toBe(ID);
  });

  test('any text at all is read without a failure', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 500 }), (text) => {
        salvage(text);
        salvage(`${body.slice(0, 100)}${text}`);
      }),
    );
  });

  // A scanner that looks back would need days for each; the patience of the test is the limit.
  test.each([
    ['lists without an end', '{"a":['],
    ['objects without an end', '{"a":1,"b":'],
    ['backslashes', '\\'],
    ['quotation marks', '"'],
    ['escaped quotation marks', '\\"'],
    ['closed strings without a comma', '"\\""'],
    ['digits', '1'],
    ['minus signs', '-'],
    ['braces', '}{'],
  ])('%s are read in time that grows with their length alone', (_what, piece) => {
    for (const before of ['', '"', '{"data":{"x":"', '{"data":{"x":']) {
      expect(salvage(before + piece.repeat(400_000)).id).toBeUndefined();
    }
  });
});
