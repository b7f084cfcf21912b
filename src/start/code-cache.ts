import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolders } from '../files/make-folders.ts';
import { scratch } from './scratch.ts';

// Compiled code of the program, kept between runs. V8 runs it without looking at it, so:
//
// - V8 knows the text that code belongs to by its length alone. A file is therefore called and
//   headed by a hash of the bundle, by Node's version and the processor, and by the bundle's path,
//   size and time: all of it has to be equal, or the code may be that of an older gpucloud.
// - V8 does not notice a flipped bit, and may do anything for it. All stands twice in a file, and
//   both have to be equal: nothing else that Node has without loading more looks at each byte as
//   fast.
// - Whoever can write the file decides what is run. It has to be an ordinary file of the same user
//   in a folder of the same user, both closed to the writing of anyone else; links are not followed.
// - Two processes may write at once, disks fill up, machines lose power. A file is written under
//   another name, then renamed; of what is cut short the halves differ.
//
// A file that does not fit counts as none. Whatever goes wrong here is told to no one.

export interface Shelf {
  readonly folder: string;
  /** The hash of the bundle. */
  readonly bundle: string;
  /** Node and processor: `v20.20.2-x64`. */
  readonly runtime: string;
  /** Whose code it is, as `instances-get`; '' for the root. */
  readonly command: string;
  /** What else has to be the same, in one line. */
  readonly details: string;
  /** The user of this process, where the system knows users by number. */
  readonly owner?: number;
}

export interface KeptCode {
  /** The words of the command lines that it was kept after. */
  readonly words: readonly string[];
  /** For each part of the bundle that was compiled. */
  readonly code: ReadonlyMap<number, Buffer>;
}

const MOST_BYTES = 32 * 1024 * 1024;
/** Code begins at a multiple of this, so that V8 reads it where it stands. */
const ALIGNED_BYTES = 64;
/** The second half is read in pieces of this, to be compared with the first. */
const PIECE_BYTES = 256 * 1024;

/** Files of all commands, of all versions of gpucloud and of Node, together. */
const MOST_FILES = 60;
/** A file of another bundle goes after this, and so does one whose writer died. */
const OLD_MS = 14 * 24 * 60 * 60 * 1000;
const ABANDONED_MS = 60 * 1000;
const NAME = /^[0-9a-f]{16}-v[0-9][0-9a-z.-]*\.code(?:\.new)?$/;

/**
 * What an earlier run kept, when all about it is right.
 * Throws what the file system throws.
 */
export function readCode(shelf: Shelf): KeptCode | undefined {
  const folder = lstatSync(shelf.folder);
  if (!folder.isDirectory() || !isPrivate(folder, shelf)) return undefined;
  // Without waiting: a pipe may stand there with no one at its other end.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const fd = openSync(join(shelf.folder, fileName(shelf)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || !isPrivate(stat, shelf) || stat.size > MOST_BYTES) return undefined;
    const half = Buffer.allocUnsafeSlow(Math.ceil(stat.size / 2));
    if (readSync(fd, half, 0, half.length, 0) !== half.length || !standsTwice(fd, half)) {
      return undefined;
    }
    return unpack(half, shelf);
  } finally {
    closeSync(fd);
  }
}

/**
 * Keeps code for the next run. What stood there before stays until all of the new is written.
 * Throws what the file system throws.
 */
export function keepCode(shelf: Shelf, kept: KeptCode): void {
  if (!makeFolder(shelf)) return;
  const path = join(shelf.folder, fileName(shelf));
  const fresh = `${path}.new`;
  let fd: number;
  try {
    fd = openSync(fresh, 'wx', 0o600);
  } catch {
    // Another process is writing it, or died while it did.
    if (age(fresh) > ABANDONED_MS) rmSync(fresh);
    return;
  }
  try {
    try {
      writeFileSync(fd, pack(shelf, kept));
    } finally {
      closeSync(fd);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  tidy(shelf);
}

function fileName({ bundle, runtime, command, details }: Shelf): string {
  const parts = [bundle.slice(0, 16), runtime, shortHash(details), command];
  return `${parts.filter((part) => part !== '').join('-')}.code`;
}

/** Tells files apart by their names (FNV-1a); their headers hold the whole. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

/** The header in a line and the code, each padded; and all that once more. */
function pack(shelf: Shelf, { words, code }: KeptCode): Buffer {
  const sizes = [...code].map(([part, piece]) => [part, piece.length] as const);
  const header: Header = [identity(shelf), words, sizes];
  const pieces = [Buffer.from(`${JSON.stringify(header)}\n`), ...code.values()];
  const half = Buffer.alloc(pieces.reduce((size, piece) => size + aligned(piece.length), 0));
  let at = 0;
  for (const piece of pieces) {
    piece.copy(half, at);
    at += aligned(piece.length);
  }
  return Buffer.concat([half, half]);
}

type Header = [
  identity: string,
  words: readonly string[],
  sizes: readonly (readonly [part: number, bytes: number])[],
];

/** Whether what was read of the file comes once more in it. */
function standsTwice(fd: number, half: Buffer): boolean {
  for (let at = 0; at < half.length; at += PIECE_BYTES) {
    const first = half.subarray(at, at + PIECE_BYTES);
    const second = scratch(first.length);
    const count = readSync(fd, second, 0, second.length, half.length + at);
    if (count !== first.length || !second.equals(first)) return false;
  }
  return half.length > 0;
}

function unpack(half: Buffer, shelf: Shelf): KeptCode | undefined {
  const end = half.indexOf('\n') + 1;
  const [told, words, sizes]: Header = JSON.parse(half.toString('utf8', 0, end));
  if (told !== identity(shelf)) return undefined;
  const code = new Map<number, Buffer>();
  let at = aligned(end);
  for (const [part, size] of sizes) {
    code.set(part, half.subarray(at, at + size));
    at += aligned(size);
  }
  return { words, code };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNED_BYTES) * ALIGNED_BYTES;
}

function identity({ bundle, runtime, command, details }: Shelf): string {
  return JSON.stringify([bundle, runtime, command, details]);
}

/** Whether no one but the user of this process can have written it. */
function isPrivate({ uid, mode }: Stats, { owner }: Shelf): boolean {
  return owner === undefined || (uid === owner && (mode & 0o022) === 0);
}

/** Answers whether the folder, which may have been there, can be trusted. */
function makeFolder(shelf: Shelf): boolean {
  const found = lstatSync(shelf.folder, { throwIfNoEntry: false });
  if (found !== undefined) return found.isDirectory() && isPrivate(found, shelf);
  if (shelf.owner === 0 && !isRoots(shelf.folder)) return false;
  makeFolders(shelf.folder, 0o700);
  return true;
}

/** With sudo, HOME may be another user's, who could not use a folder that root made there. */
function isRoots(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found === undefined ? isRoots(dirname(folder)) : found.uid === 0;
}

/** Milliseconds since a file was written, or until then: a clock that was wrong may be right again. */
function age(path: string): number {
  return Math.abs(Date.now() - lstatSync(path).mtimeMs);
}

/** What no one will read again goes, so that the folder stays small through all upgrades. */
function tidy({ folder, bundle }: Shelf): void {
  const files = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => ({ name, age: age(join(folder, name)) }))
    .sort((one, other) => one.age - other.age);
  for (const [at, { name, age }] of files.entries()) {
    const isOwn = name.startsWith(bundle.slice(0, 16));
    const most = name.endsWith('.new') ? ABANDONED_MS : isOwn ? Number.POSITIVE_INFINITY : OLD_MS;
    if (age > most || at >= MOST_FILES) rmSync(join(folder, name), { force: true });
  }
}
