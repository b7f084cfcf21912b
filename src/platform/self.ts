import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How this program was installed, and how another process starts it. */
export interface Self {
  /** `package` is the npm package, which Node runs. `executable` is one file with its own runtime. */
  readonly form: 'package' | 'executable';
  /** The program to start, as an absolute path. */
  readonly file: string;
  /** Precedes the words of a command. */
  readonly args: readonly string[];
}

/** In an executable, Bun names the script by a path that no file system has. */
const INSIDE_EXECUTABLE = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/i;

/** @param script the second word of the process's arguments. */
export function isInExecutable(script: string): boolean {
  return INSIDE_EXECUTABLE.test(script);
}

/** The one word that makes the executable read the system's keyring; see src/keyring.ts. */
export const ASK_KEYRING = '--ask-keyring';

/**
 * The program that reads the keyring: a file beside the package's bundle, or the executable itself.
 */
export function keyringProgramOf({ form, file, args: [script = ''] }: Self): KeyringProgram {
  if (form === 'executable') return { file, args: [ASK_KEYRING] };
  return { file, args: [join(dirname(script), '..', 'dist', 'keyring.cjs')] };
}

type KeyringProgram = Pick<Self, 'file' | 'args'>;

/**
 * @param execPath path of the process: Node, or the executable itself.
 * @param script the second word of the process's arguments.
 */
export function selfOf(execPath: string, script: string): Self {
  if (isInExecutable(script)) return { form: 'executable', file: execPath, args: [] };
  // npm links the script onto PATH. The file stays in place when that link moves.
  return { form: 'package', file: execPath, args: [realpathSync(script)] };
}
