import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { makeFolders, takeFolderOwner } from '../system/files.ts';

// Stores V8's compiled code between runs: one file per command, since each file holds the functions
// that the command runs. A line of JSON lists the number and length of each module's code. The code
// follows.
//
// The folder is named after the bundle's hash, Node's version and the processor, because V8
// recognizes the source of cached code only by its length.
//
// An unreadable or unwritable cache affects only the speed.

export interface CodeCache {
  /** Compiles a module's function with the code that an earlier run stored. */
  compile(number: number, text: string): Script;
  /** Stores the code of all modules of this run, unless it is already stored. */
  save(): void;
}

/**
 * @param file path of the cache; undefined stores nothing.
 * @param filename for stack traces.
 * @param owner the user of this process, on systems with numeric users.
 */
export function openCodeCache(
  file: string | undefined,
  filename: string,
  owner: number | undefined,
): CodeCache {
  const stored = file === undefined ? new Map<number, Buffer>() : readCodes(file, owner);
  const scripts = new Map<number, Script>();
  let isComplete = true;
  return {
    compile(number, text) {
      const cachedData = stored.get(number);
      const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
      // V8 rejects truncated code and code compiled with other flags.
      if (cachedData === undefined || script.cachedDataRejected) isComplete = false;
      scripts.set(number, script);
      return script;
    },
    save() {
      if (file === undefined || isComplete) return;
      const codes = new Map(stored);
      for (const [number, script] of scripts) codes.set(number, script.createCachedData());
      writeCode(file, joined(codes));
    },
  };
}

/** V8 copies code that is not aligned. Code lengths are already aligned, so pad only the table. */
const ALIGNMENT = 8;

function joined(codes: ReadonlyMap<number, Buffer>): Buffer {
  const table = JSON.stringify([...codes].map(([number, code]) => [number, code.length]));
  const room = Math.ceil((table.length + 1) / ALIGNMENT) * ALIGNMENT;
  return Buffer.concat([Buffer.from(`${table.padEnd(room - 1)}\n`), ...codes.values()]);
}

/** Splits a file that {@link joined} made. Leaves truncated code for V8 to reject. */
function separated(bytes: Buffer): Map<number, Buffer> {
  let at = bytes.indexOf('\n') + 1;
  const table: readonly (readonly [number, number])[] = JSON.parse(bytes.toString('latin1', 0, at));
  return new Map(
    table.map(([number, length]) => {
      at += length;
      return [number, bytes.subarray(at - length, at)];
    }),
  );
}

/** Reads the file only if no other user could write it, since V8 runs cached code unchecked. */
function readCodes(file: string, owner: number | undefined): Map<number, Buffer> {
  try {
    const fd = openSync(file, 'r');
    try {
      const { uid, mode } = fstatSync(fd);
      const isOwn = owner === undefined || (uid === owner && (mode & 0o022) === 0);
      return isOwn ? separated(readFileSync(fd)) : new Map();
    } finally {
      closeSync(fd);
    }
  } catch {
    return new Map();
  }
}

/** Writes to a temporary name first: another process may be using the file. */
function writeCode(file: string, code: Buffer): void {
  const fresh = `${file}.${Math.random().toString(36).slice(2)}.new`;
  try {
    makeFolders(dirname(file), 0o700);
    // V8 crashes on pages that a power cut or a full disk left empty, so flush the file.
    writeFileSync(fresh, code, { mode: 0o600, flag: 'wx', flush: true });
    takeFolderOwner(fresh);
    renameSync(fresh, file);
  } catch {
    rmSync(fresh, { force: true });
  }
}

/** Returns the words before the first flag or value, at most two: `instances-get`. */
export function commandOf(argv: readonly string[]): string {
  const end = argv.findIndex((word) => !/^(?:__)?[a-z]+(?:-[a-z]+)*$/.test(word));
  return argv.slice(0, end < 0 ? 2 : Math.min(end, 2)).join('-') || 'gpucloud';
}
