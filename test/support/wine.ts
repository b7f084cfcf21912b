import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Environment for Windows programs, with their own settings and drives. */
export function wineEnv(folder: string): Record<string, string> {
  return { WINEPREFIX: join(folder, 'wine'), WINEDEBUG: '-all' };
}

/** Returns a file's path as a program in Wine sees it. */
export function wineDrive(path: string): string {
  return `Z:${path.replaceAll('/', '\\')}`;
}

/**
 * Adds the library with Windows' random numbers, which Bun loads at start and Wine 8 lacks. Its one
 * function forwards to the older function that does the same.
 */
export async function addRandomNumbers(folder: string): Promise<void> {
  const path = join(folder, 'wine/drive_c/windows/system32/bcryptprimitives.dll');
  if (existsSync(path)) return;
  await writeFile(
    path,
    forwarder('bcryptprimitives.dll', 'ProcessPrng', 'advapi32.SystemFunction036'),
  );
}

const HEADERS = 0x200;
const SECTION = 0x1000;
const EXPORTS = 40;

/** Builds a 64-bit library whose only export forwards to another library's function. */
function forwarder(library: string, name: string, target: string): Buffer {
  const texts = [library, name, target].map((text) => Buffer.from(`${text}\0`));
  const [libraryAt = 0, nameAt = 0, targetAt = 0] = texts.map((_text, index) =>
    texts.slice(0, index).reduce((at, { length }) => at + length, SECTION + EXPORTS + 10),
  );
  const directory = [0, 0, 0, libraryAt, 1, 1, 1, SECTION + 40, SECTION + 44, SECTION + 48];
  const exported = Buffer.concat([u32(...directory), u32(targetAt, nameAt), u16(0), ...texts]);
  const dos = Buffer.alloc(64);
  dos.write('MZ');
  dos.writeUInt32LE(dos.length, 60);
  const header = [
    dos,
    Buffer.from('PE\0\0'),
    // x64, one section, the optional header's size, a library.
    u16(0x8664, 1),
    u32(0, 0, 0),
    u16(240, 0x2022),
    u16(0x20b, 14),
    u32(0, HEADERS, 0, 0, SECTION, 0x80000000, 1, SECTION, HEADERS),
    u16(6, 0, 0, 0, 6, 0),
    u32(0, 2 * SECTION, HEADERS, 0),
    u16(3, 0x100),
    u32(0x100000, 0, SECTION, 0, 0x100000, 0, SECTION, 0, 0, 16),
    u32(SECTION, exported.length),
    Buffer.alloc(15 * 8),
    Buffer.from('.edata\0\0'),
    u32(exported.length, SECTION, HEADERS, HEADERS, 0, 0, 0, 0x40000040),
  ];
  return Buffer.concat([padded(Buffer.concat(header)), padded(exported)]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(HEADERS - bytes.length)]);
}

function u16(...numbers: number[]): Buffer {
  return Buffer.from(Uint16Array.from(numbers).buffer);
}

function u32(...numbers: number[]): Buffer {
  return Buffer.from(Uint32Array.from(numbers).buffer);
}
