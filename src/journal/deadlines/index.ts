import { join } from 'node:path';
import { CliError } from '../../errors.ts';
import { withLock } from '../../files/lock.ts';
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

    /**
     * Runs `work` with the instance's current deadline, which can't change until `work` ends. If no
     * lock can be made, as on a full disk, nobody can change a deadline either, and an instance must
     * still be terminated.
     */
    withDeadline<T>(id: string, work: (held: HeldDeadline) => Promise<T>): Promise<T> {
      const folder = store.main();
      const held = () =>
        work({
          deadline: heldDeadline(folder, id),
          set: (name, deadline) => writing(() => writeDeadline(folder, id, name, deadline)),
        });
      return withLock(deadlinePath(folder, id), held, {
        async otherwise(cause, isHeld) {
          if (!isHeld) return held();
          const message = 'Another gpucloud process is changing this deadline.';
          throw new CliError('storage', message, { hint: 'try again', retryable: true, cause });
        },
      });
    },
  };
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
