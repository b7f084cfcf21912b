import { readFile, realpath, stat } from 'node:fs/promises';
import { CliError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import { replaceFile } from '../system/files.ts';
import * as z from '../zod.ts';
import type { SavedCursor } from './cursor.ts';

/** A file with the position in each log, from which a follow resumes. */
export type ResumeFile = Awaited<ReturnType<typeof openResumeFile>>;

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
 * Opens the file, or creates it, so that an unwritable file is reported before anything is printed.
 * An empty file (from mktemp) counts as new. Throws CliError('storage') for a file that --resume
 * did not write, and leaves it unchanged.
 */
export async function openResumeFile(named: string) {
  // Replaces the target of a symlink, not the symlink.
  const path = await realpath(named).catch(() => named);
  const saved = new Map(Object.entries(await read(path, named)));

  async function write(hint: string): Promise<void> {
    const file = { kind: 'gpucloud-follow', version: 1, instances: Object.fromEntries(saved) };
    try {
      await replaceFile(path, `${JSON.stringify(file)}\n`);
    } catch (error) {
      throw new CliError(
        'storage',
        `--resume "${named}": could not save your position (${faultOf(error)}).`,
        { hint, cause: error },
      );
    }
  }

  await write('use a file in a writable folder');
  return {
    /** Returns the position at the end of the last run; undefined for a log new to the file. */
    of: (log: string) => saved.get(log),
    /**
     * Replaces the positions in these logs and keeps the others. Writes the file atomically before
     * returning. Throws CliError('storage').
     */
    async save(logs: ReadonlyMap<string, SavedCursor>) {
      for (const [log, cursor] of logs) saved.set(log, cursor);
      await write('the next run repeats events since the last save');
    },
  };
}

async function read(path: string, named: string): Promise<Record<string, SavedCursor>> {
  let text = 'not a file';
  try {
    // Reading a pipe could block forever.
    if ((await stat(path)).isFile()) text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {};
    throw new CliError('storage', `--resume "${named}": can't read the file (${faultOf(error)}).`, {
      cause: error,
    });
  }
  if (text.trim() === '') return {};
  const result = resumeFile().safeParse(parsed(text));
  if (!result.success) {
    throw new CliError(
      'storage',
      `--resume "${named}": the file is damaged, or --resume did not write it. The file is unchanged.`,
      { hint: 'use another file, or move this file away to start again' },
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
