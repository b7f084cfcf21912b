import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Instance } from '../api/index.ts';
import { isTerminated, leadsTo } from '../rules/statuses.ts';
import { errorCode } from '../system/error-code.ts';
import { privateFolder } from '../system/files.ts';
import type { Ends, KnownInstance } from './contract.ts';
import { deadlinePath, idleOf, removeIdle, rescueOf } from './deadlines.ts';
import { fileName, filesIn, keepUnreadable, readText, writeRecord } from './files.ts';
import {
  type InstanceRecord,
  LAST_VERSION,
  type Origin,
  parseRecord,
  type SeenInstance,
  storedText,
} from './record.ts';

/** Living instances have a separate folder, so that reading them stays fast. */
export type Place = 'instances' | 'archive';

export interface KeptInstance {
  readonly path: string;
  readonly folder: string;
  readonly place: Place;
  readonly record: InstanceRecord;
}

/** Milliseconds after which to store an unchanged instance again. */
const FRESH = 10 * 60_000;

/** Returns an account's instances. Calls `spoil` with the path of each unreadable file. */
export async function instancesIn(
  folder: string,
  place: Place,
  spoil: (path: string) => void,
): Promise<KeptInstance[]> {
  const files = await filesIn(join(folder, place));
  return files.flatMap(({ path, name, text }) => {
    const kept = keptInstance(folder, place, path, name, text);
    if (kept === undefined) spoil(path);
    return kept ?? [];
  });
}

/** Reads one instance, and no other file. Returns `unreadable` if its only file can't be read. */
export function findInstance(
  folders: readonly string[],
  id: string,
): KeptInstance | 'unreadable' | undefined {
  const name = fileName(id);
  let isUnreadable = false;
  for (const folder of folders) {
    for (const place of ['instances', 'archive'] as const) {
      const path = join(folder, place, `${name}.json`);
      const text = readText(path);
      const kept = keptInstance(folder, place, path, name, text);
      if (kept !== undefined) return kept;
      isUnreadable ||= text !== undefined;
    }
  }
  return isUnreadable ? 'unreadable' : undefined;
}

function keptInstance(
  folder: string,
  place: Place,
  path: string,
  name: string,
  text: string | null | undefined,
): KeptInstance | undefined {
  const record = parseRecord('instance', path, text);
  if (record === undefined || fileName(record.id) !== name) return undefined;
  return { path, folder, place, record };
}

/** Returns an instance's record with a new response. */
export function withLast(record: InstanceRecord, last: SeenInstance): InstanceRecord {
  const stopped = leadsTo('STOPPED', last.status) ? { was_stopped: true } : {};
  return { ...record, name: last.name, last, ...stopped };
}

export function newInstance(id: string, origin: Origin, known_at: string): InstanceRecord {
  return { version: 1, id, name: id, origin, known_at, request: null };
}

/** Writes an instance to `folder`, or to the archive if it was terminated or untracked. */
export async function writeInstance(
  folder: string,
  record: InstanceRecord,
  before: KeptInstance | undefined,
): Promise<void> {
  const isOver = isTerminated(record.last?.status) || record.untracked_at !== undefined;
  const path = join(folder, isOver ? 'archive' : 'instances', `${fileName(record.id)}.json`);
  if (before === undefined) keepIfUnreadable(path);
  if (before !== undefined && before.path !== path) {
    await privateFolder(dirname(path));
    moved(before.path, path);
  }
  await writeRecord(path, record);
  if (!isOver) return;
  moved(deadlinePath(folder, record.id), path.replace(/json$/, 'deadline'));
  removeIdle(folder, record.id);
}

/** Keeps a copy of the content, unless another process has just written the instance. */
function keepIfUnreadable(path: string): void {
  const text = readText(path);
  if (text !== undefined && parseRecord('instance', path, text) === undefined) keepUnreadable(path);
}

/**
 * Renames a file. Ignores a missing source: two processes may archive an instance at once, and both
 * write it.
 */
function moved(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Characters. A longer text is cut, since a journal file has a size limit. */
const LONGEST = 1000;

/** Characters. A larger response is reduced to the fields that matter for money. */
const LARGEST = 64 * 1024;

/** Fields of an instance that never change, so a response without them doesn't remove them. */
const LASTING = ['price_per_hour_snapshot', 'offer', 'created_at'] as const;

/**
 * Returns an instance as it is stored: without secrets, and without the container and the
 * connection, which contain most of them. A terminated instance keeps the time of its first such
 * response, since it explains no later charge.
 */
export function seenInstance(
  instance: Instance,
  { name, last }: Pick<InstanceRecord, 'name' | 'last'>,
  seen_at: string,
): SeenInstance {
  const { docker_config: _container, connection_info: _connection, ...response } = instance;
  const text = storedText(response, LONGEST, instance);
  const { id, status, price_per_hour_snapshot, created_at, terminated_at } = response;
  const few = {
    id,
    name: response.name,
    status,
    price_per_hour_snapshot,
    created_at,
    terminated_at,
  };
  const seen = JSON.parse(text.length <= LARGEST ? text : storedText(few, LONGEST));
  const lasting = LASTING.filter((field) => seen[field] == null && last?.[field] != null);
  const wasOver = last !== undefined && isTerminated(last.status) && isTerminated(status);
  return {
    ...seen,
    ...Object.fromEntries(lasting.map((field) => [field, last?.[field]])),
    name: seen.name ?? last?.name ?? name,
    version: LAST_VERSION,
    seen_at: wasOver ? last.seen_at : seen_at,
  };
}

/** Whether an instance is unchanged and was stored recently. */
export function isOldNews(before: SeenInstance | undefined, after: SeenInstance): boolean {
  return (
    before !== undefined &&
    isDeepStrictEqual({ ...before, seen_at: '' }, { ...after, seen_at: '' }) &&
    Date.parse(after.seen_at) - Date.parse(before.seen_at) < FRESH
  );
}

export function knownInstance(
  { record, place, folder }: KeptInstance,
  { deadline, if_idle: rule, rescue }: Ends,
  state: string,
): KnownInstance {
  const { id, name, origin, last, known_at, request, untracked_at, session } = record;
  const { was_stopped: wasStopped = false } = record;
  return {
    id,
    name,
    origin,
    last,
    asked_at: known_at,
    deadline: deadline ?? undefined,
    ...(rule === undefined ? {} : { idle: { rule, found: idleOf(folder, id, rule) } }),
    ...(rescue && { rescue: { wanted: rescue, found: rescueOf(state, id, rescue) } }),
    request,
    archived: place === 'archive',
    untracked: untracked_at !== undefined,
    wasStopped,
    ...(session && { session }),
  };
}
