import { randomUUID } from 'node:crypto';
import {
  access,
  chown,
  constants,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { privateFolder } from '../files/private-folder.ts';
import { syncFolder } from '../files/replace.ts';
import { meaning, notSaved } from './faults.ts';
import type { ConfigFile } from './file.ts';
import { locked } from './locked.ts';
import { parseConfig, type Reading, readConfig } from './read.ts';

export type Edit = (file: ConfigFile) => ConfigFile;

/**
 * The one write path of config.json: reads it under the lock, edits it, and puts the new file in
 * its place once that is proved to be whole on the disk. The old file stands until then.
 *
 * What `edit` throws comes out as it is, with nothing written.
 * Throws CliError('storage') when the file can't be used or the change can't be saved.
 */
export async function changeConfig(path: string, edit: Edit): Promise<ConfigFile> {
  const target = await writablePlace(path);
  return await locked(target, async () => {
    const before = await readConfig(target);
    return await save(target, before, edit(before.file));
  });
}

/** The file behind the name: a link stays a link, its target is changed. */
async function writablePlace(path: string): Promise<string> {
  try {
    await privateFolder(dirname(path));
  } catch (error) {
    throw notSaved(path, `its folder can't be made: ${meaning(error)}`, error);
  }
  // Read before the lock too: a file that can't be used is told at once, even in a folder that
  // can't be written to.
  const { bytes } = await readConfig(path);
  const target = bytes === undefined ? path : await realpath(path);
  try {
    // The lock would try for seconds where no file can be made.
    await access(dirname(target), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw notSaved(path, `its folder can't be written to: ${meaning(error)}`, error);
  }
  return target;
}

async function save(target: string, before: Reading, after: ConfigFile): Promise<ConfigFile> {
  await removeLeftovers(target);
  const staged = `${target}.${randomUUID()}.new`;
  try {
    // Loaded here because it costs more than the rest of a command, and most commands only read.
    const { writeWithConf } = await import('./conf.ts');
    const written = Buffer.from(writeWithConf(staged, { ...after }));
    const arrived = await readFile(staged);
    if (!written.equals(arrived)) {
      throw notSaved(target, 'the disk did not take all of it; it may be full');
    }
    const file = parseConfig(staged, arrived);
    await keepOwner(target, staged, before);
    await unchanged(target, before);
    await rename(staged, target);
    syncFolder(dirname(target));
    return file;
  } catch (error) {
    await rm(staged, { force: true }).catch(() => undefined);
    throw error instanceof CliError ? error : notSaved(target, meaning(error), error);
  }
}

/** What a killed process left here holds a key, so it is cleared away. */
async function removeLeftovers(target: string): Promise<void> {
  const ours = `${basename(target)}.`;
  try {
    for (const name of await readdir(dirname(target))) {
      if (name.startsWith(ours) && /\.new(\.tmp-[0-9a-f]+)?$/.test(name)) {
        await rm(join(dirname(target), name), { force: true });
      }
    }
  } catch {
    // A leftover is as private as the file itself; the change matters more.
  }
}

/** After `sudo gpucloud login` the file still belongs to the person. */
async function keepOwner(target: string, staged: string, before: Reading): Promise<void> {
  if (before.bytes === undefined) return;
  const [old, made] = await Promise.all([stat(target), stat(staged)]);
  if (old.uid !== made.uid || old.gid !== made.gid) {
    await chown(staged, old.uid, old.gid).catch(() => undefined);
  }
}

/** Refuses to undo a change of whoever takes no lock, or took it over while this one slept. */
async function unchanged(target: string, before: Reading): Promise<void> {
  const now = await readConfig(target);
  const same =
    before.bytes === undefined || now.bytes === undefined
      ? before.bytes === now.bytes
      : Buffer.compare(before.bytes, now.bytes) === 0;
  if (!same) {
    throw notSaved(target, 'another program changed the file at the same moment; try again');
  }
}
