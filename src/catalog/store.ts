import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { errorCode, faultOf } from '../files/error-code.ts';
import { readPlain } from '../files/plain.ts';
import { type CatalogFile, judge } from './schema.ts';

export interface Store {
  /** A missing file holds no names. Throws CliError('storage') for one that can't be used. */
  read(): Promise<CatalogFile>;
  /**
   * Edits the file under its lock; an `edit` that gives back what it got writes nothing.
   * Throws CliError('storage') when the change can't be kept, and what `edit` throws.
   */
  change(edit: (file: CatalogFile) => CatalogFile): Promise<CatalogFile>;
}

export function openStore(path: string): Store {
  async function read(): Promise<CatalogFile> {
    const text = textOf(path);
    if (text === undefined) {
      return { version: 1, names: [] };
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw unusable(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
    }
    const verdict = judge(value);
    if (!verdict.ok) {
      throw unusable(path, `it is not a file of names (see ${verdict.part})`);
    }
    return verdict.file;
  }

  return {
    read,
    async change(edit) {
      // Loaded here: most commands only read.
      const [{ withLock }, { privateFolder }, { replaceFile }] = await Promise.all([
        import('../files/lock.ts'),
        import('../files/private-folder.ts'),
        import('../files/replace.ts'),
      ]);
      try {
        await privateFolder(dirname(path));
        return await withLock(path, async () => {
          const before = await read();
          const after = edit(before);
          if (after !== before) {
            await replaceFile(path, `${JSON.stringify(after, null, 2)}\n`);
          }
          return after;
        });
      } catch (error) {
        throw error instanceof CliError ? error : notKept(path, error);
      }
    },
  };
}

function textOf(path: string): string | undefined {
  try {
    // Looked at first: to open a device may be more than a look.
    const bytes = statSync(path).isFile() ? readPlain(path) : undefined;
    if (bytes === undefined) {
      throw unusable(path, 'it is not a plain file');
    }
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(path, `it can't be read (${faultOf(error)})`, error);
  }
}

function unusable(path: string, what: string, cause?: unknown): CliError {
  return new CliError(
    'storage',
    `The names of offers and images in ${path} can't be used: ${what}. The file was left as it is.`,
    {
      hint: 'correct the file or move it away: names are learned again from machines that are read',
      resource: path,
      cause,
    },
  );
}

function notKept(path: string, cause: unknown): CliError {
  return new CliError(
    'storage',
    `The names of offers and images could not be kept in ${path} (${faultOf(cause)}); what was there before still is.`,
    { hint: `check ${dirname(path)}, or name another folder in GPUCLOUD_STATE_DIR`, cause },
  );
}
