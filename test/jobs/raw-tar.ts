/** A tar entry, which may be invalid. */
export interface RawEntry {
  readonly name: string;
  /** The type flag: `0` a file, `1` a hard link, `2` a symlink, `3` a device, `5` a folder. */
  readonly type?: string;
  readonly linkname?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly content?: string;
  /** Overrides the content's length in the header. */
  readonly size?: number;
  /** Seconds since 1970. */
  readonly mtime?: number;
}

/** Builds a tar archive with its end blocks. */
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
  writeNumber(header, 124, entry.size ?? content.length);
  writeNumber(header, 136, entry.mtime ?? 1_700_000_000);
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

/** Writes octal digits, or binary for a negative or large number. */
function writeNumber(header: Buffer, at: number, value: number): void {
  if (value >= 0 && value < 8 ** 11) {
    header.write(octal(value, 11), at);
    return;
  }
  header.fill(value < 0 ? 0xff : 0, at, at + 12);
  header.writeBigInt64BE(BigInt(value), at + 4);
  if (value >= 0) header[at] = 0x80;
}
