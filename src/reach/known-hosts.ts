import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';
import { privateFolder } from '../files/private-folder.ts';

/**
 * Returns gpucloud's own file of host keys, and creates it if missing. Throws CliError('storage').
 */
export async function knownHostsFile(context: Context): Promise<string> {
  const path = join((await context.folders()).state, 'ssh', 'known_hosts');
  try {
    await privateFolder(dirname(path));
    // ssh itself would create the file readable for everybody.
    await (await open(path, 'a', 0o600)).close();
  } catch (error) {
    throw new CliError(
      'storage',
      `Could not create the host key file ${path} (${faultOf(error)}).`,
      { cause: error },
    );
  }
  return path;
}
