import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileName, filesIn, readText, writeRecord } from './files.ts';
import { type EventRecord, parseRecord } from './record.ts';

/** Milliseconds during which to retry the notification of an event, and to remember an event. */
const [RETRIED, KEPT] = [24 * 3_600_000, 30 * 24 * 3_600_000];

/** Identifies an event: the same event in a later pass has the same key. */
export function eventPath(folder: string, key: string): string {
  return join(folder, 'events', `${fileName(key)}.json`);
}

export function eventOf(path: string): EventRecord | undefined {
  return parseRecord('event', path, readText(path));
}

export async function writeEvent(path: string, event: EventRecord): Promise<void> {
  await writeRecord(path, event);
}

/**
 * Whether an event still needs its notification: no command has accepted it, and it happened within
 * the last day.
 */
export function isUnsent({ sent_at, at }: Pick<EventRecord, 'sent_at' | 'at'>, now: number) {
  return sent_at === null && now - Date.parse(at) < RETRIED;
}

/** Returns an account's unsent events, and removes old ones. */
export async function unsentIn(folder: string, now: number): Promise<EventRecord[]> {
  const unsent: EventRecord[] = [];
  for (const { path, text } of await filesIn(join(folder, 'events'))) {
    const event = parseRecord('event', path, text);
    if (event === undefined) continue;
    if (isUnsent(event, now)) unsent.push(event);
    else if (now - Date.parse(event.at) > KEPT) rmSync(path, { force: true });
  }
  return unsent;
}
