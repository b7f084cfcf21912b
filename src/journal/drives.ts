import { join } from 'node:path';
import { money } from '../rules/money.ts';
import type { DriveObservation } from './contract.ts';
import { fileName, filesIn, writeRecord } from './files.ts';
import { type DriveRecord, parseRecord } from './record.ts';
import type { Store } from './store.ts';

/**
 * Stores earlier prices of drives, and drives that were deleted. The service shows neither, so
 * without them charges would look unexplained. Times are in service time.
 */
export function drives({ ownFolder, folders, reading, writing }: Store) {
  const folderOf = (account: string) => join(account, 'drives');

  async function read(): Promise<DriveRecord[]> {
    const found: DriveRecord[] = [];
    for (const folder of folders()) {
      const files = await filesIn(folderOf(folder));
      // Skips an unreadable file: the next observation rewrites it.
      found.push(...files.flatMap(({ text }) => parseRecord('drive', text) ?? []));
    }
    return found;
  }

  return {
    /** Returns all drives ever seen on this computer. */
    drives: () => reading(read),
    /**
     * Stores drives seen at a service time (ISO 8601). `whole` means that the list is complete, so
     * drives not in it are gone. Stores nothing while the account is unknown.
     */
    observeDrives: (seen: readonly DriveObservation[], at: string, { whole }: { whole: boolean }) =>
      writing(async () => {
        const folder = ownFolder();
        if (folder === undefined) return;
        const kept = new Map((await read()).map((record) => [record.id, record]));
        const next = seen.map((drive) => seenDrive(drive, kept.get(drive.id), at));
        const ids = new Set(seen.map(({ id }) => id));
        const gone = [...kept.values()].filter(
          ({ id, gone_at }) => whole && gone_at === null && !ids.has(id),
        );
        for (const record of [...next, ...gone.map((one) => ({ ...one, gone_at: at }))]) {
          if (JSON.stringify(record) === JSON.stringify(kept.get(record.id))) continue;
          await writeRecord(join(folderOf(folder), `${fileName(record.id)}.json`), record);
        }
      }),
  };
}

const HOUR = 3_600_000;
/** Milliseconds during which an earlier price can affect the examined charges. */
const KEPT = 48 * HOUR;

function seenDrive(
  { id, status, price_per_hour, created_at }: DriveObservation,
  kept: DriveRecord | undefined,
  at: string,
): DriveRecord {
  const age = (time: string) => Date.parse(at) - Date.parse(time);
  const price = price_per_hour ?? kept?.price ?? null;
  const before = kept?.before != null && age(kept.before.until) < KEPT ? kept.before : null;
  const last = kept?.suspended_at ?? null;
  return {
    version: 1,
    id,
    created_at: created_at ?? kept?.created_at ?? null,
    price,
    before:
      kept?.price != null && isBelow(price, kept.price)
        ? { price: dearer(kept.price, before?.price), until: at }
        : before,
    suspended_at: status === 'SUSPENDED' && (last === null || age(last) >= HOUR) ? at : last,
    gone_at: null,
  };
}

function isBelow(price: string | null, other: string): boolean {
  const [one, two] = [money(price ?? ''), money(other)];
  return one.ok && two.ok && one.value.lt(two.value);
}

function dearer(price: string, other: string | undefined): string {
  return other !== undefined && isBelow(price, other) ? other : price;
}
