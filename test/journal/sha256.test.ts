import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../../src/journal/sha256.ts';

function byNode(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe('sha256', () => {
  // NIST, "Examples with Intermediate Values": one block, two blocks, and the long one.
  test.each([
    ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('of a standard message (%#)', (text, hash) => {
    expect(sha256(text)).toBe(hash);
  });

  test('of every length around the ends of the first blocks', () => {
    for (let length = 0; length <= 300; length += 1) {
      const text = 'k'.repeat(length);
      expect({ length, hash: sha256(text) }).toEqual({ length, hash: byNode(text) });
    }
  });

  test('of any text, lone surrogates included, as node:crypto has it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(byNode(text));
      }),
      { numRuns: 500 },
    );
    for (const text of ['\ud800', 'a\udc00b', 'Ночной бот', '🚀'.repeat(40)]) {
      expect(sha256(text)).toBe(byNode(text));
    }
  });
});
