import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { exists, filesIn, machineFile, readText } from './folder.ts';
import { type MachineRecord, parseMachine } from './record.ts';

/** Where a machine lies: the living ones apart, so that reading them stays cheap. */
export type MachinePlace = 'machines' | 'archive';

export interface KeptMachine {
  readonly path: string;
  readonly owner: string;
  readonly place: MachinePlace;
  readonly record: MachineRecord;
}

export async function machinesIn(
  owner: string,
  place: MachinePlace,
  spoil: (path: string) => void,
): Promise<KeptMachine[]> {
  const files = await filesIn(join(owner, place));
  return files.flatMap(({ path, name, text }) => {
    const record = text === undefined ? undefined : parseMachine(text);
    if (record === undefined || name !== machineFile(record.id)) {
      spoil(path);
      return [];
    }
    return [{ path, owner, place, record }];
  });
}

/** One machine, without a look at the others. */
export async function findMachineRecord(
  owners: readonly string[],
  id: string,
): Promise<KeptMachine | undefined> {
  for (const owner of owners) {
    for (const place of ['machines', 'archive'] as const) {
      const path = join(owner, place, machineFile(id));
      const text = await readText(path);
      const record = text === undefined ? undefined : parseMachine(text);
      if (record?.id === id) return { path, owner, place, record };
    }
  }
  return undefined;
}

/**
 * Writes a machine where it belongs, and moves the file there first where it lies elsewhere. A file
 * of that name that is none of ours is left as it is, and the write fails.
 */
export async function writeMachine(
  owner: string,
  record: MachineRecord,
  before: KeptMachine | undefined,
): Promise<void> {
  const isEnded = record.last?.status === 'TERMINATED' || record.untracked_at !== undefined;
  const path = join(owner, isEnded ? 'archive' : 'machines', machineFile(record.id));
  await privateFolder(dirname(path));
  if (before === undefined && (await exists(path))) {
    // Another process may have written it just now.
    const text = await readText(path);
    if (text === undefined || parseMachine(text)?.id !== record.id) {
      throw new Error(`${path} is there and can't be understood`);
    }
  }
  if (before !== undefined && before.path !== path) {
    await rename(before.path, path);
  }
  await replaceFile(path, `${JSON.stringify(record, null, 2)}\n`);
}
