import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterLine } from '../remote/after-line.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import { copyFailed, programFailed } from './copy-failed.ts';
import { type Entry, type FileList, listOf } from './files.ts';

const BEGIN = 'gpucloud-run has';

/**
 * Lists nothing if find or stat lacks these options. Leaves out names with a line feed, whose lines
 * would look like other names.
 */
const LIST = `cd ${WORK} 2>/dev/null || exit
echo '${BEGIN}'
find . -name '*
*' -prune -o -exec stat -c '%f %s %Y %n' {} + 2>/dev/null`;

/** Maximum characters of a line, since a hostile instance may send an endless one. */
const LONGEST_LINE = 10_000;

const [KIND, FOLDER, REGULAR] = [0o170000, 0o040000, 0o100000];

/** How the folder on the instance differs. */
export interface Difference {
  /** What to send. */
  readonly files: FileList;
  /** Paths on the instance that tar can't replace: a folder by a file, or a file by a folder. */
  readonly inTheWay: readonly string[];
}

/**
 * Compares the files with those of an earlier job on the instance. Leaves out files that have the
 * same mode, size and time there, as rsync does.
 */
export async function difference(
  files: FileList,
  { shell, signal }: { readonly shell: RemoteShell; readonly signal: AbortSignal },
): Promise<Difference> {
  const entries = new Map(files.entries.map((entry) => [entry.path, entry]));
  const same = new Set<Entry>();
  const inTheWay: string[] = [];
  for await (const line of linesFrom({ script: LIST, args: [], begin: BEGIN }, { shell, signal })) {
    // Keeps only what is known here, since a hostile instance may send any number of names.
    const [, mode = '', size, time, path = ''] = /^(\w+) (\d+) (\d+) \.\/(.*)$/.exec(line) ?? [];
    const entry = entries.get(path);
    if (entry === undefined) continue;
    const there = Number.parseInt(mode, 16);
    if ((entry.kind === 'folder') !== ((there & KIND) === FOLDER)) inTheWay.push(path);
    else if (entry.kind === 'file' && (there & KIND) === REGULAR) {
      const stats = await lstat(join(files.folder, path)).catch(() => undefined);
      if (stats === undefined || modeOf(stats) !== modeOf({ mode: there })) continue;
      if (size === `${entry.size}` && time === `${secondsOf(stats)}`) same.add(entry);
    }
    // Handles each path once, whatever the instance repeats.
    entries.delete(path);
  }
  const changed = files.entries.filter((entry) => !same.has(entry));
  return { files: { ...files, ...listOf(changed) }, inTheWay };
}

interface Listing {
  readonly script: string;
  readonly args: readonly string[];
  /** The line after which the list begins. */
  readonly begin: string;
}

/** Returns the lines that a script prints. The caller must check that the list is complete. */
export async function* linesFrom(
  { script, args, begin }: Listing,
  { shell, signal }: { readonly shell: RemoteShell; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const running = await shell.start(script, args, signal);
  const words = lastOf(running.stderr);
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for await (const chunk of afterLine(running.stdout, begin)) {
      const text = rest + decoder.decode(chunk, { stream: true });
      rest = text.slice(text.lastIndexOf('\n') + 1);
      if (rest.length > LONGEST_LINE) throw copyFailed('in', 'the instance sent too long a name');
      yield* text.split('\n').slice(0, -1);
    }
  } catch (error) {
    running.kill();
    throw error;
  } finally {
    await Promise.all([running.ended, words]);
  }
  signal.throwIfAborted();
}

/** Returns the mode bits that remain after the copy's umask, 022, and tar. */
function modeOf({ mode }: Pick<Stats, 'mode'>): number {
  return mode & 0o755;
}

function secondsOf({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
  return Math.floor(mtimeMs / 1000);
}

/** Removes the paths from stdin, relative to the command's folder. */
const REMOVE = `cd ${WORK} && exec xargs -0 rm -rf`;

/** Makes room for files and folders of another kind. */
export async function removeThere(
  paths: readonly string[],
  { shell, signal }: { readonly shell: RemoteShell; readonly signal: AbortSignal },
): Promise<void> {
  const input = paths.map((path) => `./${path}\0`).join('');
  const { code, stderr } = await shell.run(REMOVE, signal, { input });
  if (code !== 0) throw programFailed('in', code, stderr);
}
