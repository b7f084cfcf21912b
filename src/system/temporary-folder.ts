import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../errors.ts';
import { faultOf } from './error-code.ts';

/**
 * Creates a temporary folder for its owner only, and removes it with its contents after the
 * callback. Throws CliError('storage') if the folder can't be created.
 */
export async function inTemporaryFolder<T>(
  name: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `${name}-`)).catch((cause: unknown) => {
    const message = `Could not make a temporary folder in ${tmpdir()} (${faultOf(cause)}).`;
    throw new CliError('storage', message, {
      hint: 'set TMPDIR to a folder that you can write to',
      cause,
    });
  });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
