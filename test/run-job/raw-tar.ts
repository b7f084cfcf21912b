/** An entry of a tar archive, which may break every rule. */
export interface RawEntry {
  readonly name: string;
  /** The type's letter: `0` a file, `1` a hard link, `2` a symlink, `3` a device, `5` a folder. */
  readonly type?: string;
  readonly linkname?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly content?: string;
  /** Bytes, if not those of the content. */
  readonly size?: number;
}

/** A tar archive with its end. */
export function rawTar(entries: readonly RawEntry[]): Buffer {
  return Buffer.concat([...entries.map(rawEntry), Buffer.alloc(1024)]);
}

export function rawEntry(entry: RawEntry): Buffer {
  const { name, type = '0', linkname = '', mode = 0o644, uid = 0, content = '' } = entry;
  const header = Buffer.alloc(512);
  header.write(name, 0, 100);
  header.write(octal(mode, 7), 100);
  header.write(octal(uid, 7), 108);
  header.write(octal(uid, 7), 116);
  writeSize(header, entry.size ?? content.length);
  header.write(octal(1_700_000_000, 11), 136);
  header.write(' '.repeat(8), 148);
  header.write(type, 156);
  header.write(linkname, 157, 100);
  header.write('ustar\0' + '00', 257);
  header.write(octal(1, 7), 329);
  header.write(octal(3, 7), 337);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}

/** Sizes beyond eleven digits are binary, and may be negative. */
function writeSize(header: Buffer, size: number): void {
  if (size >= 0 && size < 8 ** 11) {
    header.write(octal(size, 11), 124);
    return;
  }
  header.fill(size < 0 ? 0xff : 0, 124, 136);
  header.writeBigInt64BE(BigInt(size), 128);
  if (size >= 0) header[124] = 0x80;
}
