import { pipeline } from 'node:stream/promises';
import type { Context } from '../../context.ts';
import type { Clock } from '../../system/clock.ts';
import { errorCode } from '../../system/error-code.ts';
import { lastOf, type RemoteShell } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import { difference, removeThere } from './changed.ts';
import { copyFailed, programFailed } from './copy-failed.ts';
import type { FileList } from './files.ts';
import { packed } from './pack.ts';
import { rsync, rsyncPlace } from './rsync.ts';

/** Options of a copy in either direction. */
export interface Copying {
  readonly shell: RemoteShell;
  readonly signal: AbortSignal;
  /** Reports a file that vanished or changed during the copy. The other files are copied. */
  onChanged(what: string): void;
  /** Reports the bytes copied so far, and the total if known. */
  onProgress(bytes: number, total?: number): void;
}

interface CopyingIn extends Copying {
  /** Whether both sides have rsync. */
  readonly hasRsync: boolean;
  /** Whether an earlier job may have left files on the instance. */
  readonly isAgain: boolean;
  readonly startPiped: Context['startPiped'];
  readonly clock: Clock;
}

const MAKE_FOLDER = `umask 022; mkdir -p ${WORK} && cd ${WORK}`;

/**
 * Copies the listed files that the command's folder lacks or that have changed. Throws CliError.
 */
export async function copyIn(files: FileList, copying: CopyingIn): Promise<void> {
  const { shell, signal } = copying;
  if (!copying.hasRsync) {
    if (!copying.isAgain) return unpackThere(files, copying);
    const { files: changed, inTheWay } = await difference(files, copying);
    if (inTheWay.length > 0) await removeThere(inTheWay, copying);
    return unpackThere(changed, copying);
  }
  const { code, stderr } = await shell.run(MAKE_FOLDER, signal);
  if (code !== 0) throw programFailed('in', code, stderr);
  await rsync({
    ...copying,
    // The most: rsync skips files that an earlier job has copied.
    onProgress: (bytes) => copying.onProgress(bytes, files.bytes),
    // Omits --recursive, since it would copy all files of a listed folder.
    words: [
      '--dirs',
      // Replaces a folder by a file of the same name.
      '--force',
      '--files-from=-',
      '--from0',
      '--',
      `${files.folder}/`,
      rsyncPlace(shell, WORK),
    ],
    input: files.entries.map(({ path }) => `${path}\0`).join(''),
  });
}

async function unpackThere(files: FileList, copying: CopyingIn): Promise<void> {
  const { shell, signal } = copying;
  const running = await shell.open(`${MAKE_FOLDER} && exec tar -xf -`, [], signal);
  const printed = lastOf(running.stderr);
  running.stdout.resume();
  const onProgress = (bytes: number) => copying.onProgress(bytes, files.bytes);
  let fault: unknown;
  try {
    await pipeline(
      packed(files, { ...copying, onProgress, now: copying.clock.now }),
      running.stdin,
    );
  } catch (error) {
    fault = error;
    // After EPIPE, the program is exiting by itself. Killing it could lose tar's message.
    if (errorCode(error) !== 'EPIPE') running.kill();
  }
  const code = await running.ended;
  const said = await printed;
  if (code === 0 && fault === undefined) return;
  // If tar or ssh exited early, its message is the reason, not the broken pipe.
  if (said === '' && fault instanceof Error)
    throw copyFailed('in', fault.message, { cause: fault });
  throw programFailed('in', code, said);
}
