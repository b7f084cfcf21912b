import { linkSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../files/error-code.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { isTerminated } from '../rules/statuses.ts';
import { exists, filesIn, machineFile, readText } from './folder.ts';
import { type MachineRecord, parseMachine } from './record.ts';

/** Where a machine lies: the living ones apart, so that reading them stays cheap. */
export type MachinePlace = 'machines' | 'archive';

export interface KeptMachine {
  readonly path: string;
  readonly owner: string;
  readonly place: MachinePlace;
  readonly record: MachineRecord;
  /** The file is torn or not ours: its name alone tells the id, and nothing else is known. */
  readonly isSpoilt?: true;
}

/** The machines of a place; `spoil` is told of each file there that can't be understood. */
export async function machinesIn(
  owner: string,
  place: MachinePlace,
  spoil: (path: string) => void,
): Promise<KeptMachine[]> {
  const files = await filesIn(join(owner, place));
  return files.flatMap(({ path, name, text }) => {
    const record = text === undefined ? undefined : parseMachine(text);
    if (record !== undefined && name === machineFile(record.id)) {
      return [{ path, owner, place, record }];
    }
    spoil(path);
    return spoiltMachine(path, name, owner, place);
  });
}

/** What the name of a torn file tells, which is all that it takes to read the machine anew. */
function spoiltMachine(
  path: string,
  name: string,
  owner: string,
  place: MachinePlace,
): KeptMachine[] {
  const id = name.replace(/\.json$/, '');
  return machineFile(id) === name ? [bareMachine(path, id, owner, place)] : [];
}

function bareMachine(path: string, id: string, owner: string, place: MachinePlace): KeptMachine {
  const record: MachineRecord = {
    version: 1,
    id,
    name: id,
    origin: 'read',
    known_at: new Date(0).toISOString(),
    request: null,
  };
  return { path, owner, place, record, isSpoilt: true };
}

/** One machine, without a look at the others. */
export async function findMachineRecord(
  owners: readonly string[],
  id: string,
): Promise<KeptMachine | undefined> {
  let spoilt: KeptMachine | undefined;
  for (const owner of owners) {
    for (const place of ['machines', 'archive'] as const) {
      const path = join(owner, place, machineFile(id));
      const text = readText(path);
      const record = text === undefined ? undefined : parseMachine(text);
      if (record?.id === id) return { path, owner, place, record };
      const isFile = text !== undefined || exists(path);
      if (isFile) spoilt ??= bareMachine(path, id, owner, place);
    }
  }
  return spoilt;
}

/**
 * Writes a machine where it belongs, and moves the file there first where it lies elsewhere. A
 * spoilt file of its name is kept under another one, for whoever can read it.
 */
export async function writeMachine(
  owner: string,
  record: MachineRecord,
  before: KeptMachine | undefined,
): Promise<void> {
  const isEnded = isTerminated(record.last?.status) || record.untracked_at !== undefined;
  const path = join(owner, isEnded ? 'archive' : 'machines', machineFile(record.id));
  await privateFolder(dirname(path));
  if (before?.isSpoilt === true) {
    // A second name first, so that at no moment there is none.
    linkSync(before.path, `${before.path}.${Math.random().toString(36).slice(2)}.spoilt`);
  }
  if (before !== undefined && before.path !== path) {
    moved(before.path, path);
  }
  await replaceFile(path, `${JSON.stringify(record, null, 2)}\n`);
}

/** Two lists that see a machine end move it both; what is written next is whole anyway. */
function moved(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
