import { createHmac, randomUUID } from 'node:crypto';
import { appendFile, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { errorCode, faultOf } from '../system/error-code.ts';
import { privateFolder, takeFolderOwner } from '../system/files.ts';
import type { SshOptions } from './ssh-argv.ts';

/**
 * Returns gpucloud's own file of host keys, and creates it if missing. Throws CliError('storage').
 */
export async function knownHostsFile(context: Context): Promise<string> {
  const path = join((await context.folders()).state, 'ssh', 'known_hosts');
  try {
    await privateFolder(dirname(path));
    // ssh itself would create the file readable for everybody.
    await (await open(path, 'a', 0o600)).close();
    takeFolderOwner(path);
  } catch (error) {
    throw new CliError(
      'storage',
      `Could not create the host key file ${path} (${faultOf(error)}).`,
      { cause: error },
    );
  }
  return path;
}

/**
 * Signs in to an instance, and then stores its host key. Until a sign-in has succeeded, any key is
 * accepted and none is kept: a new instance may make its keys again while its sshd already runs.
 */
export async function storeHostKey<T>(
  id: string,
  ssh: SshOptions,
  signIn: (ssh: SshOptions) => Promise<{ readonly result: T; readonly isTrusted: boolean }>,
): Promise<T> {
  if (await isStored(id, ssh.knownHosts)) return (await signIn(ssh)).result;
  const knownHosts = `${ssh.knownHosts}-${randomUUID()}`;
  try {
    const { result, isTrusted } = await signIn({ ...ssh, knownHosts });
    if (isTrusted) await append(knownHosts, ssh.knownHosts);
    return result;
  } finally {
    await rm(knownHosts, { force: true });
  }
}

async function append(from: string, to: string): Promise<void> {
  try {
    // The user's options may select another file for the key.
    await appendFile(to, await readIfThere(from));
  } catch (cause) {
    const message = `Could not store the host key in ${to} (${faultOf(cause)}).`;
    throw new CliError('storage', message, { cause });
  }
}

/** Whether a file has a host key of this instance. ssh may store its name as a hash. */
async function isStored(id: string, file: string): Promise<boolean> {
  const lines = (await readIfThere(file)).split('\n');
  return lines.some((line) => {
    const [name = ''] = line.split(' ');
    const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(name) ?? [];
    if (salt === undefined) return name.split(',').includes(id);
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(id).digest('base64') === hash;
  });
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
