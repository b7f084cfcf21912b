import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { isSameName } from '../rules/names.ts';
import { withLock } from '../system/lock.ts';
import type { OpenedRequest, OpenRequest, RentalRequest } from './contract.ts';
import { decideDeadline, inheritDeadline } from './deadlines.ts';
import { newInstance, writeInstance } from './instances.ts';
import { type RequestRecord, storedText } from './record.ts';
import {
  archiveRequest,
  createRequest,
  giveUpRequest,
  moveAside,
  removeRequest,
  requestNamed,
} from './requests.ts';
import type { Store } from './store.ts';

/** Maximum characters of the service's name for an instance in a message. */
const SHOWN = 60;

/** Rental requests, written before they are sent and resolved afterwards. */
export function sending(store: Store) {
  const { settings, reading, writing, find, openRequests, removeSettled } = store;

  /** Records a request's instance. */
  async function madeBy(id: string, request: RequestRecord, folder: string): Promise<void> {
    const kept = find(id);
    const { operation, name, asked_at, uid, session } = request;
    const before = kept?.record ?? { ...newInstance(id, operation, asked_at), name };
    const marked = { ...before, origin: operation, request: uid, ...(session && { session }) };
    await writeInstance(folder, marked, kept);
    await inheritDeadline(folder, id, request);
  }

  function opened(record: RequestRecord, folder: string): OpenedRequest {
    return {
      uid: record.uid,
      doubt: async (id, name) => doubtOf(record, id, name),
      async keepDoubted(id) {
        await writing(async () => {
          if (find(id) !== undefined) return;
          await writeInstance(folder, newInstance(id, 'read', store.now()), undefined);
        });
      },
      async made(id) {
        await writing(() => madeBy(id, record, folder));
        removeSettled({ ...record, folder });
      },
      notMade: () => writing(() => removeRequest(folder, record)),
      unknown: () => writing(() => giveUpRequest(folder, record)),
    };
  }

  /** Returns why the ID can't be the new instance's. An unreadable record contradicts nothing. */
  function doubtOf(record: RequestRecord, id: string, name: string | undefined) {
    if (name !== undefined && !isSameName(name, record.name)) {
      return `belongs to an instance with another name, ${name.slice(0, SHOWN)}`;
    }
    if (record.source_id === id) return 'is the ID of the terminated instance';
    const kept = find(id);
    if (kept === undefined) return undefined;
    const { request, known_at } = kept.record;
    const isOfAnother = request !== null && request !== record.uid;
    // A concurrent `list` may have found the new instance through its drive.
    const isOlder = Date.parse(known_at) <= Date.parse(record.asked_at);
    return isOfAnother || isOlder ? 'is the ID of an instance known before the request' : undefined;
  }

  async function open(request: RentalRequest, agreed: ReadonlySet<string>, folder: string) {
    const record = recordOf(request, settings.pid, store.now());
    const holder = requestNamed(folder, request.name, settings);
    if (holder !== undefined && agreed.has(holder.uid)) await moveAside(holder, settings);
    return (await createRequest(folder, record)) ? opened(record, folder) : undefined;
  }

  return {
    /**
     * Writes a request to disk before it is sent, fsynced, and reserves its name. Returns undefined
     * if another request has the name. A request among the `agreed` UIDs is first moved aside,
     * unless it is in flight, and stays UNKNOWN. Then calls `check` with the UID. If `check`
     * throws, removes the request. `isLocked` holds the account's lock until `check` is done.
     */
    open: (
      request: RentalRequest,
      agreed: ReadonlySet<string>,
      check?: (uid: string) => Promise<void>,
      isLocked?: boolean,
    ) =>
      writing(async () => {
        const folder = store.main();
        // Writes the request before the check. If a long suspension lost the lock and two checks
        // overlap, the later check then counts both requests.
        const work = async () => {
          const made = await open(request, agreed, folder);
          try {
            if (made !== undefined) await check?.(made.uid);
          } catch (error) {
            await made?.notMade();
            throw error;
          }
          return made;
        };
        return isLocked ? withLock(join(folder, 'requests'), work) : work();
      }),

    /** Returns the open requests, oldest first. */
    requests: (): Promise<readonly OpenRequest[]> => reading(openRequests),

    /**
     * Resolves an open request that created this instance. `ends` is the user's decision about the
     * request's deadline; by default the instance gets it, unless `expire` has changed it. Throws
     * CliError('wrongState') for an instance of another request.
     */
    settle: (uid: string, id: string, ends?: boolean) =>
      writing(async () => {
        const request = (await openRequests()).find((one) => one.uid === uid);
        if (request === undefined) return;
        const owner = find(id)?.record.request ?? uid;
        if (owner !== uid) {
          throw new CliError('wrongState', `Another request created ${id}.`, { resource: id });
        }
        // Applies the decision before the instance's file names the request. After a crash in
        // between, the next command would otherwise apply the deadline without a decision.
        if (ends !== undefined) await decideDeadline(request.folder, id, request, ends);
        await madeBy(id, request, request.folder);
        removeSettled(request);
      }),

    /** Archives an open request. */
    forget: (uid: string) =>
      writing(async () => {
        const request = (await openRequests()).find((one) => one.uid === uid);
        if (request !== undefined) await archiveRequest(request);
      }),
  };
}

function recordOf(
  { body, ...request }: RentalRequest,
  pid: number,
  asked_at: string,
): RequestRecord {
  const kept = body && keptBody(body);
  return {
    ...request,
    version: 1,
    uid: randomUUID(),
    asked_at,
    pid,
    ...(kept === undefined ? {} : { body: kept }),
  };
}

/** Characters. A larger body is not stored. */
const LARGEST = 64 * 1024;

/** Returns a request body without secrets, or undefined for a body that is too large. */
function keptBody(body: object): Record<string, unknown> | undefined {
  const kept = storedText(body);
  return kept.length > LARGEST ? undefined : JSON.parse(kept);
}
