import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SshKey } from '../api/index.ts';
import { readText } from '../command-line/input.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Choice, Prompts } from '../prompts/prompts.ts';
import { publicKey } from '../rules/public-key.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import { makeFolders } from '../system/files.ts';
import { registered } from './add.ts';

type Source = () => Promise<string | undefined>;

interface KeyChoices {
  /** The choice of no key, if there is one. */
  readonly none?: string;
  /** Keys of the account, marked among the choices. */
  readonly account: readonly SshKey[];
}

/**
 * Returns the file of the chosen public key: a file in ~/.ssh, a new key made by ssh-keygen, or
 * another file. Returns undefined for `none`.
 */
export async function chooseKeyFile(
  question: string,
  { none, account }: KeyChoices,
  prompts: Prompts,
  context: Context,
): Promise<string | undefined> {
  const { home } = context.host;
  const choices = home === undefined ? [] : await choicesIn(join(home, '.ssh'), account, context);
  choices.push({
    name: 'Another file',
    value: async () => (await prompts.text('Public key file', { check: notThere })).trim(),
  });
  if (none !== undefined) choices.push({ name: none, value: async () => undefined });
  return await (await prompts.choose(question, choices))();
}

function notThere(path: string): string | undefined {
  if (path.trim() === '')
    return 'must be a full path instead of ~/, such as /home/ann/.ssh/id_ed25519.pub';
  return existsSync(path.trim()) ? undefined : 'there is no such file';
}

/** Returns the public keys in ~/.ssh, without files that hold no key, and the choice of a new key. */
async function choicesIn(
  folder: string,
  account: readonly SshKey[],
  context: Context,
): Promise<Choice<Source>[]> {
  const names = await readdir(folder).catch(() => []);
  const keys: Choice<Source>[] = [];
  for (const name of names.filter((one) => one.endsWith('.pub')).sort()) {
    const file = join(folder, name);
    const verdict = publicKey(await readText('FILE', file, context).catch(() => ''));
    if (verdict.ok) {
      const { type, fingerprint, comment } = verdict.value;
      const there = await registered(verdict.value, account);
      const about = there === undefined ? comment : `added as ${there.name ?? there.id}`;
      keys.push({ name, about: [about, type, fingerprint], value: async () => file });
    }
  }
  // ssh uses this file name by default. Offered only if no file with this name exists.
  const file = join(folder, 'id_ed25519');
  if (!existsSync(file) && !existsSync(`${file}.pub`)) {
    keys.push({
      name: 'Generate a new key (~/.ssh/id_ed25519)',
      value: () => generateKey(file, context),
    });
  }
  return keys;
}

/**
 * Runs ssh-keygen in the terminal, so that it can prompt for a passphrase. Returns the public key's
 * file.
 */
async function generateKey(file: string, context: Context): Promise<string> {
  try {
    makeFolders(dirname(file), 0o700);
  } catch (error) {
    throw new CliError('storage', `Could not generate a key: ${faultOf(error)}.`, {
      hint: `make ${dirname(file)} a folder that you can write to`,
      cause: error,
    });
  }
  // Keeps ssh-keygen quiet (-q): stdout is for the command's result.
  const args = ['-q', '-t', 'ed25519', '-f', file];
  const running = await context.start({ file: 'ssh-keygen', args });
  const code = await running.ended.catch((error: unknown) => {
    const why = errorCode(error) === 'ENOENT' ? 'it is not on PATH' : String(error);
    throw new CliError('refused', `Could not start ssh-keygen: ${why}.`, {
      hint: 'install an OpenSSH client (openssh-client on Debian and Ubuntu)',
      cause: error,
    });
  });
  context.signal.throwIfAborted();
  if (code !== 0) throw new CliError('refused', `ssh-keygen made no key (exit code ${code}).`);
  return `${file}.pub`;
}
