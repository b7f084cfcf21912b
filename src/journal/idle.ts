import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readText, writeRecord } from './files.ts';
import { fileName } from './names.ts';
import { type IdleRecord, type IdleRule, parseRecord } from './record.ts';

/** What `reap` knows of the use of an instance: beside its deadline, which must not change with it. */
export function idlePath(folder: string, id: string): string {
  return join(folder, 'idle', `${fileName(id)}.json`);
}

/** undefined without evidence for this rule. A file that can't be read is no evidence. */
export function idleOf(folder: string, id: string, rule: IdleRule): IdleRecord | undefined {
  const record = parseRecord('idle', readText(idlePath(folder, id)));
  return record?.id === id && record.rule === rule.uid ? record : undefined;
}

export async function writeIdle(folder: string, record: IdleRecord): Promise<void> {
  await writeRecord(idlePath(folder, record.id), record);
}

export function removeIdle(folder: string, id: string): void {
  rmSync(idlePath(folder, id), { force: true });
}
