import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { makeFolders } from '../files/make-folders.ts';

// V8's compiled code, kept between runs: one file per part of the bundle and per command. The folder
// is named after the bundle's hash, Node's version and the processor, because V8 recognizes the
// source of cached code only by its length.
//
// An unreadable or unwritable cache affects only the speed.

export interface CodeCache {
  /** Compiles a part, using what an earlier run stored. */
  compile(part: number, text: string): Script;
  /** Stores what this run compiled, except parts whose cached code was good. */
  save(): void;
}

interface CodeCacheSettings {
  /** Folder for this bundle, Node version and processor; undefined stores nothing. */
  readonly folder: string | undefined;
  /** Each command stores the functions that it runs. */
  readonly command: string;
  /** For stack traces. */
  readonly filename: string;
  /** The user of this process, on systems with numeric users. */
  readonly owner: number | undefined;
}

export function openCodeCache({ folder, command, filename, owner }: CodeCacheSettings): CodeCache {
  const compiled = new Map<string, Script>();
  return {
    compile(part, text) {
      if (folder === undefined) return new Script(text, { filename });
      const file = join(folder, `${command}.${part}`);
      const cachedData = readCode(file, owner);
      const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
      // V8 rejects truncated code and code compiled with other flags.
      if (cachedData === undefined || script.cachedDataRejected) compiled.set(file, script);
      return script;
    },
    save() {
      for (const [file, script] of compiled) writeCode(file, script.createCachedData());
    },
  };
}

/** V8 runs cached code unchecked, so a file counts only if no other user could write it. */
function readCode(file: string, owner: number | undefined): Buffer | undefined {
  try {
    const fd = openSync(file, 'r');
    try {
      const { uid, mode } = fstatSync(fd);
      const isOwn = owner === undefined || (uid === owner && (mode & 0o022) === 0);
      return isOwn ? readFileSync(fd) : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** Writes under another name first: another process may use the file at the same time. */
function writeCode(file: string, code: Buffer): void {
  const fresh = `${file}.${Math.random().toString(36).slice(2)}.new`;
  try {
    makeFolders(dirname(file), 0o700);
    writeFileSync(fresh, code, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, file);
  } catch {
    rmSync(fresh, { force: true });
  }
}
