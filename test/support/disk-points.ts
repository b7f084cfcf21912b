import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** The file system calls that change the journal. */
const CALLS = [
  ...['openSync', 'writeFileSync', 'fsyncSync', 'chmodSync', 'mkdirSync'],
  ...['renameSync', 'rmSync', 'copyFileSync'],
] as const;

type Call = (...given: unknown[]) => unknown;

/**
 * Calls `onPoint` before each call that may change the disk. Returns a function that stops this.
 */
export function watchDisk(onPoint: () => void): () => void {
  const own = fs as unknown as Record<string, Call>;
  const before = CALLS.map((name) => [name, own[name]] as const);
  for (const [name, call] of before) {
    own[name] = (...given) => {
      if (name !== 'openSync' || isWriting(given[1])) onPoint();
      return call?.(...given);
    };
  }
  syncBuiltinESMExports();
  return () => {
    for (const [name, call] of before) if (call !== undefined) own[name] = call;
    syncBuiltinESMExports();
  };
}

function isWriting(flags: unknown): boolean {
  return typeof flags === 'number'
    ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0
    : /[wa+]/.test(String(flags ?? 'r'));
}

/** Copies the folder as a process killed now would leave it. */
export function diskImage(folder: string): { restore(): void; remove(): void } {
  const image = fs.mkdtempSync(`${folder}-image-`);
  // Omits locks: a killed process's lock expires by file time, which a test can't set.
  const filter = (path: string) => !path.endsWith('.lock');
  fs.cpSync(folder, image, { recursive: true, filter });
  return {
    restore() {
      fs.rmSync(folder, { recursive: true, force: true });
      fs.cpSync(image, folder, { recursive: true });
    },
    remove: () => fs.rmSync(image, { recursive: true, force: true }),
  };
}
