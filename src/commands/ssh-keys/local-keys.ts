import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { readText } from '../kit/input.ts';

interface LocalKey {
  readonly file: string;
  /** The line in the choice. */
  readonly name: string;
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
  return prompts.choose(
    'Which key?',
    keys.map(({ file, name }) => ({ name, value: file })),
  );
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
      keys.push({ file, name: [name, type, fingerprint, comment].join('  ').trimEnd() });
    }
  }
  return keys;
}
