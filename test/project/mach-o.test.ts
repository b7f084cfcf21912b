import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { executableOf } from '../../scripts/executable.mjs';
import { signatureOf, withoutSignature } from '../../scripts/mach-o.mjs';
import { needs } from '../support/needs.ts';

const PAGE = 4096;
const SEGMENT_BYTES = 72;
const COMMAND_BYTES = 16;

/**
 * Creates a small executable of three pages, with a linker's signature at the end of its last
 * segment.
 */
function signedFile(): Buffer {
  const code = Buffer.alloc(3 * PAGE, 'x');
  code.fill(0, 0, 32 + SEGMENT_BYTES + COMMAND_BYTES);
  for (const [at, number] of [
    [0, 0xfeedfacf],
    [16, 2],
    [20, SEGMENT_BYTES + COMMAND_BYTES],
  ] as const) {
    code.writeUInt32LE(number, at);
  }
  const hashes = [0, 1, 2];
  const directory = Buffer.alloc(44 + 32 * hashes.length);
  const signature = Buffer.concat([Buffer.alloc(20), directory]);
  const segment = 32;
  code.writeUInt32LE(0x19, segment);
  code.writeUInt32LE(SEGMENT_BYTES, segment + 4);
  code.write('__LINKEDIT', segment + 8, 'latin1');
  code.writeBigUInt64LE(BigInt(2 * PAGE), segment + 32);
  code.writeBigUInt64LE(BigInt(2 * PAGE), segment + 40);
  code.writeBigUInt64LE(BigInt(PAGE + signature.length), segment + 48);
  const command = segment + SEGMENT_BYTES;
  for (const [index, number] of [0x1d, COMMAND_BYTES, code.length, signature.length].entries()) {
    code.writeUInt32LE(number, command + 4 * index);
  }
  for (const [index, number] of [0xfade0cc0, signature.length, 1, 0, 20].entries()) {
    signature.writeUInt32BE(number, 4 * index);
  }
  for (const [at, number] of [
    [0, 0xfade0c02],
    [16, 44],
    [28, hashes.length],
    [32, code.length],
  ] as const) {
    signature.writeUInt32BE(number, 20 + at);
  }
  // Hash size, hash type (SHA-256), platform, and page size as a power of two.
  signature.set([32, 2, 0, 12], 20 + 36);
  for (const page of hashes) {
    const content = code.subarray(page * PAGE, (page + 1) * PAGE);
    signature.set(createHash('sha256').update(content).digest(), 20 + 44 + 32 * page);
  }
  return Buffer.concat([code, signature]);
}

test('counts the pages with a stale hash in the signature', () => {
  const file = signedFile();
  expect(signatureOf(file)).toEqual({ pages: 3, stale: 0 });
  file[2 * PAGE + 7] = 0;
  expect(signatureOf(file)).toEqual({ pages: 3, stale: 1 });
});

test('removes a signature and its load command', () => {
  const file = signedFile();
  const bare = withoutSignature(file);
  expect(signatureOf(bare)).toBeUndefined();
  expect(bare.length).toBe(3 * PAGE);
  expect([bare.readUInt32LE(16), bare.readUInt32LE(20)]).toEqual([1, SEGMENT_BYTES]);
  // The last segment's length in the file, and in memory in whole pages.
  expect(bare.readBigUInt64LE(32 + 48)).toBe(BigInt(PAGE));
  expect(bare.readBigUInt64LE(32 + 32)).toBe(BigInt(0x4000));
  expect(bare.subarray(PAGE).equals(file.subarray(PAGE, 3 * PAGE))).toBe(true);
});

test('throws for a signature before other data, and for other files', () => {
  const longer = Buffer.concat([signedFile(), Buffer.from('more')]);
  expect(() => withoutSignature(longer)).toThrow('not at the end');
  expect(() => signatureOf(Buffer.alloc(64))).toThrow('not a 64-bit Mach-O file');
});

for (const target of ['darwin-arm64', 'darwin-x64']) {
  const path = executableOf(target);
  // `npm run package -- --all` builds this file.
  test(`finds no stale signature hash in ${target}`, needs(path as `/${string}`), () => {
    const signature = signatureOf(readFileSync(path));
    if (target === 'darwin-arm64') expect(signature).toMatchObject({ stale: 0 });
    else expect(signature?.stale ?? 0).toBe(0);
  });
}
