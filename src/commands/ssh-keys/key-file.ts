import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readInput, readText } from '../../cli/input.ts';
import { checked, refuseSecret } from '../../cli/parse.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { anyName } from '../../rules/names.ts';
import { holdsPrivateKey } from '../../rules/private-key.ts';
import type { PublicKey } from '../../rules/public-key.ts';

/** What can be a flag that was mistyped; anything else that starts with a hyphen is not repeated. */
const FLAG = /^--?[A-Za-z][A-Za-z-]{0,30}(?==|$)/;

/**
 * Refuses flags that do not exist, further arguments, and a key in the place of a file, in place of
 * commander, which would repeat them.
 */
export function checkArguments(args: readonly string[]): void {
  for (const text of args) {
    refuseSecret('FILE', text);
  }
  const stray = args.find((text) => text.startsWith('-') && text !== '-');
  if (stray !== undefined) {
    const flag = FLAG.exec(stray)?.[0];
    throw usageError(
      flag === undefined ? 'an unknown option (it is not shown)' : `unknown option '${flag}'`,
      'the options: gpucloud ssh-keys add --help',
    );
  }
  if (args.length > 1) {
    throw usageError(
      `too many arguments: one FILE is expected, and there are ${args.length}`,
      'a key itself is given on stdin, with -',
    );
  }
  const [file] = args;
  if (file !== undefined && /[\r\n]|^(ssh|ecdsa|sk)-\S+ +AAAA/.test(file)) {
    throw usageError(
      'FILE: this is no file but the text of a key (it is not shown)',
      'give the key on stdin, with -',
    );
  }
}

/** A name of one line. The document gives no further rule (spec: POST /ssh-keys). */
export function checkedName(text: string): string {
  refuseSecret('--name', text);
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) {
    throw usageError('--name: a name is one line without control characters (it is not shown)');
  }
  return checked('--name', text, anyName);
}

/** Reads and judges the public key in a file. Nothing of a file that holds another thing is said. */
export async function keyIn(file: string, context: Context): Promise<PublicKey> {
  const text = await readInput('FILE', file, context);
  const { publicKey } = await import('../../rules/public-key.ts');
  const verdict = publicKey(text);
  if (verdict.ok) {
    return verdict.value;
  }
  const half = `${file}.pub`;
  const named = file === '-' ? 'stdin' : file;
  throw usageError(
    `FILE "${named}": ${verdict.rule}`,
    ...(holdsPrivateKey(text) && file !== '-' && existsSync(half)
      ? [`nothing was sent; the public half is in ${half}`]
      : []),
  );
}

interface LocalKey {
  readonly file: string;
  readonly name: string;
  /** What tells it from the others. */
  readonly about: readonly string[];
}

/**
 * The file that a person chooses among the public keys in ~/.ssh.
 * Throws a usage error where nobody can be asked, and where there is none.
 */
export async function chosenFile(context: Context): Promise<string> {
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw usageError(
      'FILE is missing: the public key to add, such as ~/.ssh/id_ed25519.pub, or - for stdin',
    );
  }
  const keys = await localKeys(context);
  if (keys.length === 0) {
    throw usageError(
      'FILE is missing, and there is no public key in ~/.ssh to offer',
      'make one: ssh-keygen -t ed25519',
    );
  }
  const chosen = await prompts.choose('Which key?', [
    ...keys.map(({ file, name, about }) => ({ name, about, value: file })),
    { name: 'Another file', value: undefined },
  ]);
  return chosen ?? (await prompts.text('File of the public key', { check: notThere })).trim();
}

function notThere(path: string): string | undefined {
  if (path.trim() === '') return 'such as ~/.ssh/id_ed25519.pub, with the whole path in place of ~';
  return existsSync(path.trim()) ? undefined : 'there is no such file';
}

/** The keys that can be added; a file that holds none is passed over. */
async function localKeys(context: Context): Promise<LocalKey[]> {
  const home = context.env.HOME || context.env.USERPROFILE;
  if (home === undefined || home === '') {
    return [];
  }
  const folder = join(home, '.ssh');
  const names = await readdir(folder).catch(() => []);
  const { publicKey } = await import('../../rules/public-key.ts');
  const keys: LocalKey[] = [];
  for (const name of names.filter((one) => one.endsWith('.pub')).sort()) {
    const file = join(folder, name);
    const verdict = publicKey(await readText('FILE', file, context).catch(() => ''));
    if (verdict.ok) {
      const { type, fingerprint, comment } = verdict.value;
      keys.push({ file, name, about: [comment, type, fingerprint] });
    }
  }
  return keys;
}
