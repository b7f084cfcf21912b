import {
  accessSync,
  chownSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { errorCode } from '../system/error-code.ts';
import { privateFolder, renameOver, syncFolder, takeFolderOwner } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import { type ConfigFile, emptyFile, fileSchema, ownNamesOnly, profileSchema } from './file.ts';

export type Config = ReturnType<typeof openConfig>;

/**
 * Opens the profile file. Each call reads it again. `folder` is the config folder, created (0700)
 * at the first change. Opening reads and writes no file.
 */
export function openConfig(folder: string) {
  const path = join(folder, 'config.json');
  return {
    /** The path of config.json. The file may not exist. */
    path,
    /**
     * Reads the file; a missing file has no profiles. Throws CliError('storage') with the path of
     * an unusable file.
     */
    read: (): Promise<ConfigFile> => readConfig(path),
    /**
     * Changes the file; no other method writes it. Calls `edit` under the lock, writes its result,
     * and returns the content on disk afterwards. Throws what `edit` throws. Throws
     * CliError('storage') and leaves the file unchanged if it is unusable or can't be saved.
     */
    async change(edit: (file: ConfigFile) => ConfigFile): Promise<ConfigFile> {
      const target = await writableTarget(path);
      return withLock(target, async () => save(target, edit(await readConfig(target))), {
        otherwise: (error, isHeld) => Promise.reject(notLocked(target, error, isHeld)),
      });
    },
  };
}

/**
 * Reads profiles for Tab without conf and the schemas, which take too long to load for that. Throws
 * for an unusable file.
 */
export function peekConfig(folder: string): ConfigFile {
  const path = join(folder, 'config.json');
  if (statOf(path)?.isFile() !== true) return emptyFile();
  const file: ConfigFile = JSON.parse(readFileSync(path, 'utf8'));
  return { ...file, profiles: ownNamesOnly(file.profiles) };
}

async function readConfig(path: string): Promise<ConfigFile> {
  // Checks before conf does: conf would create the folder, and would wait for a pipe.
  const found = statOf(path);
  if (found === undefined) return emptyFile();
  if (!found.isFile()) {
    throw unusable(path, found.isDirectory() ? 'it is a folder' : 'it is not a regular file');
  }
  try {
    const { store } = await openConf(path);
    return store as unknown as ConfigFile;
  } catch (error) {
    throw error instanceof CliError
      ? error
      : unusable(path, `it can't be read: ${meaning(error)}`, error);
  }
}

/**
 * Returns undefined if the file is missing. Rejects a dangling symlink: a write would replace it.
 */
function statOf(path: string): Stats | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return found;
    // Another process may have created the file since. Only a link is still missing its file.
    const created = lstatSync(path, { throwIfNoEntry: false });
    if (created?.isSymbolicLink() !== true) return created;
  } catch (error) {
    throw unusable(path, `it can't be read: ${meaning(error)}`, error);
  }
  throw unusable(path, 'it is a symlink to a missing file');
}

/** Opens the file with conf. conf defines its format and mode, and reads and writes it. */
async function openConf(path: string) {
  const { default: Conf } = await import('conf');
  return new Conf<Record<string, unknown>>({
    // Sets both options, so that conf reads neither the environment nor the working folder.
    cwd: dirname(path),
    configName: basename(path),
    fileExtension: '',
    configFileMode: 0o600,
    // Sets the whole store, since `set(key, …)` drops a key named `__proto__`.
    accessPropertiesByDotNotation: false,
    serialize: textOf,
    deserialize: (text) => ({ ...parseConfig(path, text) }),
  });
}

function textOf(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Parses the file. Throws CliError('storage') with the path but not the text: it may be a key. */
function parseConfig(path: string, text: string): ConfigFile {
  if (text.includes('\ufffd')) throw unusable(path, 'it is not UTF-8 text');
  if (text.trim() === '') throw unusable(path, 'it is empty');
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    throw unusable(path, 'it is not valid JSON');
  }
  const wrong = wrongPart(value);
  if (wrong !== undefined) {
    throw unusable(path, `it is not a valid config file (check ${wrong})`);
  }
  const file = value as ConfigFile;
  return { ...file, profiles: ownNamesOnly(file.profiles) };
}

/**
 * Writes a new file next to the target, reads it back, and only then replaces the target. On a full
 * disk, conf can write half of the JSON without an error.
 */
