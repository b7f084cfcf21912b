import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How gpucloud was installed, and how another process starts it. */
export interface Self {
  /**
   * `package` is the npm package, which runs on Node. `executable` is one file with its own
   * runtime.
   */
  readonly form: 'package' | 'executable';
  /** The program to start, as an absolute path. */
  readonly file: string;
  /** Arguments before those of a command. */
  readonly args: readonly string[];
}

/** Script path that Bun invents inside an executable; no file system has it. */
const INSIDE_EXECUTABLE = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i;

/** @param script `process.argv[1]`. */
export function isInExecutable(script: string): boolean {
  return INSIDE_EXECUTABLE.test(script);
}

/** Argument that makes the executable access the system's keyring; see src/system/keyring.ts. */
export const ASK_KEYRING = '--ask-keyring';

/**
 * Returns the program that accesses the keyring: a file beside the package's bundle, or the
 * executable itself.
 */
export function keyringProgramOf({ form, file, args: [script = ''] }: Self): KeyringProgram {
  if (form === 'executable') return { file, args: [ASK_KEYRING] };
  return { file, args: [join(dirname(script), '..', 'dist', 'keyring.cjs')] };
}

type KeyringProgram = Pick<Self, 'file' | 'args'>;

/**
 * @param execPath path of the process: Node, or the executable itself.
 * @param script `process.argv[1]`.
 */
export function selfOf(execPath: string, script: string): Self {
  if (isInExecutable(script)) return { form: 'executable', file: execPath, args: [] };
  // npm puts a link to the script on PATH. The link may move, but the file stays.
  return { form: 'package', file: execPath, args: [realpathSync(script)] };
}
