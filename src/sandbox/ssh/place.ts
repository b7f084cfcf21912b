import { existsSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { CliError } from '../../errors.ts';
import { makeFolders, privateFolder, replaceFile, takeFolderOwner } from '../../system/files.ts';
import { withLock } from '../../system/lock.ts';
import { NVIDIA_SMI } from './nvidia-smi.ts';

/** An instance's folder on this computer. */
export interface Place {
  readonly folder: string;
  /** The home folder of the instance's user. */
  readonly home: string;
  /** A marker file that exists while the instance can run commands. */
  readonly mark: string;
  readonly hostKey: string;
  /** File that nvidia-smi reads: one line per card, and the load from `sandbox gpu`. */
  readonly cards: string;
  readonly load: string;
  /** A folder with copies of the /proc files that show load. */
  readonly proc: string;
}

/** Users whose files are trusted; undefined if files have no owners (Windows). */
export type Owners = readonly number[] | undefined;

/** Returns the folder of all instances of a state file. */
export function instancesFolder(file: string): string {
  return `${file.replace(/\.json$/, '')}-instances`;
}

/** Returns the paths of an instance. `id` comes from the state file, where it is a UUID. */
export function placeOf(file: string, id: string): Place {
  const folder = join(instancesFolder(file), id);
  return {
    folder,
    home: join(folder, 'home'),
    mark: join(folder, 'running'),
    hostKey: join(folder, 'host_key'),
    cards: join(folder, 'cards'),
    load: join(folder, 'load'),
    proc: join(folder, 'proc'),
  };
}

/** A `who` that prints nothing, since users of this computer's terminals are not on the instance. */
const NOBODY = '#!/bin/sh\n';

/**
 * Throws CliError('storage') if another user can change the instances' files, since instances run
 * as programs on this computer. In a shared folder, the first user to create a folder owns it.
 */
export async function ensureOwn(file: string, owners: Owners): Promise<void> {
  if (owners === undefined) return;
  const folder = instancesFolder(file);
  for (const [path, read] of [
    [file, stat],
    [folder, lstat],
  ] as const) {
    const stats = await read(path).catch(() => undefined);
    if (stats === undefined) continue;
    const isOwn = owners.includes(stats.uid) && (stats.mode & 0o002) === 0;
    if (isOwn && !stats.isSymbolicLink()) continue;
    throw new CliError('storage', `Other users could change ${path}.`, {
      hint: 'use a state file in a folder of your own',
    });
  }
}

/**
 * Creates a folder in an instance's folder. Replaces a link that a command may have put in its
 * place.
 */
export async function realFolder(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory() === false) await rm(path);
  makeFolders(path, 0o777);
}

/** Creates an instance's folder on first use. */
export async function preparePlace(place: Place, cards: string, makeKey: () => string) {
  await privateFolder(place.home);
  // The modification time of this file is the instance's start.
  if (!existsSync(place.mark)) {
    await writeFile(place.mark, '');
    takeFolderOwner(place.mark);
  }
  await realFolder(join(place.folder, 'bin'));
  const program = join(place.folder, 'bin', 'nvidia-smi');
  // Takes a lock, so that two simultaneous connections use the same host key.
  return withLock(place.hostKey, async () => {
    await replaceFile(place.cards, cards);
    await replaceFile(program, NVIDIA_SMI, { mode: 0o700 });
    await replaceFile(join(place.folder, 'bin', 'who'), NOBODY, { mode: 0o700 });
    if (!existsSync(place.hostKey)) await replaceFile(place.hostKey, makeKey());
    return readFile(place.hostKey, 'utf8');
  });
}

/** Marks every process of an instance, so that {@link marked} finds those that left their session. */
const MARK = 'SANDBOX_INSTANCE';

/** Variables of this computer that commands receive. */
const PASSED = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/;

/** Returns the environment of a command, without the account's key or gpucloud's settings. */
export function environmentOf(
  id: string,
  { folder, home, proc }: Place,
  env: Readonly<Record<string, string | undefined>>,
) {
  const username = userName();
  const { PATH: path = '/usr/local/bin:/usr/bin:/bin' } = env;
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => PASSED.test(name))),
    PATH: `${join(folder, 'bin')}${delimiter}${path}`,
    HOME: home,
    USER: username,
    LOGNAME: username,
    SHELL: existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh',
    SSH_CONNECTION: '127.0.0.1 0 127.0.0.1 22',
    GPUCLOUD_PROC: proc,
    [MARK]: id,
  };
}

/** Returns the user's name. In a container, the user may have none. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'sandbox';
  }
}

/**
 * Returns the processes of an instance, in any session. A process that cleared its environment
 * counts if its parent does. A reused process ID never counts.
 */
export async function marked(id: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const read = (name: string, what: string) =>
    // Not a process, or one that has exited or belongs to another user.
    readFile(`/proc/${name}/${what}`, 'latin1').catch(() => '');
  const all = await Promise.all(
    names.map(async (number) => ({
      number,
      own: (await read(number, 'environ')).split('\0').includes(`${MARK}=${id}`),
      // Splits after the last bracket, since the name may contain any character.
      parent: /.*\) \S (\d+)/s.exec(await read(number, 'stat'))?.[1],
    })),
  );
  const found = new Set(all.filter(({ own }) => own).map(({ number }) => number));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { number, parent } of all) if (found.has(parent ?? '')) found.add(number);
  }
  return [...found].map(Number);
}

/** Deletes a folder and its content. Follows no symlink. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    // Makes folders writable first: a program may have made them read-only.
    await unlockFolders(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

async function unlockFolders(folder: string): Promise<void> {
  if (!(await lstat(folder)).isDirectory()) return;
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlockFolders(join(folder, entry.name));
  }
}
