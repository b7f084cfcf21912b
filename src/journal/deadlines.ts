import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Ends } from './contract.ts';
import { exists, fileName, filesIn, nameIn, readText, removeFile, writeRecord } from './files.ts';
import {
  type DeadlineRecord,
  type Heartbeat,
  type IdleRecord,
  type IdleRule,
  parseRecord,
  type RequestRecord,
  type Rescue,
  type RescueRecord,
} from './record.ts';

/**
 * Returns the path of a deadline's own file. Each response rewrites the instance's file, and must
 * not restore an earlier deadline.
 */
export function deadlinePath(folder: string, id: string): string {
  return join(folder, 'deadlines', `${fileName(id)}.json`);
}

/** Returns a stored deadline, or undefined if none was ever set. */
export function deadlineOf(folder: string, id: string): DeadlineRecord | undefined {
  const path = deadlinePath(folder, id);
  return parseRecord('deadline', path, readText(path));
}

/** Returns when to terminate an instance of an account. */
export function endsOf(folder: string, id: string): Ends {
  const path = deadlinePath(folder, id);
  const text = readText(path);
  return parseRecord('deadline', path, text) ?? { deadline: text === undefined ? null : undefined };
}

type KeptDeadline = Pick<DeadlineRecord, 'id' | 'name'> & Ends;

/**
 * Returns an account's deadlines. Calls `spoil` with the path of each unreadable file, and with what
 * is lost if not all of it is.
 */
export async function deadlinesIn(
  folder: string,
  spoil: (path: string, lost?: string) => void,
): Promise<KeptDeadline[]> {
  const files = await filesIn(join(folder, 'deadlines'));
  return files.map(({ path, name, text }) => {
    const record = parseRecord('deadline', path, text);
    // Ignores a file with another instance's ID, since it would hide the right deadline.
    if (record !== undefined && fileName(record.id) === name) {
      if (record.rescue === undefined && text?.includes('"rescue":') === true) {
        spoil(path, 'the --rescue paths of its instance are unknown');
      }
      return record;
    }
    spoil(path);
    const id = nameIn(name);
    return { id, name: id, deadline: undefined };
  });
}

export async function writeDeadline(
  folder: string,
  id: string,
  name: string,
  ends: {
    deadline?: string | undefined;
    if_idle?: IdleRule | undefined;
    rescue?: Rescue | undefined;
  },
): Promise<void> {
  const { deadline = null, if_idle, rescue } = ends;
  const record: DeadlineRecord = { version: 1, id, name, deadline, if_idle, rescue };
  await writeRecord(deadlinePath(folder, id), record);
}

type Asking = Pick<RequestRecord, 'uid' | 'name' | 'deadline' | 'if_idle' | 'rescue'>;

/** Applies or drops a request's deadline and idle rule (`ends`). Keeps values set by `expire`. */
export async function decideDeadline(
  folder: string,
  id: string,
  request: Asking,
  ends: boolean,
): Promise<void> {
  const held = deadlineOf(folder, id);
  const isSet = held?.deadline != null || held?.if_idle !== undefined;
  const wanted = askedEnds(request);
  if (wanted === undefined || isSet) return;
  await writeDeadline(folder, id, request.name, ends ? wanted : {});
}

/** Applies a request's deadline and idle rule to its instance, unless `expire` has changed them. */
export async function inheritDeadline(folder: string, id: string, request: Asking): Promise<void> {
  const wanted = askedEnds(request);
  if (wanted === undefined || deadlineOf(folder, id) !== undefined) return;
  await writeDeadline(folder, id, request.name, wanted);
}

function askedEnds({ uid, deadline, if_idle: after, rescue }: Asking) {
  if (deadline === undefined && after === undefined) return undefined;
  return { deadline, rescue, ...(after === undefined ? {} : { if_idle: { after, uid } }) };
}

/**
 * Returns the path of the use that `reap` recorded. A separate file, since recording use must not
 * change the deadline.
 */
export function idlePath(folder: string, id: string): string {
  return join(folder, 'idle', `${fileName(id)}.json`);
}

/** Returns the recorded use for this rule, or undefined. An unreadable file is not evidence. */
export function idleOf(folder: string, id: string, rule: IdleRule): IdleRecord | undefined {
  const path = idlePath(folder, id);
  const record = parseRecord('idle', path, readText(path));
  return record?.id === id && record.rule === rule.uid ? record : undefined;
}

export async function writeIdle(folder: string, record: IdleRecord): Promise<void> {
  await writeRecord(idlePath(folder, record.id), record);
}

export function removeIdle(folder: string, id: string): void {
  rmSync(idlePath(folder, id), { force: true });
}

/**
 * Returns the path of a rescue's progress. A separate file, since recording progress must not change
 * the deadline. Not in the account's folder: an older gpucloud refuses a journal with other folders.
 */
export function rescuePath(state: string, id: string): string {
  return join(state, 'rescues', `${fileName(id)}.json`);
}

/** Returns the progress of this rescue; undefined if nothing is recorded or readable. */
export function rescueOf(state: string, id: string, { uid }: Rescue): RescueRecord | undefined {
  const path = rescuePath(state, id);
  const record = parseRecord('rescue', path, readText(path));
  return record?.id === id && record.rescue === uid ? record : undefined;
}

export async function writeRescue(state: string, record: RescueRecord): Promise<void> {
  await writeRecord(rescuePath(state, record.id), record);
}

/** Uses one heartbeat per profile, since a profile may fail before its account is known. */
function heartbeatPath(state: string, profile: string): string {
  return join(state, 'reap', `${fileName(profile)}.json`);
}

export function heartbeatOf(state: string, profile: string): Heartbeat | undefined {
  const path = heartbeatPath(state, profile);
  return parseRecord('heartbeat', path, readText(path));
}

/** Ignores an unreadable file or folder: it proves nothing. */
export async function heartbeatsIn(
  state: string,
): Promise<(Heartbeat & { readonly profile: string })[]> {
  const files = await filesIn(join(state, 'reap')).catch(() => []);
  return files.flatMap(({ path, name, text }) => {
    const record = parseRecord('heartbeat', path, text);
    return record === undefined ? [] : { ...record, profile: nameIn(name) };
  });
}

export async function writeHeartbeat(
  state: string,
  profile: string,
  heartbeat: Omit<Heartbeat, 'version'>,
): Promise<void> {
  await writeRecord(heartbeatPath(state, profile), { version: 1, ...heartbeat });
}

export function removeHeartbeat(state: string, profile: string): void {
  const path = heartbeatPath(state, profile);
  if (exists(path)) removeFile(path);
}