async function save(target: string, after: ConfigFile): Promise<ConfigFile> {
  const fresh = `${target}.new`;
  const text = textOf(after);
  try {
    // Removes temporary files that a killed process left.
    removeLeftovers(target);
    const conf = await openConf(fresh);
    conf.store = { ...after };
    if (readFileSync(fresh, 'utf8') !== text) {
      throw notSaved(target, 'the write was incomplete; the disk may be full');
    }
    const file = parseConfig(target, text);
    keepOwner(target, fresh);
    await renameOver(fresh, target);
    syncFolder(dirname(target));
    return file;
  } catch (error) {
    removeLeftovers(target);
    throw error instanceof CliError ? error : notSaved(target, meaning(error), error);
  }
}

function keepOwner(target: string, fresh: string): void {
  const [before, now] = [statSync(target, { throwIfNoEntry: false }), statSync(fresh)];
  if (before === undefined) takeFolderOwner(fresh);
  else if (before.uid !== now.uid || before.gid !== now.gid) {
    chownSync(fresh, before.uid, before.gid);
  }
}

/** Removes new files and conf's temporary files, since they may contain keys. */
function removeLeftovers(target: string): void {
  const folder = dirname(target);
  const begin = `${basename(target)}.new`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(begin)) continue;
    if (!/^(?:\.tmp-\d{10}[0-9a-f]{6})?$/.test(name.slice(begin.length))) continue;
    try {
      rmSync(join(folder, name), { force: true });
    } catch (error) {
      throw notSaved(target, `could not remove ${join(folder, name)}: ${meaning(error)}`, error);
    }
  }
}

/** Returns the file to write. A link stays a link; its target changes. */
async function writableTarget(path: string): Promise<string> {
  try {
    await privateFolder(dirname(path));
  } catch (error) {
    throw notSaved(path, `could not create its folder: ${meaning(error)}`, error);
  }
  const target = statOf(path) === undefined ? path : realpathSync(path);
  try {
    // Checks access first, since the lock would retry for seconds in a read-only folder.
    accessSync(dirname(target), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw notSaved(path, `could not write to its folder: ${meaning(error)}`, error);
  }
  return target;
}

/** Builds the error for a change to a file that can't be locked. */
export function notLocked(target: string, error: unknown, isHeld: boolean): CliError {
  const what = isHeld
    ? 'another gpucloud process is still changing the file'
    : `it can't be locked: ${meaning(error)}`;
  return notSaved(target, what, error);
}

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file would exceed the size limit',
  EISDIR: 'it is a folder',
  ERR_FS_EISDIR: 'it is a folder',
  ENOTDIR: 'part of the path is not a folder',
  ELOOP: 'too many links',
  EIO: 'the disk has an I/O error',
  EMFILE: 'too many files are open',
};

/** Describes a file system error without its path: `permission denied`. */
function meaning(error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? 'an unexpected error' : (MEANINGS[code] ?? code);
}

/** Builds the error for an invalid file. The file stays unchanged. */
function unusable(path: string, what: string, cause?: unknown): CliError {
  return new CliError('storage', `${path}: ${what}. The file is unchanged.`, {
    hint: 'correct the file, or move it away and run: gpucloud login',
    resource: path,
    cause,
  });
}

/** Builds the error for a change that is not on disk; the file has its previous content. */
function notSaved(path: string, what: string, cause?: unknown): CliError {
  return new CliError('storage', `could not save the change to ${path}: ${what}`, {
    hint: 'the settings are unchanged; set GPUCLOUD_CONFIG_DIR to use another folder',
    resource: path,
    cause,
  });
}

/**
 * Returns the invalid part of a config file (`profiles.work.base_url`, `the whole`), or undefined
 * if it is valid. Never returns a value of the file, since that may be a key.
 *
 * The schemas only validate: zod drops a key named `__proto__` from its result, so saving that
 * result would lose it. For the same reason each profile is validated separately.
 */
function wrongPart(value: unknown): string | undefined {
  const whole = fileSchema().safeParse(value);
  if (!whole.success) return part([], whole.error.issues[0]?.path);
  for (const [name, profile] of Object.entries((value as ConfigFile).profiles)) {
    const verdict = profileSchema().safeParse(profile);
    if (!verdict.success) return part(['profiles', name], verdict.error.issues[0]?.path);
  }
  return undefined;
}

function part(above: readonly string[], below: readonly PropertyKey[] = []): string {
  return [...above, ...below].map(String).join('.') || 'the whole file';
}
