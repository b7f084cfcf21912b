import { renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';
import { privateFolder } from '../files/private-folder.ts';
import { isTerminated } from '../rules/statuses.ts';
import type { KnownInstance, Observation } from './contract.ts';
import { deadlinePath, type Ends, idleOf, removeIdle } from './deadlines.ts';
import { exists, fileName, filesIn, keepUnreadable, readText, writeRecord } from './files.ts';
import { type InstanceRecord, type Origin, parseRecord, type Snapshot } from './record.ts';

/** Living instances have a separate folder, so that reading them stays fast. */
export type Place = 'instances' | 'archive';

export interface KeptInstance {
  readonly path: string;
  readonly folder: string;
  readonly place: Place;
  readonly record: InstanceRecord;
}

/** Milliseconds after which to store an unchanged observation again. */
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

/** Reads one instance, and no other file. */
export function findInstance(folders: readonly string[], id: string): KeptInstance | undefined {
  const name = fileName(id);
  for (const folder of folders) {
    for (const place of ['instances', 'archive'] as const) {
      const path = join(folder, place, `${name}.json`);
      const kept = keptInstance(folder, place, path, name, readText(path));
      if (kept !== undefined) return kept;
    }
  }
  return undefined;
}

function keptInstance(
  folder: string,
  place: Place,
  path: string,
  name: string,
  text: string | undefined,
): KeptInstance | undefined {
  const record = parseRecord('instance', text);
  if (record === undefined || fileName(record.id) !== name) return undefined;
  return { path, folder, place, record };
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
  if (before === undefined && exists(path)) keepUnreadable(path);
  if (before !== undefined && before.path !== path) {
    await privateFolder(dirname(path));
    moved(before.path, path);
  }
  await writeRecord(path, record);
  if (!isOver) return;
  moved(deadlinePath(folder, record.id), path.replace(/json$/, 'deadline'));
  removeIdle(folder, record.id);
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

/**
 * Merges an observation with earlier values, since the response to a start or stop has only the
 * status.
 */
export function snapshotOf(
  observation: Observation,
  before: InstanceRecord | undefined,
  seen_at: string,
): Snapshot {
  const { id, name, status, price_per_hour, offer_name, created_at, terminated_at } = observation;
  const last = before?.last;
  const facts = observation.facts === undefined ? last?.facts : cutAll(observation.facts);
  return {
    id,
    name: cut(name) ?? last?.name ?? before?.name ?? id,
    status: cut(status) ?? '',
    price_per_hour: cut(price_per_hour) ?? last?.price_per_hour ?? null,
    offer_name: cut(offer_name) ?? last?.offer_name ?? null,
    created_at: cut(created_at) ?? last?.created_at ?? null,
    ...(terminated_at == null ? {} : { terminated_at: cut(terminated_at) }),
    ...(facts === undefined ? {} : { facts }),
    seen_at,
  };
}

function cutAll(facts: NonNullable<Snapshot['facts']>): Snapshot['facts'] {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [
      name,
      typeof value === 'string' ? (cut(value) ?? null) : value,
    ]),
  );
}

/** Cuts the service's text, since a journal file has a size limit. */
function cut(text: string | null | undefined): string | undefined {
  return text?.slice(0, 1000);
}

/**
 * Whether an observation is unchanged and the stored observation is recent. A terminated instance
 * keeps the time of its first such observation, since it explains no later charge.
 */
export function isOldNews(before: Snapshot | undefined, after: Snapshot): boolean {
  return (
    before !== undefined &&
    JSON.stringify({ ...before, seen_at: '' }) === JSON.stringify({ ...after, seen_at: '' }) &&
    (isTerminated(after.status) || Date.parse(after.seen_at) - Date.parse(before.seen_at) < FRESH)
  );
}

export function knownInstance(
  { record, place, folder }: KeptInstance,
  { deadline, if_idle: rule }: Ends,
): KnownInstance {
  const { id, name, origin, last, known_at, request, untracked_at } = record;
  return {
    id,
    name,
    origin,
    last,
    asked_at: known_at,
    deadline: deadline ?? undefined,
    ...(rule === undefined ? {} : { idle: { rule, found: idleOf(folder, id, rule) } }),
    request,
    archived: place === 'archive',
    untracked: untracked_at !== undefined,
  };
}
