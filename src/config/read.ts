import { lstatSync, statSync } from 'node:fs';
import { CliError } from '../errors.ts';
import { readPlain } from '../files/plain.ts';
import { textOfUtf8 } from '../files/utf8.ts';
import { codeOf, meaning, unusable } from './faults.ts';
import { type ConfigFile, emptyFile, ownNamesOnly } from './file.ts';
import { wrongPart } from './schema.ts';

/** A config file with the very bytes it was read from; no bytes when there is no file. */
export interface Reading {
  readonly file: ConfigFile;
  readonly bytes: Uint8Array | undefined;
}

/**
 * Reads config.json. A missing file is one without profiles.
 * Throws CliError('storage') for anything that is there and is not a config file.
 */
export async function readConfig(path: string): Promise<Reading> {
  const bytes = bytesOf(path);
  return { bytes, file: bytes === undefined ? emptyFile() : parseConfig(path, bytes) };
}

/** The config file in these bytes. Throws CliError('storage') that names `path`. */
export function parseConfig(path: string, bytes: Buffer): ConfigFile {
  const text = textOfUtf8(bytes);
  if (text === undefined) {
    throw unusable(path, 'it is not UTF-8 text');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text around the fault, which may be a key, so it is
    // neither repeated nor passed on as the cause.
    throw unusable(
      path,
      text.trim() === '' ? 'it is empty' : 'it is not JSON, or a part of it only',
    );
  }
  const wrong = wrongPart(value);
  if (wrong !== undefined) {
    throw unusable(path, `it is not a file of gpucloud's settings (see ${wrong})`);
  }
  const file = value as ConfigFile;
  return { ...file, profiles: ownNamesOnly(file.profiles) };
}

function bytesOf(path: string): Buffer | undefined {
  try {
    // Looked at first: to open a device may be more than a look.
    const found = statSync(path);
    const bytes = found.isFile() ? readPlain(path) : undefined;
    if (bytes === undefined) {
      throw unusable(path, found.isDirectory() ? 'it is a folder' : 'it is not a plain file');
    }
    return bytes;
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (codeOf(error) !== 'ENOENT') {
      throw unusable(path, `it can't be read: ${meaning(error)}`, error);
    }
    if (isLink(path)) {
      // A link to a disk that is not mounted; writing would put a file in the link's place.
      throw unusable(path, "it is a link to a file that isn't there");
    }
    return undefined;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
