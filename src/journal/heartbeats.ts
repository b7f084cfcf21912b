import { join } from 'node:path';
import { exists, filesIn, readText, removeFile, writeRecord } from './files.ts';
import { fileName, nameIn } from './names.ts';
import { type Heartbeat, parseRecord } from './record.ts';

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
