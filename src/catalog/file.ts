import { dirname } from 'node:path';
import { CliError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import { readOwn, replaceFile } from '../system/files.ts';
import { withLock } from '../system/lock.ts';
import * as z from '../zod.ts';

const fileSchema = lazy(() => {
  const text = z.optional(z.string());
  const record = z.looseObject({
    /** The base URL, or `sandbox`. */
    service: z.string(),
    kind: z.enum(['offer', 'image']),
    id: z.string(),
    given_name: text,
    name: text,
    region: text,
    gpu: text,
    gpu_count: z.optional(z.number()),
    vram_gb: z.optional(z.number()),
    cuda_version: text,
    price_per_hour: text,
    price_at: text,
    seen_at: text,
    in_stock: z.optional(z.boolean()),
    in_stock_at: text,
  });
  return z.looseObject({ version: z.literal(1), names: z.array(record) });
});

/** catalog.json: the offers and images of every service. */
export type CatalogFile = z.infer<ReturnType<typeof fileSchema>>;
/** One stored offer or image of one service. */
export type NameRecord = CatalogFile['names'][number];

/** Reads the file; a missing file has no names. Throws CliError('storage') for an unusable file. */
export function readFile(path: string): CatalogFile {
  const text = readWhole(path);
  if (text === undefined) return { version: 1, names: [] };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  const verdict = fileSchema().safeParse(value);
  if (verdict.success) return verdict.data;
  const part = verdict.error.issues[0]?.path.map(String).join('.') || 'the whole file';
  throw unusable(path, `it is not a valid catalog file (check ${part})`);
}

/**
 * Edits the file under its lock; writes nothing if `edit` returns its argument. Throws
 * CliError('storage') if the change can't be saved, and what `edit` throws.
 */
export async function changeFile(
  path: string,
  edit: (file: CatalogFile) => CatalogFile,
): Promise<CatalogFile> {
  // Loads the modules late: most commands only read.
  try {
    return await withLock(path, async () => {
      const before = readFile(path);
      const after = edit(before);
      if (after !== before) await replaceFile(path, `${JSON.stringify(after, null, 2)}\n`);
      return after;
    });
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(
      'storage',
      `Could not save names of offers and images to ${path} (${faultOf(error)}). The file is unchanged.`,
      {
        hint: `check ${dirname(path)}, or choose another folder with GPUCLOUD_STATE_DIR`,
        cause: error,
      },
    );
  }
}

function readWhole(path: string): string | undefined {
  let bytes: Buffer | undefined;
  try {
    bytes = readOwn(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(path, faultOf(error), error);
  }
  if (bytes === undefined) throw unusable(path, 'it is not a regular file of yours');
  return bytes.toString('utf8');
}

function unusable(path: string, what: string, cause?: unknown): CliError {
  return new CliError(
    'storage',
    `Could not read names of offers and images from ${path}: ${what}. The file is unchanged.`,
    {
      hint: 'correct the file, or move it away: gpucloud learns the names again from instances',
      resource: path,
      cause,
    },
  );
}
