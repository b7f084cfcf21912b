import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../files/error-code.ts';

/** The name of a folder of one owner. */
export const OWNER = /^[0-9a-f]{24}$/;

/**
 * Whether any request of any account lies open, told without reading one: nearly every command asks
 * this, and nearly always the answer is no.
 * Throws what the file system throws for a folder that is there and can't be read.
 */
export async function anyRequestOpen(folder: string): Promise<boolean> {
  for (const name of await namesIn(folder)) {
    if (!OWNER.test(name)) continue;
    const names = await namesIn(join(folder, name, 'open'));
    if (names.some((file) => file.endsWith('.json'))) return true;
  }
  return false;
}

/** The names in a folder; none where there is no folder. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      return [];
    }
    throw error;
  }
}
