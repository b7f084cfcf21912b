import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { type ReservedFile, reserveFile } from '../files/reserved.ts';
import { exists, filesIn, readText } from './folder.ts';
import { namesIn } from './pending.ts';
import type { IntentRecord, OutcomeRecord } from './record.ts';
import {
  outcomeOffset,
  outcomeRoom,
  parseOutcome,
  parseRequest,
  type RequestRecord,
  requestText,
} from './request-file.ts';

/** A request that lies in `open/`: its outcome is not known, or was not tidied away yet. */
export interface OpenRequest extends RequestRecord {
  readonly path: string;
  /** The folder of its owner. */
  readonly owner: string;
  /** The file is torn: its name tells that there was a request, and when, and nothing else does. */
  readonly isSpoilt?: true;
  /** Its process waited for the answer when the file was read. */
  readonly isInFlight?: true;
}

/** The name of a request, by which requests lie in the order of their times. */
export function newUid(now: string): string {
  return `${now.replaceAll(':', '')}-${randomUUID()}`;
}

export interface WrittenRequest extends OpenRequest {
  /** Puts the outcome on disk, into the room that is kept for it. */
  note(outcome: OutcomeRecord): Promise<void>;
  close(): Promise<void>;
}

/**
 * Puts a request on disk before it is sent: the file, its name, and all folders above that are new.
 * Throws what the file system throws; then there is no such file.
 */
export async function writeRequest(owner: string, intent: IntentRecord): Promise<WrittenRequest> {
  const folder = join(owner, 'open');
  const path = join(folder, `${intent.uid}.json`);
  await privateFolder(folder);
  const file: ReservedFile = await reserveFile(path, requestText(intent));
  return {
    path,
    owner,
    intent,
    outcome: undefined,
    async note(outcome) {
      try {
        await file.overwrite(outcomeOffset(intent), Buffer.from(outcomeRoom(outcome)));
      } catch (error) {
        // The room is of no use after all: a fault of the disk, or the whole folder was removed.
        await writeAnew(path, requestText(intent, outcome)).catch(() => {
          throw error;
        });
      }
    },
    close: () => file.close(),
  };
}

async function writeAnew(path: string, content: string): Promise<void> {
  await privateFolder(dirname(path));
  await replaceFile(path, content);
}

/** The requests in `open/`; `spoil` is told of each file there that is none. */
export async function openRequests(
  owner: string,
  spoil: (path: string) => void,
): Promise<OpenRequest[]> {
  const files = await filesIn(join(owner, 'open'));
  return files.flatMap(({ path, name, text }) => {
    const record = text === undefined ? undefined : parseRequest(text);
    if (record !== undefined && name === `${record.intent.uid}.json`) {
      return [{ path, owner, ...record }];
    }
    spoil(path);
    const intent = record === undefined ? intentOfName(name) : undefined;
    const outcome = text === undefined ? undefined : parseOutcome(text);
    return intent === undefined ? [] : [{ path, owner, intent, outcome, isSpoilt: true }];
  });
}

/** The request as its file has it now; undefined when it lies there no more. */
export function readAgain(request: OpenRequest): OpenRequest | undefined {
  const text = readText(request.path);
  const record = text === undefined ? undefined : parseRequest(text);
  if (record !== undefined) return { ...request, ...record };
  return exists(request.path) ? request : undefined;
}

/** As {@link newUid} makes them. */
const UID =
  /^(\d{4}-\d\d-\d\dT\d\d)(\d\d)(\d\d\.\d{3}Z)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A torn file of ours is a request of unknown outcome, which bears its own name for want of another. */
function intentOfName(file: string): IntentRecord | undefined {
  const uid = file.replace(/\.json$/, '');
  const [, hour, minute, second] = UID.exec(uid) ?? [];
  if (hour === undefined) return undefined;
  return {
    version: 1,
    uid,
    operation: 'create',
    name: uid,
    asked_at: `${hour}:${minute}:${second}`,
    service: '',
    account: null,
    key: null,
    offer_id: null,
    masked: true,
    body_hash: null,
    process: null,
  };
}

/** Writes another outcome to a request whose process is gone. A torn file stays as it is. */
export async function rewriteRequest(
  { path, intent, isSpoilt }: OpenRequest,
  outcome: OutcomeRecord,
): Promise<void> {
  if (isSpoilt === true) return;
  await replaceFile(path, requestText(intent, outcome));
}

/** Puts a request that another computer told of into `open/`. */
export async function importRequest(owner: string, record: RequestRecord): Promise<void> {
  const folder = join(owner, 'open');
  await privateFolder(folder);
  await replaceFile(
    join(folder, `${record.intent.uid}.json`),
    requestText({ ...record.intent, process: null }, record.outcome),
  );
}

/** Moves a request whose outcome is certain out of the way of those that are read each time. */
export async function fileAway({ path, owner }: OpenRequest): Promise<void> {
  const folder = join(owner, 'settled');
  await privateFolder(folder);
  renameSync(path, join(folder, basename(path)));
}

/** One of the settled requests, which tells whose they all are. */
export async function anySettled(owner: string): Promise<RequestRecord | undefined> {
  for await (const record of settledRequests(owner)) return record;
  return undefined;
}

/** All that were ever settled, which may be many. A file that can't be understood is left out. */
export async function* settledRequests(owner: string): AsyncGenerator<RequestRecord> {
  const folder = join(owner, 'settled');
  const names = await namesIn(folder);
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const text = readText(join(folder, name));
    const record = text === undefined ? undefined : parseRequest(text);
    if (record !== undefined) yield record;
  }
}
