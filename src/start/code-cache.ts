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

// V8's compiled code, kept from one run to the next: one file for each part of the bundle and each
// command, in a folder named after the bundle's hash, Node's version and the processor. V8 itself
// recognizes the source of cached code by its length only, so another bundle needs another folder.
//
// A cache that can't be read or written changes nothing but the speed.

export interface CodeCache {
  /** Compiles a part, with what an earlier run kept of it. */
  compile(part: number, text: string): Script;
  /** Keeps what this run compiled, except parts whose cached code was good. */
  save(): void;
}

interface CodeCacheSettings {
  /** Of this bundle, Node version and processor; undefined keeps nothing. */
  readonly folder: string | undefined;
  /** Each command keeps the functions that it runs. */
  readonly command: string;
  /** For stack traces. */
  readonly filename: string;
  /** The user of this process, where the system knows users by number. */
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
      // V8 rejects what was cut short, and code compiled under other flags.
      if (cachedData === undefined || script.cachedDataRejected) compiled.set(file, script);
      return script;
    },
    save() {
      for (const [file, script] of compiled) writeCode(file, script.createCachedData());
    },
  };
}

/** V8 runs cached code unseen, so a file counts only if no other user can have written it. */
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

/** Under another name first: another process may read or write the file at the same time. */
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
