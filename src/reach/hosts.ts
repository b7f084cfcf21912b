import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';
import { privateFolder } from '../files/private-folder.ts';
import type { Listed } from '../instances/known-machines.ts';
import { mayBill } from '../rules/statuses.ts';
import {
  isInstalled,
  type Owner,
  type Seen,
  type SshFiles,
  sshFiles,
  writeHosts,
} from './host-file.ts';
import { knownWay } from './way.ts';

/** What a list of all known machines tells of the ways into them. */
export function seenIn(rows: readonly Listed[]): Seen[] {
  return rows.flatMap(({ id, name, instance, unread }): Seen[] => {
    if (id === null) return [];
    if (instance !== undefined) return [seenOf(instance)];
    return unread === true ? [{ id, name, way: 'unread' }] : [];
  });
}

/** A terminating instance can't be entered, though it may still show an address. */
function seenOf(instance: Instance): Seen {
  const { id, name, status } = instance;
  return { id, name: name ?? id, way: mayBill(status) ? knownWay(instance) : undefined };
}

/** Whose part of the file is written. */
export async function hostOwner(context: Context): Promise<Owner> {
  return (await context.journal()).owner();
}

/** Keeps the file of `instances ssh-config` in step with a list of all known machines. */
export function keepHosts(rows: readonly Listed[], context: Context): Promise<void> {
  return keep(seenIn(rows), 'go', context);
}

/** The same for one machine that was read. */
export function keepHost(instance: Instance, context: Context): Promise<void> {
  return keep([seenOf(instance)], 'stay', context);
}

/** What can't be kept spoils no command: ssh then has what was seen before. */
async function keep(seen: readonly Seen[], others: 'stay' | 'go', context: Context): Promise<void> {
  try {
    const files = sshFiles((await context.folders()).state);
    if (isInstalled(files)) await writeHosts(files, await hostOwner(context), seen, others);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    context.err.warn(error.message);
  }
}

/** Our files of ssh, their folder made. Throws CliError('storage'). */
export async function filesOf(context: Context): Promise<SshFiles> {
  const files = sshFiles((await context.folders()).state);
  try {
    await privateFolder(dirname(files.knownHosts));
    // ssh would make it for everybody to read.
    await (await open(files.knownHosts, 'a', 0o600)).close();
  } catch (error) {
    const reason = faultOf(error);
    throw new CliError(
      'storage',
      `The file of host keys could not be made: ${files.knownHosts} (${reason}).`,
      { cause: error },
    );
  }
  return files;
}
