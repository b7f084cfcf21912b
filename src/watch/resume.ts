import { readFile, realpath, stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { CliError } from '../errors.ts';
import { errorCode, faultOf } from '../files/error-code.ts';
import { replaceFile } from '../files/replace.ts';
import { lazy } from '../lazy.ts';
import type { SavedCursor } from './cursor.ts';

/** Where a follow that ended is taken up again: what is known of each log, in a file. */
export interface ResumeFile {
  /** What was known of a log at the end of the last run; undefined for one that is new to the file. */
  of(log: string): SavedCursor | undefined;
  /**
   * Puts what is known now in the place of what was; other logs stay as they are. On disk when it
   * ends, whole or not at all. Throws CliError('storage').
   */
  save(logs: ReadonlyMap<string, SavedCursor>): Promise<void>;
}

const resumeFile = lazy(() =>
  z.strictObject({
    kind: z.literal('gpucloud-follow'),
    version: z.literal(1),
    instances: z.record(
      z.string(),
      z.object({
        horizon: z.nullable(z.number()),
        known: z.array(z.tuple([z.string(), z.number()])),
      }),
    ),
  }),
);

/**
 * Opens the file, and makes it where there is none: whether it can be written is known before
 * anything is printed. An empty file (of mktemp) counts as none. Throws CliError('storage') for what
 * is no such file, which is left as it is.
 */
export async function openResumeFile(named: string): Promise<ResumeFile> {
  // The file that a link leads to is replaced, and not the link.
  const path = await realpath(named).catch(() => named);
  const saved = new Map(Object.entries(await read(path, named)));

  async function write(hint: string): Promise<void> {
    const file = { kind: 'gpucloud-follow', version: 1, instances: Object.fromEntries(saved) };
    try {
      await replaceFile(path, `${JSON.stringify(file)}\n`);
    } catch (error) {
      throw new CliError(
        'storage',
        `--resume "${named}": how far the events were followed could not be written (${faultOf(error)}).`,
        { hint, cause: error },
      );
    }
  }

  await write('name a file in a folder that you may write to');
  return {
    of: (log) => saved.get(log),
    async save(logs) {
      for (const [log, cursor] of logs) saved.set(log, cursor);
      await write('the next run with this file repeats what came since it was last written');
    },
  };
}

async function read(path: string, named: string): Promise<Record<string, SavedCursor>> {
  let text = 'not a file';
  try {
    // A pipe would be waited for without an end.
    if ((await stat(path)).isFile()) text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw new CliError(
      'storage',
      `--resume "${named}": the file can't be read (${faultOf(error)}).`,
      {
        cause: error,
      },
    );
  }
  if (text.trim() === '') return {};
  const result = resumeFile().safeParse(parsed(text));
  if (!result.success) {
    throw new CliError(
      'storage',
      `--resume "${named}": it is no file that --resume has written, or not all of one. It was left as it is.`,
      { hint: 'name another file, or move this one away to begin anew' },
    );
  }
  return result.data.instances;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
