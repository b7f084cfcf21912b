import { createHash } from 'node:crypto';
import { copyFileSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILES_AT_ONCE } from '../concurrency.ts';
import { shellLine } from '../output/shell-line.ts';
import { errorCode } from '../system/error-code.ts';
import {
  privateFolder,
  readOwn,
  replaceFile,
  syncFolder,
  takeFolderOwner,
  textOfUtf8,
} from '../system/files.ts';

/** Bytes; a typical journal file is a hundred times smaller. */
const LARGEST = 1024 * 1024;

interface FoundFile {
  readonly path: string;
  /** The file name without `.json`. */
  readonly name: string;
  /** The content; null if the file is unreadable. */
  readonly text: string | null;
}

/**
 * Returns a folder's `.json` files, sorted by name, or none if it is missing. Throws if it can't be
 * read.
 */
export async function filesIn(folder: string): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  for (const [at, file] of namesIn(folder).sort().entries()) {
    if (at % FILES_AT_ONCE === FILES_AT_ONCE - 1)
      await new Promise((resolve) => setImmediate(resolve));
    if (!file.endsWith('.json')) continue;
    const path = join(folder, file);
    const text = readText(path);
    // Skips a file if another process has moved it since the folder was read.
    if (text !== undefined) found.push({ path, name: file.slice(0, -5), text });
  }
  return found;
}

/**
 * Returns the names in a folder, or none if it is missing. `folders` omits files, such as other
 * programs' `.DS_Store`.
 */
export function namesIn(folder: string, which: 'all' | 'folders' = 'all'): string[] {
  const names: string[] = [];
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (which === 'all' || !entry.isFile()) names.push(entry.name);
    }
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  return names;
}

/**
 * Whether any account has an open request, or a living instance with a deadline. Reads only names:
 * nearly every command calls this function and rarely finds a file. Throws if a folder can't be
 * read.
 */
export function isAny(what: 'requests' | 'deadlines', state: string): boolean {
  const root = join(state, 'journal');
  for (const service of namesIn(root, 'folders')) {
    for (const account of namesIn(join(root, service), 'folders')) {
      for (const name of namesIn(join(root, service, account, what))) {
        if (name.endsWith('.json')) return true;
      }
    }
  }
  return false;
}

/** Returns the services and accounts with a journal on this computer, except the sandbox's. */
export function accountsIn(state: string): { service: string; account: string }[] {
  const root = join(state, 'journal');
  const services = namesIn(root, 'folders').filter((name) => !name.startsWith('@'));
  return services.flatMap((folder) =>
    namesIn(join(root, folder), 'folders')
      .filter((name) => !name.startsWith('@'))
      .map((name) => ({ service: serviceIn(folder), account: nameIn(name) })),
  );
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Returns a journal file's text; undefined if it is missing, and null if it is unreadable or another
 * user's. One read
 * decides both: another process may create the file between a read and a second look.
 */
export function readText(path: string): string | null | undefined {
  try {
    const bytes = readOwn(path, LARGEST);
    return (bytes && textOfUtf8(bytes)) ?? null;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : null;
  }
}

/** Writes a record atomically. A crash leaves the old or the new record. */
export async function writeRecord(path: string, record: object): Promise<void> {
  await privateFolder(dirname(path));
  await replaceFile(path, textOfRecord(record));
}

export function textOfRecord(record: object): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}

/** Copies an unreadable file before it is replaced. */
export function keepUnreadable(path: string): void {
  copyFileSync(path, `${path}.unreadable`);
  takeFolderOwner(`${path}.unreadable`);
}

/** Removes a file durably, so that a power cut does not restore it. */
export function removeFile(path: string): void {
  rmSync(path, { force: true });
  syncFolder(dirname(path));
}

/** Bytes. File systems allow 255, so an extension still fits. */
const LONGEST = 150;

/** Names that Windows reads as devices, whatever their extension. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Returns a file name for any text. Different texts get different names, even if the file system
 * ignores case. Keeps a to z, digits, `_`, `-` and inner dots, and replaces other bytes with `%`
 * and two hex digits. A long text ends in a hash.
 */
export function fileName(text: string): string {
  const plain = text.replace(/^\.|\.$|[^a-z0-9._-]/gu, (letter) =>
    [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (DEVICES.test(plain)) return `%${plain.charCodeAt(0).toString(16)}${plain.slice(1)}`;
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 33)}+${hashOf(text)}`;
}

/** Returns the text of a file name; for a long text, only its start. */
export function nameIn(name: string): string {
  const plain = name.replace(/\+[0-9a-f]+/, '').replace(/%.?$/, '');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/**
 * Returns the name of a service's folder: `api.example.com`, `http@127.0.0.1%3a8080`, `@sandbox`.
 */
export function serviceFolder(service: string): string {
  if (service === 'sandbox') return '@sandbox';
  const [, scheme = '', rest = service] = /(https?):\/\/(.*)/s.exec(service) ?? [];
  return `${scheme === 'http' ? 'http@' : ''}${fileName(rest)}`;
}

/** Returns the service of a folder that {@link serviceFolder} named. */
function serviceIn(folder: string): string {
  const [, isHttp, name = ''] = /(http@)?(.*)/s.exec(folder) ?? [];
  return `${isHttp ? 'http' : 'https'}://${nameIn(name)}`;
}

/** Returns a key's fingerprint. It doesn't reveal the key. */
export function fingerprint(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 24);
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * Returns what to check after a file system error. Files of root come from an earlier `sudo`. Never
 * gives a user's folder to root, who may run this.
 */
export function remedyOf(error: unknown, root: string): string {
  const code = errorCode(error);
  if (code !== 'EACCES' && code !== 'EPERM') return `check the folder ${root}`;
  return `give the folder one owner: sudo chown -R ${userOf(root) ?? '"$(id -u)"'} ${shellLine([root])}`;
}

/** Returns the owner of a folder, unless it is root or the folder is out of reach. */
function userOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.uid || undefined;
  } catch {
    return undefined;
  }
}

/** Names the owner of an unreadable file, unless it is its folder's owner. */
export function foreignOwner(path: string): string {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid;
  const expected = lstatSync(dirname(path), { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === expected) return '';
  return owner === 0
    ? ` (it belongs to root; to take it back: sudo chown "$(id -u)" ${shellLine([path])})`
    : ` (it belongs to another user, uid ${owner})`;
}
