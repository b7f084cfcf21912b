import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterLine } from '../remote/after-line.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import type { Entry, FileList } from './files.ts';

const BEGIN = 'gpucloud-run has';

/** Lists nothing if find or stat lacks these options. */
const LIST = `cd ${WORK} 2>/dev/null || exit
echo '${BEGIN}'
find . -type f -exec stat -c '%a %s %Y %n' {} + 2>/dev/null`;

/** Skips files that have the same mode, size and time on the instance, as rsync does. */
export async function changedFiles(
  files: FileList,
  { shell, signal }: { readonly shell: RemoteShell; readonly signal: AbortSignal },
): Promise<FileList> {
  const running = await shell.start(LIST, [], signal);
  running.stdin.end();
  const words = lastOf(running.stderr);
  const there = new Set<string>();
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of afterLine(running.stdout, BEGIN)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [, mode = '', file] = /^([0-7]+) (.*)$/.exec(line) ?? [];
      if (file !== undefined) there.add(`${modeOf(Number.parseInt(mode, 8))} ${file}`);
    }
  }
  await Promise.all([running.ended, words]);
  signal.throwIfAborted();
  const isSame = async ({ kind, path, size }: Entry) => {
    if (kind !== 'file') return false;
    const stats = await lstat(join(files.folder, path)).catch(() => undefined);
    if (stats === undefined) return false;
    return there.has(`${modeOf(stats.mode)} ${size} ${secondsOf(stats)} ./${path}`);
  };
  const entries: Entry[] = [];
  for (const entry of files.entries) if (!(await isSame(entry))) entries.push(entry);
  const changed = entries.filter(({ kind }) => kind !== 'folder');
  const bytes = changed.reduce((sum, { size }) => sum + size, 0);
  return { ...files, entries, count: changed.length, bytes };
}

/** Returns the mode bits that remain after the copy's umask, 022, and tar. */
function modeOf(mode: number): number {
  return mode & 0o755;
}

function secondsOf({ mtimeMs }: { readonly mtimeMs: number }): number {
  return Math.floor(mtimeMs / 1000);
}
