import { chmod, lstat, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';
import { makeFolders } from '../files/make-folders.ts';
import { replaceFile } from '../files/replace.ts';
import { configWord } from './argv.ts';

/** The user's own configuration of ssh. */
export function userConfig(home: string): string {
  return join(home, '.ssh', 'config');
}

/** The one line that makes ssh read our file. */
export function includeLine(hosts: string): string {
  return `Include ${configWord(hosts)}`;
}

/** Whether the user's configuration reads our file, whatever machine is asked for. */
export async function isIncluded(config: string, hosts: string): Promise<boolean> {
  const before = await contentOf(config);
  return before !== undefined && hasLine(before.text, hosts);
}

/**
 * Puts the line at the top of the user's configuration, where it counts for every host. All else in
 * the file stays, byte for byte, as do its mode and owner; where it is a symbolic link, what it
 * leads to is changed. The answer is false where the line is there already.
 * Throws CliError('storage').
 */
export async function addInclude(config: string, hosts: string): Promise<boolean> {
  return edit(config, hosts, (text) => {
    if (hasLine(text, hosts)) return text;
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    return `${lineOf(hosts)}${end}${text}`;
  });
}

/** Takes the line out again, wherever it stands. The answer is false where there is none. */
export async function removeInclude(config: string, hosts: string): Promise<boolean> {
  return edit(config, hosts, (text) =>
    text
      .split(/(?<=\n)/)
      .filter((line) => line.trim() !== lineOf(hosts))
      .join(''),
  );
}

/** The file in a text of one character a byte, so that what is no UTF-8 comes out as it went in. */
const BYTES = 'latin1';

function lineOf(hosts: string): string {
  return Buffer.from(includeLine(hosts)).toString(BYTES);
}

/** Below the first `Host` or `Match` the line would count for some machines only. */
function hasLine(text: string, hosts: string): boolean {
  const lines = text.split('\n').map((line) => line.trim());
  const block = lines.findIndex((line) => /^(?:host|match)[\s=]/i.test(line));
  return (block < 0 ? lines : lines.slice(0, block)).includes(lineOf(hosts));
}

interface Content {
  /** Where the file is, links followed. */
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** undefined where there is no file. */
async function contentOf(config: string): Promise<Content | undefined> {
  let path: string;
  try {
    path = await realpath(config);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // A link that leads nowhere is somebody's, and may lead somewhere tomorrow.
    if (await isThere(config)) throw error;
    return undefined;
  }
  const { mode, uid, gid } = await stat(path);
  return { path, text: await readFile(path, BYTES), mode: mode & 0o7777, uid, gid };
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/** Somebody else may be writing too; each try starts from what stands there then. */
const TRIES = 5;

async function edit(
  config: string,
  hosts: string,
  change: (text: string) => string,
): Promise<boolean> {
  try {
    for (let left = TRIES; left > 0; left -= 1) {
      const before = await contentOf(config);
      const text = before?.text ?? '';
      const after = change(text);
      if (after === text) return false;
      if (before === undefined) await ownFolder(dirname(config));
      if (await replaceUnlessChanged(config, before, after)) return true;
    }
    throw new Error('it changes all the time');
  } catch (error) {
    const reason = errorCode(error) ?? String(error);
    throw new CliError('storage', `${config} could not be changed (${reason}).`, {
      hint: `change it by hand; the line is: ${includeLine(hosts)}`,
      cause: error,
    });
  }
}

/** The answer is false where somebody else has written in the meantime: then nothing is changed. */
async function replaceUnlessChanged(
  config: string,
  before: Content | undefined,
  after: string,
): Promise<boolean> {
  let changed = false;
  try {
    await replaceFile(before?.path ?? config, Buffer.from(after, BYTES), {
      ...(before === undefined ? {} : { mode: before.mode, owner: before }),
      async lastCheck() {
        changed = (await contentOf(config))?.text !== before?.text;
        if (changed) throw new Error('it was changed in the meantime');
      },
    });
    return true;
  } catch (error) {
    if (changed) return false;
    throw error;
  }
}

async function ownFolder(path: string): Promise<void> {
  const made = makeFolders(path, 0o700);
  if (made !== undefined) await chmod(path, 0o700);
}
