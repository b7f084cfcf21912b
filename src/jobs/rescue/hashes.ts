import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { faultOf } from '../../system/error-code.ts';
import { privateFolder, replaceFile } from '../../system/files.ts';
import type { Same } from './compare.ts';

/** sha256sum marks a name in which it escapes characters. Without the mark, it ignores a final CR. */
function lineOf({ sha256, local }: Same): string {
  if (!/[\r\n]/.test(local)) return `${sha256}  ${local}\n`;
  const name = local.replaceAll('\\', '\\\\').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
  return `\\${sha256}  ${name}\n`;
}

/** Stores the hash of each file that is the same on both sides, for `sha256sum -c`. */
export async function saveHashes(
  id: string,
  same: readonly Same[],
  context: Context,
): Promise<void> {
  if (same.length === 0) return;
  const folder = join((await context.folders()).state, 'rescues');
  try {
    await privateFolder(folder);
    await replaceFile(join(folder, `${id}.sha256`), same.map(lineOf).join(''));
  } catch (error) {
    const what = `Could not store the hashes of the copied files (${faultOf(error)}).`;
    context.err.warn('local_storage', what);
  }
}
