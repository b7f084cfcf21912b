import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from '../../context.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { type Check, fail, type Look, notChecked, pass, warn } from './check.ts';
import { settingsOrNot } from './settings.ts';

export function looksAtFolders(context: Context): Look[] {
  return [
    {
      ids: ['config_folder'],
      make: async () => [
        await folderCheck('config_folder', (await context.folders()).config, context),
      ],
    },
    { ids: ['config_file'], make: async () => [await configFileCheck(context)] },
    {
      ids: ['state_folder'],
      make: async () => [
        await folderCheck('state_folder', (await context.folders()).state, context),
      ],
    },
    { ids: ['state_writable'], make: async () => [await writableCheck(context)] },
  ];
}

/** What the files of machines and names hold. */
export function looksAtKnowledge(context: Context): Look[] {
  return [
    { ids: ['journal'], make: async () => [await journalCheck(context)] },
    { ids: ['catalog'], make: async () => [await catalogCheck(context)] },
  ];
}

/** The permissions of a file or folder; undefined where there is none. Throws what `stat` throws. */
async function found(path: string): Promise<{ mode: number; isFolder: boolean } | undefined> {
  try {
    const stats = await stat(path);
    return { mode: stats.mode & 0o777, isFolder: stats.isDirectory() };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function folderCheck(id: string, path: string, { host }: Context): Promise<Check> {
  let folder: Awaited<ReturnType<typeof found>>;
  try {
    folder = await found(path);
  } catch (error) {
    return fail(id, `${path} can't be looked at (${faultOf(error)})`, 'see who owns it');
  }
  if (folder === undefined) {
    return pass(id, `${path} is not there yet; it is made when it is first needed`);
  }
  if (!folder.isFolder) {
    return fail(id, `${path} is not a folder`, 'move it away');
  }
  return privacy(id, path, folder.mode, '700', host.platform);
}

async function configFileCheck(context: Context): Promise<Check> {
  const config = await context.config();
  const { profiles } = await config.read();
  const file = await found(config.path);
  if (file === undefined) {
    return pass('config_file', `${config.path} is not there yet: there are no profiles`);
  }
  const count = Object.keys(profiles).length;
  const path = `${config.path} with ${count === 1 ? '1 profile' : `${count} profiles`}`;
  const check = privacy('config_file', config.path, file.mode, '600', context.host.platform);
  return check.status === 'pass' ? pass('config_file', `${path}, ${octal(file.mode)}`) : check;
}

/** Windows has no such modes; its folders of a user are the user's own. */
function privacy(id: string, path: string, mode: number, want: string, platform: string): Check {
  return platform === 'win32' || (mode & 0o077) === 0
    ? pass(id, `${path}, ${octal(mode)}`)
    : warn(
        id,
        `${path} is open to other users of this computer (${octal(mode)}), and keys may be kept in it`,
        `chmod ${want} ${quoted(path)}`,
      );
}

function octal(mode: number): string {
  return `0${mode.toString(8).padStart(3, '0')}`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Enough to find a disk that is full. */
const PROBE = 'gpucloud doctor\n'.repeat(512);

async function writableCheck(context: Context): Promise<Check> {
  const { state } = await context.folders();
  const hint = `nothing can be rented until it can; GPUCLOUD_STATE_DIR names another folder`;
  try {
    const there = await nearest(state);
    if (there !== state) {
      await access(there, constants.W_OK | constants.X_OK);
      return pass('state_writable', `${state} can be made`);
    }
    await probe(join(state, `.doctor-${randomUUID()}.tmp`));
    return pass('state_writable', `a file can be written in ${state}`);
  } catch (error) {
    return fail('state_writable', `nothing can be written in ${state} (${faultOf(error)})`, hint);
  }
}

/** The folder itself, or the nearest one above it that is there. */
async function nearest(path: string): Promise<string> {
  const parent = dirname(path);
  return (await found(path)) !== undefined || parent === path ? path : nearest(parent);
}

async function probe(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(PROBE);
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await rm(path, { force: true });
  }
}

async function journalCheck(context: Context): Promise<Check> {
  const settings = await settingsOrNot(context);
  if (settings === undefined || (!settings.sandbox && settings.baseUrl === undefined)) {
    return notChecked('journal', 'no service is in force');
  }
  const { instances: machines, unknown } = await (await context.journal()).read();
  const count = `${machines.length} ${machines.length === 1 ? 'machine' : 'machines'} known here`;
  return unknown.length === 0
    ? pass('journal', count)
    : warn(
        'journal',
        `${count}, and ${unknown.length} asked for with an outcome that is not known: it may be billing`,
        'gpucloud instances list',
      );
}

/** Names are a comfort: without them every command still works with ids. */
async function catalogCheck(context: Context): Promise<Check> {
  const settings = await settingsOrNot(context);
  if (settings === undefined || (!settings.sandbox && settings.baseUrl === undefined)) {
    return notChecked('catalog', 'no service is in force');
  }
  try {
    const { length } = await (await context.catalog()).entries();
    return pass(
      'catalog',
      `${length} ${length === 1 ? 'offer or image' : 'offers and images'} known here`,
    );
  } catch (error) {
    return warn(
      'catalog',
      error instanceof Error ? error.message : String(error),
      'correct the file or move it away: names are learned again from machines that are read',
    );
  }
}
