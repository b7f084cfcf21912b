import {
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';
import { withLock } from '../files/lock.ts';
import { privateFolder } from '../files/private-folder.ts';
import { checkArrived, replaceFile, syncFolder } from '../files/replace.ts';
import type { JournalSettings } from './contract.ts';
import {
  exists,
  fileName,
  filesIn,
  hashOf,
  nameIn,
  readText,
  removeFile,
  textOfRecord,
} from './files.ts';
import { parseRecord, type RequestRecord } from './record.ts';

/**
 * Milliseconds after a request's timeout during which its process may still write the outcome. For
 * the same time, a new file may be incomplete.
 */
const GRACE = 10_000;

/** A request as stored in its file. */
export interface KeptRequest extends RequestRecord {
  readonly path: string;
  /** Folder of the account. */
  readonly folder: string;
  readonly isTorn: boolean;
  readonly isInFlight: boolean;
}

type Named = Pick<RequestRecord, 'name' | 'uid'>;

type Alive = Pick<JournalSettings, 'clock' | 'isAlive'>;

/**
 * Writes a complete, fsynced request under its name, or leaves no file. Returns false if another
 * request has the name: O_EXCL lets only one process create the file. Throws file system errors.
 */
export async function createRequest(folder: string, record: RequestRecord): Promise<boolean> {
  const path = mainPath(folder, record.name);
  const text = textOfRecord(record);
  await privateFolder(dirname(path));
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
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    checkArrived(path, text);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  return true;
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
    if (request?.isTorn === true && !request.isInFlight) spoil(path);
    return request ?? [];
  });
  return kept.sort((a, b) => Date.parse(a.asked_at) - Date.parse(b.asked_at));
}

export function requestNamed(folder: string, name: string, alive: Alive): KeptRequest | undefined {
  const path = mainPath(folder, name);
  const text = readText(path);
  if (text === undefined && !exists(path)) return undefined;
  return keptRequest(folder, path, fileName(name), text, alive);
}

function keptRequest(
  folder: string,
  path: string,
  name: string,
  text: string | undefined,
  { clock, isAlive }: Alive,
): KeptRequest | undefined {
  const record = parseRecord('request', text);
  if (record !== undefined && isPlace(name, record)) {
    const { pid, asked_at, timeout_ms } = record;
    // A clock set back must not make a request look new or endless.
    const age = Math.abs(clock.now() - Date.parse(asked_at));
    const isInFlight = pid !== null && age < timeout_ms + GRACE && isAlive(pid);
    return { ...record, path, folder, isTorn: false, isInFlight };
  }
  const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (changed === undefined) return undefined;
  const [main = '', uid] = name.split('~');
  return {
    version: 1,
    uid: uid ?? tornUid(main, changed),
    operation: 'create',
    name: nameIn(main),
    asked_at: new Date(changed).toISOString(),
    pid: null,
    timeout_ms: 0,
    offer_id: null,
    path,
    folder,
    isTorn: true,
    // The file may be half written. Uses the wall clock, since the time comes from the file system.
    isInFlight: uid === undefined && Math.abs(Date.now() - changed) < GRACE,
  };
}

/** Returns a UID for a request with an unreadable file. */
function tornUid(file: string, changed: number): string {
  return `torn-${hashOf(`${file} ${changed}`)}`;
}

function isPlace(name: string, { name: wanted, uid }: RequestRecord): boolean {
  return name === fileName(wanted) || name === `${fileName(wanted)}~${uid}`;
}

function mainPath(folder: string, name: string): string {
  return join(folder, 'requests', `${fileName(name)}.json`);
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

/** Records that no process is waiting for the response, and the ID from the response, if any. */
export async function giveUpRequest(
  folder: string,
  record: RequestRecord,
  shown_id: string | undefined,
): Promise<void> {
  await replaceFile(placeOf(folder, record), textOfRecord({ ...record, pid: null, shown_id }));
}

export function removeRequest(folder: string, request: Named): void {
  removeFile(placeOf(folder, request));
}

/**
 * Returns a request's current path: another process may have moved it aside, and a new request may
 * have its name.
 */
function placeOf(folder: string, request: Named): string {
  const [main, aside] = [mainPath(folder, request.name), asidePath(folder, request)];
  if (exists(aside)) return aside;
  const changed = statSync(main, { throwIfNoEntry: false })?.mtimeMs;
  if (changed === undefined) return main;
  const { uid } = parseRecord('request', readText(main)) ?? {
    uid: tornUid(fileName(request.name), changed),
  };
  return uid === request.uid ? main : aside;
}

/** Moves a request to the archive. No command reads the archive. */
export async function archiveRequest({ folder, path, name, uid }: KeptRequest): Promise<void> {
  const archive = join(folder, 'archive');
  await privateFolder(archive);
  renameSync(path, join(archive, `${fileName(name)}~${uid}.request`));
  syncFolder(dirname(path));
}
