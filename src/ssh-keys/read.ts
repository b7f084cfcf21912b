import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { readInput } from '../command-line/input.ts';
import { checked, refuseSecret } from '../command-line/parse.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { anyName } from '../rules/names.ts';
import { type PublicKey, publicKey } from '../rules/public-key.ts';
import { holdsPrivateKey } from '../rules/secrets.ts';

/**
 * Checks that a name is one line. The document has no other rule (API document: POST /ssh-keys).
 */
export function checkedName(text: string): string {
  refuseSecret('--name', text);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) {
    throw usageError('--name: must be one line without control characters (value hidden)');
  }
  return checked('--name', text, anyName);
}

const OTHER_KEY = `choose a key of this computer: ${gpucloud('ssh-keys', 'add')}; or create one: ssh-keygen -t ed25519`;

/** Reads and checks the public key in a file. Prints nothing from a file with other content. */
export async function keyIn(file: string, context: Context): Promise<PublicKey> {
  const text = await readInput('FILE', file, context).catch((error: unknown) => {
    throw error instanceof CliError && file !== '-'
      ? error.with(error.message, { hint: OTHER_KEY })
      : error;
  });
  const verdict = publicKey(text);
  if (verdict.ok) {
    return verdict.value;
  }
  const half = `${file}.pub`;
  const named = file === '-' ? 'stdin' : file;
  throw usageError(
    `FILE "${named}": ${verdict.rule}`,
    ...(holdsPrivateKey(text) && file !== '-' && existsSync(half)
      ? [`nothing was sent; the public key is in ${half}`]
      : []),
  );
}

/** Returns the comment of a key; without a comment, the file name. */
export function nameFor(key: PublicKey, file: string): string {
  if (key.comment !== '') {
    return checkedName(key.comment);
  }
  if (file === '-') {
    throw usageError('--name is required: the key on stdin has no comment');
  }
  return checkedName(basename(file).replace(/(?<=.)\.pub$/, ''));
}
