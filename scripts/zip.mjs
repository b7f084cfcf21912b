// Writes a .zip file for Windows. The same entries and Node version produce the same bytes.
import { crc32, deflateRawSync } from 'node:zlib';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** Marks file names as UTF-8. */
const FLAGS = 0x800;
const DEFLATE = 8;

/**
 * @param entries contents by path.
 * @param seconds the time of all entries, since 1970. A .zip file can't store times before 1980.
 */
export function zipOf(entries, seconds, level) {
  const stamp = stampOf(new Date(seconds * 1000));
  const files = [];
  const directory = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const path = Buffer.from(name);
    const packed = deflateRawSync(content, { level });
    const about = Buffer.concat([
      u16(VERSION, FLAGS, DEFLATE, ...stamp),
      u32(crc32(content), packed.length, content.length),
      u16(path.length, 0),
    ]);
    const file = Buffer.concat([u32(LOCAL), about, path, packed]);
    files.push(file);
    directory.push(u32(CENTRAL), u16(VERSION), about, u16(0, 0, 0), u32(0, at), path);
    at += file.length;
  }
  const listed = Buffer.concat(directory);
  const end = [u32(END), u16(0, 0, files.length, files.length), u32(listed.length, at), u16(0)];
  return Buffer.concat([...files, listed, ...end]);
}

/** Returns the time and the date in MS-DOS format. */
function stampOf(at) {
  return [
    (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  ];
}

function u16(...numbers) {
  return Buffer.from(Uint16Array.from(numbers).buffer);
}

function u32(...numbers) {
  return Buffer.from(Uint32Array.from(numbers).buffer);
}
