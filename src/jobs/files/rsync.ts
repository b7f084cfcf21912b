import type { Context } from '../../context.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { programFailed } from './copy-failed.ts';

/** rsync's exit code if files vanished during the copy. rsync copied the remaining files. */
const VANISHED = 24;
/** rsync's exit code for files that vanished before the copy, among other reasons. */
const PARTIAL = 23;

/** Matches rsync's messages about a file that vanished before or during the copy. */
const GONE =
  /^(?:rsync: (?:\[sender\] )?link_stat .* failed: No such file or directory \(2\)|file has vanished: ".*")$/;

/** Matches the copied bytes in `    5,472,256  18%    4.84MB/s    0:00:04`. */
const PROGRESS = /([\d.,]+) +\d+%/;

/** Whether this computer has a usable rsync. */
export async function isRsyncHere({
  start,
  host,
}: Pick<Context, 'start' | 'host'>): Promise<boolean> {
  // Skips rsync on Windows: it uses its own ssh and paths there.
  if (host.platform === 'win32') return false;
  let version = '';
  const hear = (text: string) => {
    version += text;
  };
  const running = await start({ file: 'rsync', args: ['--version'], hear, timeout: 5_000 });
  await running.ended.catch(() => undefined);
  // Requires rsync 3.1: earlier versions, and openrsync on macOS, don't report progress.
  const [, major = 0, minor = 0] = /^rsync +version v?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 1);
}

interface Rsync {
  readonly shell: RemoteShell;
  readonly startPiped: Context['startPiped'];
  readonly signal: AbortSignal;
  /** The arguments after gpucloud's own. */
  readonly words: readonly string[];
  /** rsync's stdin. */
  readonly input: string;
  onChanged(what: string): void;
  onProgress(bytes: number): void;
}

/**
 * Copies to the instance with rsync over gpucloud's ssh. Symlinks stay symlinks. Throws CliError if
 * it fails. Fetching never uses rsync, since the instance would choose the names.
 */
export async function rsync(job: Rsync): Promise<void> {
  const { shell, startPiped, signal } = job;
  const rsh = shell.ssh.words.map(rshWord).join(' ');
  const words = ['--links', '--perms', '--times', '--info=progress2', '-e', rsh, ...job.words];
  const running = await startPiped({ file: 'rsync', args: words });
  const stop = () => running.kill();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  running.stdin.end(job.input);
  running.stdout.on('data', (chunk: Uint8Array) => {
    const [, bytes] = PROGRESS.exec(String(chunk)) ?? [];
    if (bytes !== undefined) job.onProgress(Number(bytes.replace(/\D/g, '')));
  });
  const [printed, code] = await Promise.all([lastOf(running.stderr), running.ended]);
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const said = printed.trim().split('\n').slice(0, -1);
  const areGone = code === PARTIAL && said.length > 0 && said.every((line) => GONE.test(line));
  if (code === VANISHED || areGone) job.onChanged('some files vanished');
  else if (code !== 0) {
    // The first message may name only a vanished file, which is not why the copy failed.
    const gone = said.find((line) => GONE.test(line));
    const fault = said.find((line) => line.startsWith('rsync: ') && !GONE.test(line));
    const both = gone && fault && `${fault}; ${gone}\n`;
    throw programFailed('in', code, `${both ?? ''}${printed}`);
  }
}

/**
 * Returns the rsync address of a path on the instance. rsync splits it at the first colon after the
 * host.
 */
export function rsyncPlace({ ssh, home }: RemoteShell, path: string): string {
  const place = home === undefined ? path : `${home}/${path}`;
  return `${ssh.user}@${ssh.host.includes(':') ? `[${ssh.host}]` : ssh.host}:${place}`;
}

/**
 * Quotes a word for `-e`: rsync splits that command at spaces. Doubles quotes inside a quoted word.
 */
function rshWord(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
}
