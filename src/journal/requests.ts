import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { isSameName, nameKey } from '../rules/names.ts';
import { errorCode } from '../system/error-code.ts';
import {
  checkArrived,
  privateFolder,
  replaceFile,
  syncFolder,
  takeFolderOwner,
} from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import type { JournalSettings } from './contract.ts';
import {
  exists,
  fileName,
  filesIn,
  nameIn,
  namesIn,
  readText,
  removeFile,
  textOfRecord,
} from './files.ts';
import { parseRecord, type RequestRecord } from './record.ts';

/** Milliseconds after a request's timeout during which its process may still write the outcome. */
const GRACE = 10_000;

/** A request as stored in its file. */
export interface KeptRequest extends RequestRecord {
  readonly path: string;
  /** Folder of the account. */
  readonly folder: string;
  readonly isInFlight: boolean;
}

type Named = Pick<RequestRecord, 'name' | 'uid'>;

type Alive = Pick<JournalSettings, 'clock' | 'isAlive'>;

/**
 * Writes a complete, fsynced request under its name, or leaves no file. Returns false if another
 * request has the name. Throws file system errors.
 */
export async function createRequest(folder: string, record: RequestRecord): Promise<boolean> {
  if (olderPaths(folder, record.name).length > 0) return false;
  const path = mainPath(folder, record.name);
  const whole = `${path}.${record.uid}.tmp`;
  const text = textOfRecord(record);
  await privateFolder(dirname(path));
  let isOurs = false;
  try {
    await replaceFile(whole, text);
    isOurs = reserve(whole, path, text);
    rmSync(whole);
    if (isOurs) syncFolder(dirname(path));
    return isOurs;
  } catch (error) {
    // Nothing was sent, so no file may remain that looks like a request.
    if (isOurs) rmSync(path, { force: true });
    rmSync(whole, { force: true });
    throw error;
  }
}

/** Gives a complete file its name. Only one process can link a file to a name. */
function reserve(whole: string, path: string, text: string): boolean {
  try {
    linkSync(whole, path);
    return true;
  } catch (error) {
    // FAT and some network file systems have no hard links.
    return errorCode(error) === 'EEXIST' ? false : createExclusively(path, text);
  }
}

/** Only one process can create a file with O_EXCL, but a crash can leave a part of it. */
function createExclusively(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    try {
      writeFileSync(file, text);
      takeFolderOwner(path);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    checkArrived(path, text);
    return true;
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Returns an account's open requests, oldest first. Calls `spoil` with the path of each unreadable
 * file.
 */
export async function requestsIn(
  folder: string,
  alive: Alive,
  spoil: (path: string) => void,
): Promise<KeptRequest[]> {
  const files = await filesIn(join(folder, 'requests'));
  const kept = files.flatMap(({ path, name, text }) => {
    const request = keptRequest(folder, path, name, text, alive);
    if (request === undefined) spoil(path);
    return request ?? [];
  });
  return kept.sort((a, b) => Date.parse(a.asked_at) - Date.parse(b.asked_at));
}

/** Throws CliError('storage') for an unreadable file, since its request may have rented. */
export function requestNamed(folder: string, name: string, alive: Alive): KeptRequest | undefined {
  for (const path of [mainPath(folder, name), ...olderPaths(folder, name)]) {
    const text = readText(path);
    if (text === undefined) continue;
    const request = keptRequest(folder, path, basename(path, '.json'), text, alive);
    if (request !== undefined) return request;
    throw new CliError('storage', `Could not read the earlier request for ${name}: ${path}`, {
      hint: 'check your instances in the web console, then delete the file',
      mayBeBilling: true,
    });
  }
  return undefined;
}

function keptRequest(
  folder: string,
  path: string,
  name: string,
  text: string | null,
  { clock, isAlive }: Alive,
): KeptRequest | undefined {
  const record = parseRecord('request', path, text);
  if (record === undefined || !isPlace(name, record)) return undefined;
  const { pid, asked_at, timeout_ms } = record;
  // A clock set back must not make a request look new or endless.
  const age = Math.abs(clock.now() - Date.parse(asked_at));
  return {
    ...record,
    path,
    folder,
    isInFlight: pid !== null && age < timeout_ms + GRACE && isAlive(pid),
  };
}

function isPlace(name: string, { name: wanted, uid }: RequestRecord): boolean {
  const places = [fileName(nameKey(wanted)), fileName(wanted), `${fileName(wanted)}~${uid}`];
  return places.includes(name);
}

/** Returns the path that reserves a name in any case. */
function mainPath(folder: string, name: string): string {
  return join(folder, 'requests', `${fileName(nameKey(name))}.json`);
}

/**
 * Returns files of earlier versions that reserve the name. They kept the case: `Trainer` was
 * `%54rainer.json`.
 */
function olderPaths(folder: string, name: string): string[] {
  const requests = join(folder, 'requests');
  const own = basename(mainPath(folder, name));
  return namesIn(requests)
    .filter((file) => /^[^~]*\.json$/.test(file) && file !== own)
    .filter((file) => isSameName(nameIn(file.slice(0, -5)), name))
    .map((file) => join(requests, file));
}

/** Returns the path of an open request that no longer reserves its name. */
function asidePath(folder: string, { name, uid }: Named): string {
  return join(folder, 'requests', `${fileName(name)}~${uid}.json`);
}

/**
 * Frees the name of a request whose process stopped waiting. Of several processes only one moves
 * the file; the others find the name free or taken by a new request.
 */
export async function moveAside(request: KeptRequest, alive: Alive): Promise<void> {
  const { folder, name, path, uid } = request;
  await withLock(path, async () => {
    const now = requestNamed(folder, name, alive);
    if (now === undefined || now.uid !== uid || now.isInFlight) return;
    renameSync(path, asidePath(folder, { name, uid }));
    syncFolder(dirname(path));
  });
}

/** Records that no process is waiting for the response. */
export async function giveUpRequest(folder: string, record: RequestRecord): Promise<void> {
  await replaceFile(placeOf(folder, record), textOfRecord({ ...record, pid: null }));
}

export function removeRequest(folder: string, request: Named): void {
  removeFile(placeOf(folder, request));
}

/**
 * Returns a request's current path: another process may have moved it aside, and a new request may
 * have its name.
 */
function placeOf(folder: string, request: Named): string {
  const aside = asidePath(folder, request);
  if (exists(aside)) return aside;
  const isOwn = (path: string) => parseRecord('request', path, readText(path))?.uid === request.uid;
  const main = mainPath(folder, request.name);
  // Reads no folder for the usual file, since that may fail while a request is removed.
  return isOwn(main) ? main : (olderPaths(folder, request.name).find(isOwn) ?? aside);
}

/** Moves a request to the archive. No command reads the archive. */
export async function archiveRequest({ folder, path, name, uid }: KeptRequest): Promise<void> {
  const archive = join(folder, 'archive');
  await privateFolder(archive);
  renameSync(path, join(archive, `${fileName(name)}~${uid}.request`));
  syncFolder(dirname(path));
}
