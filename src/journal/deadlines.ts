import { join } from 'node:path';
import { exists, filesIn, readText, writeRecord } from './files.ts';
import { fileName, nameIn } from './names.ts';
import { type DeadlineRecord, parseRecord, type RequestRecord } from './record.ts';

/**
 * A deadline is stored in its own file beside the instance's: each response rewrites the instance's
 * file, and must not restore an earlier deadline.
 */
export function deadlinePath(folder: string, id: string): string {
  return join(folder, 'deadlines', `${fileName(id)}.json`);
}

/** undefined if it was never set. */
export function deadlineOf(folder: string, id: string): DeadlineRecord | undefined {
  return parseRecord('deadline', readText(deadlinePath(folder, id)));
}

/** null if none is set, undefined if it can't be read. */
export function heldDeadline(folder: string, id: string): string | null | undefined {
  const record = deadlineOf(folder, id);
  if (record !== undefined) return record.deadline;
  return exists(deadlinePath(folder, id)) ? undefined : null;
}

/** null for an instance without a deadline, undefined for a deadline that can't be read. */
type KeptDeadline = Pick<DeadlineRecord, 'id' | 'name'> & {
  readonly deadline: string | null | undefined;
};

/** The deadlines of an account. Calls `spoil` with the path of each unreadable one. */
export async function deadlinesIn(
  folder: string,
  spoil: (path: string) => void,
): Promise<KeptDeadline[]> {
  const files = await filesIn(join(folder, 'deadlines'));
  return files.map(({ path, name, text }) => {
    const record = parseRecord('deadline', text);
    // A file with another instance's ID would hide this one's deadline.
    if (record !== undefined && fileName(record.id) === name) return record;
    spoil(path);
    const id = nameIn(name);
    return { id, name: id, deadline: undefined };
  });
}

export async function writeDeadline(
  folder: string,
  id: string,
  name: string,
  deadline: string | undefined,
): Promise<void> {
  const record: DeadlineRecord = { version: 1, id, name, deadline: deadline ?? null };
  await writeRecord(deadlinePath(folder, id), record);
}

/** Sets or clears the deadline of a request. Keeps a deadline that `expire` has set. */
export async function decideDeadline(
  folder: string,
  id: string,
  { name, deadline }: Pick<RequestRecord, 'name' | 'deadline'>,
  ends: boolean,
): Promise<void> {
  if (deadline === undefined || deadlineOf(folder, id)?.deadline != null) return;
  await writeDeadline(folder, id, name, ends ? deadline : undefined);
}

/** Sets an instance's deadline from its request, unless `expire` has set another one. */
export async function inheritDeadline(
  folder: string,
  id: string,
  { name, deadline }: Pick<RequestRecord, 'name' | 'deadline'>,
): Promise<void> {
  if (deadline === undefined || deadlineOf(folder, id) !== undefined) return;
  await writeDeadline(folder, id, name, deadline);
}
