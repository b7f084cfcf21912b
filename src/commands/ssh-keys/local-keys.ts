import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../../cli/input.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';

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
async function localKeys({ env }: Context): Promise<LocalKey[]> {
  const home = env.HOME || env.USERPROFILE;
  if (home === undefined || home === '') {
    return [];
  }
  const folder = join(home, '.ssh');
  const names = await readdir(folder).catch(() => []);
  const { publicKey } = await import('../../rules/public-key.ts');
  const keys: LocalKey[] = [];
  for (const name of names.filter((one) => one.endsWith('.pub')).sort()) {
    const file = join(folder, name);
    const verdict = publicKey(await readText('FILE', file).catch(() => ''));
    if (verdict.ok) {
      const { type, fingerprint, comment } = verdict.value;
      keys.push({ file, name, about: [comment, type, fingerprint] });
    }
  }
  return keys;
}
