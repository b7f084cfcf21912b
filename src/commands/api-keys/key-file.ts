import { open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError, usageError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { syncFolder } from '../../files/replace.ts';
import type { Place } from './place.ts';

/** What is wrong with the path itself, in words; anything else is the fault of the disk. */
const WRONG_PATH: Readonly<Record<string, string>> = {
  EEXIST: 'there is something of that name, and it is not overwritten',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'this is a folder',
};

/**
 * Makes the file (0600, empty) before there is a secret, so that a path that can't be written to
 * costs no key. A file that exists is never touched.
 */
export async function reservedFile(path: string): Promise<Place> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const code = faultOf(error);
    const wrong = path === '' ? 'a path is not empty' : WRONG_PATH[code];
    throw wrong === undefined
      ? new CliError(
          'storage',
          `--key-file "${path}": it can't be made (${code}). No key was created.`,
        )
      : usageError(`--key-file "${path}": ${wrong}`);
  });
  async function drop(): Promise<void> {
    await handle.close();
    await rm(path, { force: true });
  }
  return {
    where: `${path}, which only you may read (mode 0600)`,
    drop,
    async keep(secret) {
      const content = `${secret}\n`;
      try {
        await handle.writeFile(content);
        await handle.sync();
        // A full disk can take a write and not keep it.
        if ((await readFile(path, 'utf8')) !== content) throw new Error('not kept');
        await handle.close();
        syncFolder(dirname(path));
      } catch (error) {
        await drop().catch(() => undefined);
        throw new CliError('storage', `${path} could not be written (${faultOf(error)})`, {
          cause: error,
        });
      }
    },
  };
}
