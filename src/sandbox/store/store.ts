import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../system/error-code.ts';
import { notRegular, privateFolder, readPlain, replaceFile } from '../../system/files.ts';
import { withLock } from '../../system/lock.ts';
import { Refusal } from '../refusal.ts';
import { type State, stateSchema } from './state.ts';

/** Opens the state file. Processes share it without losing changes. */
export function openStore(file: string) {
  // Queues the calls of one process, since the lock between processes is polled.
  let last: Promise<unknown> = Promise.resolve();
  // The last content read from the file: parsing is the slowest part of a call. Compares texts,
  // since two contents can have the same time and size.
  let kept: { text: string; state: State } | undefined;

  function alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(() => storing(file, work));
    last = turn.catch(() => undefined);
    return turn;
  }

  async function write(text: string): Promise<void> {
    await replaceFile(file, text).catch((error: unknown) => {
      throw storageError(file, 'write', error);
    });
  }

  return {
    /**
     * Reads the state, lets `work` change it, and writes it if it changed, all under one lock. If
     * the file is missing, starts from `fresh`. Keeps changes made before a {@link Refusal}; any
     * other error changes nothing. Throws a CliError `storage` for a file that can't be read, parsed
     * or written.
     */
    change: <T>(fresh: () => State, work: (state: State) => T): Promise<T> =>
      alone(async () => {
        const before = await read(file);
        const state =
          before === undefined
            ? fresh()
            : kept?.text === before
              ? kept.state
              : understand(file, before);
        // Discards the state in memory first, since a later failure makes it differ from the file.
        kept = undefined;
        const outcome = attempt(() => work(state));
        const text = JSON.stringify(state);
        if (text !== before) await write(text);
        kept = { text, state };
        if (!outcome.ok) throw outcome.refusal;
        // Copies the result, since the next call changes the same state.
        return structuredClone(outcome.value);
      }),
    /** Replaces the whole state, even one that can't be parsed. */
    replace: (state: State) =>
      alone(async () => {
        kept = undefined;
        await write(JSON.stringify(state));
      }),
  };
}

/**
 * Returns the account's ID without a lock and without parsing the rest; undefined if the file is
 * missing or unreadable.
 */
export function accountIn(file: string): string | undefined {
  try {
    const bytes = readPlain(file);
    if (bytes === undefined) return undefined;
    const { id } = JSON.parse(bytes.toString()).account;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: Refusal };

function attempt<T>(work: () => T): Outcome<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, refusal: error };
    throw error;
  }
}

/**
 * Runs work under the lock. Converts file-system errors into CliErrors, and recognizes them by
 * their code.
 */
async function storing<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    await privateFolder(dirname(file));
    return await withLock(file, work);
  } catch (error) {
    if (error instanceof CliError || errorCode(error) === undefined) throw error;
    throw storageError(file, 'lock', error);
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    // Reading a pipe would wait for a writer.
    if (!statSync(file).isFile()) throw notRegular(file);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(file, 'read', error);
  }
}

function understand(file: string, text: string): State {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw corrupt(file, error);
  }
  const result = stateSchema.safeParse(json);
  if (!result.success) throw corrupt(file, result.error);
  return result.data;
}

function corrupt(file: string, cause: unknown): CliError {
  return new CliError(
    'storage',
    `could not read the sandbox's state ${file}. The file is unchanged; reset the sandbox to replace it.`,
    { hint: 'gpucloud sandbox reset --state FILE', cause },
  );
}

function storageError(file: string, what: string, cause: unknown): CliError {
  return new CliError(
    'storage',
    `could not ${what} the sandbox's state ${file} (${faultOf(cause)})`,
    {
      // Another process may hold the lock.
      ...(errorCode(cause) === 'ELOCKED'
        ? { retryable: true }
        : { hint: 'check the folder, or set GPUCLOUD_STATE_DIR to another folder' }),
      cause,
    },
  );
}
