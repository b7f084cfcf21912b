import { expect, it } from 'vitest';
import { textOfUtf8 } from '../../src/system/files.ts';
import { anyText, fc, runs } from '../support/random.ts';

function slowly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const MARK = [0xef, 0xbb, 0xbf];
/** Bytes that start, continue or break a character. */
const odd = fc.constantFrom(
  ...MARK,
  0x80,
  0xc0,
  0xc3,
  0xe2,
  0xed,
  0xa0,
  0xf0,
  0xf4,
  0xff,
  0x00,
  0x7b,
);

it('decodes the same bytes as a strict TextDecoder, including a byte order mark', () => {
  const bytes = fc.oneof(
    fc.uint8Array(),
    fc.array(odd, { maxLength: 6 }).map((some) => Uint8Array.from(some)),
    fc
      .tuple(fc.boolean(), anyText())
      .map(([isMarked, text]) => Buffer.from([...(isMarked ? MARK : []), ...Buffer.from(text)])),
  );
  fc.assert(
    fc.property(bytes, (some) => {
      expect(textOfUtf8(Buffer.from(some))).toBe(slowly(some));
    }),
    { numRuns: runs(2000) },
  );
});
