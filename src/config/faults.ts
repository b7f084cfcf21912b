import { CliError } from '../errors.ts';

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the system does not let a file grow that large',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ELOOP: 'too many links lead on from it',
  EIO: 'the disk does not answer as it should',
  EMFILE: 'too many files are open',
};

/** What a file system's error means, without its path: `permission denied`. */
export function meaning(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? 'an unexpected error' : (WORDS[code] ?? code);
}

/** `ENOENT` and the like; undefined for an error that no system call made. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}

/** A file that stays as it is, because it isn't what this program would write. */
export function unusable(path: string, what: string, cause?: unknown): CliError {
  return new CliError('storage', `${path}: ${what}. It was left as it is.`, {
    hint: 'correct the file, or move it away and run: gpucloud login',
    resource: path,
    cause,
  });
}

/** A change that is not on the disk; what was there before still is. */
export function notSaved(path: string, what: string, cause?: unknown): CliError {
  return new CliError('storage', `${path}: the change was not saved: ${what}`, {
    hint: 'the settings are as they were before; GPUCLOUD_CONFIG_DIR names another folder',
    resource: path,
    cause,
  });
}
