import { expect, it } from 'vitest';
import { holdsPrivateKey } from '../../src/rules/secrets.ts';
import { fc, runs } from '../support/random.ts';

/** Applies the rule without its quick searches. */
function slowly(text: string): boolean {
  const plain = text.replaceAll('\0', '');
  return (
    /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(plain) ||
    /PuTTY-User-Key-File-|^Private-Lines:/m.test(plain) ||
    plain.includes('SSH PRIVATE KEY FILE FORMAT') ||
    plain.includes('b3BlbnNzaC1rZXktdj')
  );
}

const piece = fc.constantFrom(
  ...['-', '----', '-----', ' ', 'BEGIN ', 'OPENSSH ', 'RSA ', 'PRIVATE KEY', 'PRIVATE', ' KEY'],
  ...['PuTTY-User-Key-File-', 'PuTTY', 'Private-Lines:', '\n', 'x', '\0', 'b3BlbnNzaC1rZXktdj'],
  ...['SSH PRIVATE KEY FILE FORMAT', 'private key'],
);

it('finds the same private keys with and without quick searches', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      expect(holdsPrivateKey(text)).toBe(slowly(text));
    }),
    { numRuns: runs(3000) },
  );
});
