import { dirname, join } from 'node:path';
import { CliError } from '../../errors.ts';
import { errorCode } from '../../files/error-code.ts';
import { withLock } from '../../files/lock.ts';
import { privateFolder } from '../../files/private-folder.ts';
import type { Deadline } from '../contract.ts';
import { exists, filesIn, readText, removeFile, writeRecord } from '../files.ts';
import { fileName, textOf } from '../names.ts';
import { type Heartbeat, parseRecord } from '../record.ts';
import type { Store } from '../store.ts';
import { deadlinePath, heldDeadline, writeDeadline } from './files.ts';

interface HeldDeadline {
  /** null for none, undefined if it can't be read. */
  readonly deadline: string | null | undefined;
  /** `undefined` removes it. */
  set(name: string, deadline: string | undefined): Promise<void>;
}

/** When instances are to be terminated. */
export function deadlines(store: Store) {
  const { reading, writing, find } = store;
  return {
    /** The deadlines of instances that are neither terminated nor untracked. */
    deadlines: (): Promise<readonly Deadline[]> =>
      reading(async () => {
        // A settled request may still have to pass its deadline on.
        await store.openRequests();
        return [...(await store.deadlines())].map(([id, { name, deadline }]) => {
          const record = find(id)?.record;
          return { id, name: record?.name ?? name, deadline, status: record?.last?.status };
        });
      }),

    /** Runs `work` with the instance's current deadline, which can't change until `work` ends. */
    withDeadline<T>(id: string, work: (held: HeldDeadline) => Promise<T>): Promise<T> {
      const folder = store.main();
      const held = () =>
        work({
          deadline: heldDeadline(folder, id),
          set: (name, deadline) => writing(() => writeDeadline(folder, id, name, deadline)),
        });
      return locked(deadlinePath(folder, id), held);
    },
  };
}

/**
 * Waits for a lock that another process holds. If none can be made, as on a full disk, nobody can
 * change a deadline either, and an instance must still be terminated.
 */
async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  let isBegun = false;
  try {
    await privateFolder(dirname(path));
    return await withLock(path, () => {
      isBegun = true;
      return work();
    });
  } catch (error) {
    if (isBegun) throw error;
    if (errorCode(error) !== 'ELOCKED') return work();
    throw new CliError('storage', 'Another gpucloud process is changing this deadline.', {
      hint: 'try again',
      retryable: true,
      cause: error,
    });
  }
}

/** One per profile, since a profile may fail before its account is known. */
function heartbeatPath(state: string, profile: string): string {
  return join(state, 'reap', `${fileName(profile)}.json`);
}

export function heartbeatOf(state: string, profile: string): Heartbeat | undefined {
  return parseRecord('heartbeat', readText(heartbeatPath(state, profile)));
}

/** An unreadable file or folder proves nothing, so it counts as missing. */
export async function heartbeatsIn(
  state: string,
): Promise<(Heartbeat & { readonly profile: string })[]> {
  const files = await filesIn(join(state, 'reap')).catch(() => []);
  return files.flatMap(({ name, text }) => {
    const record = parseRecord('heartbeat', text);
    return record === undefined ? [] : { ...record, profile: textOf(name) };
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
