// Reads and removes signatures of macOS executables. Bun signs an arm64 file again after adding the
// program. In an x64 file it leaves the runtime's signature, which no longer fits, and macOS kills
// the process. Intel Macs run unsigned files.
import { createHash } from 'node:crypto';

const MAGIC_64 = 0xfeedfacf;
const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const CODE_DIRECTORY = 0xfade0c02;
const SHA256 = 2;
const HEADER_BYTES = 32;
const PAGE = 0x4000;

/** Returns a file's load commands with their offsets. */
function commandsOf(file) {
  if (file.readUInt32LE(0) !== MAGIC_64) throw new Error('This is not a 64-bit Mach-O file.');
  const commands = [];
  let at = HEADER_BYTES;
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    const size = file.readUInt32LE(at + 4);
    commands.push({ at, size, kind: file.readUInt32LE(at) });
    at += size;
  }
  return commands;
}

/**
 * Returns how many pages the signature covers and how many of their hashes differ; undefined
 * without a signature.
 */
export function signatureOf(file) {
  const command = commandsOf(file).find(({ kind }) => kind === CODE_SIGNATURE);
  if (command === undefined) return undefined;
  const blobs = file.subarray(file.readUInt32LE(command.at + 8));
  const places = Array.from({ length: blobs.readUInt32BE(8) }, (_, index) =>
    blobs.readUInt32BE(12 + 8 * index + 4),
  );
  const directory = places
    .map((place) => blobs.subarray(place))
    .find((blob) => blob.readUInt32BE(0) === CODE_DIRECTORY && blob[37] === SHA256);
  if (directory === undefined) throw new Error('The signature has no SHA-256 hashes.');
  const [hashes, pages, limit] = [16, 28, 32].map((offset) => directory.readUInt32BE(offset));
  const size = 2 ** directory[39];
  let stale = 0;
  for (let page = 0; page < pages; page += 1) {
    const content = file.subarray(page * size, Math.min((page + 1) * size, limit));
    const hash = createHash('sha256').update(content).digest();
    const wanted = directory.subarray(
      hashes + page * hash.length,
      hashes + (page + 1) * hash.length,
    );
    if (!hash.equals(wanted)) stale += 1;
  }
  return { pages, stale };
}

/** Removes the signature, which is the last part of the file. */
export function withoutSignature(file) {
  const commands = commandsOf(file);
  const last = commands.at(-1);
  const linkedit = commands.find(
    ({ kind, at }) =>
      kind === SEGMENT_64 && file.toString('latin1', at + 8, at + 18) === '__LINKEDIT',
  );
  if (last?.kind !== CODE_SIGNATURE || linkedit === undefined) {
    throw new Error('The signature is not the last load command.');
  }
  const end = file.readUInt32LE(last.at + 8);
  if (end + file.readUInt32LE(last.at + 12) !== file.length) {
    throw new Error('The signature is not at the end of the file.');
  }
  const bare = Buffer.from(file.subarray(0, end));
  bare.fill(0, last.at, last.at + last.size);
  bare.writeUInt32LE(commands.length - 1, 16);
  bare.writeUInt32LE(file.readUInt32LE(20) - last.size, 20);
  const length = end - Number(file.readBigUInt64LE(linkedit.at + 40));
  bare.writeBigUInt64LE(BigInt(length), linkedit.at + 48);
  bare.writeBigUInt64LE(BigInt(Math.ceil(length / PAGE) * PAGE), linkedit.at + 32);
  return bare;
}
