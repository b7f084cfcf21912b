import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CliError, usageError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import type { Piped } from '../../programs.ts';
import { afterLine } from '../remote/after-line.ts';
import { lastOf } from '../remote/remote-shell.ts';
import { WORK } from '../remote/supervisor.ts';
import { copyFailed, programFailed } from './copy-failed.ts';
import type { Copying } from './copy-in.ts';
import { rsync, rsyncPlace } from './rsync.ts';

/** One `--fetch`. */
export interface Fetch {
  /** On the instance, from the folder where the command runs, or absolute. */
  readonly remote: string;
  /** Local path. */
  readonly local: string;
}

/** `results`, `results:out`, `/var/log/job.log:`. Without LOCAL, the same name in the current folder. */
export function parseFetch(text: string): Fetch {
  const [, remote = '', local = ''] = /^(.+?)(?::(.*))?$/s.exec(text) ?? [];
  const name = basename(remote);
  if (name === '' || name === '.' || name === '..' || remote.includes('\0')) {
    throw usageError(
      `--fetch "${text}": must be REMOTE[:LOCAL], with the path of a file or folder on the instance`,
    );
  }
  return { remote: remote.replace(/\/+$/, ''), local: local === '' ? name : local };
}

const BEGIN = 'gpucloud-run sends';

const KIND = `cd ${WORK} || exit
if [ -d "$1" ]; then echo '${BEGIN} folder'; elif [ -e "$1" ]; then echo "${BEGIN} file $(stat -L -c %s "$1" 2>/dev/null)"; else echo '${BEGIN} nothing'; fi`;
const SEND_FILE = `cd ${WORK} && echo '${BEGIN}' && exec cat "$1"`;
const SEND_FOLDER = `LC_ALL=C; export LC_ALL
cd ${WORK} && cd "$1" && echo '${BEGIN}' && exec tar -cf - .`;

/** GNU tar's message, with exit code 1, about files that changed while it read them. */
const CHANGED = /: (?:file changed as we read it|File removed before we read it)$/;

/** Copies a file or a folder from the instance. Throws CliError, also if neither exists. */
export async function copyOut({ remote, local }: Fetch, copying: Copying): Promise<void> {
  // A path that begins with a hyphen must not become an option.
  const path = remote.startsWith('/') ? remote : `./${remote}`;
  const { kind, size } = await kindOf(path, copying);
  if (kind === 'nothing') throw copyFailed('out', `${remote} does not exist on the instance`);
  if (kind === 'file') {
    const onProgress = (bytes: number) => copying.onProgress(bytes, size);
    const target = await fileTarget(local, basename(remote));
    return receiveFile(path, target, { ...copying, onProgress });
  }
  await makeFolder(local);
  return receiveFolder(path, local, copying);
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

function unwritable(path: string, cause: unknown): CliError {
  return copyFailed('out', `${path} can't be written (${faultOf(cause)})`, { cause });
}

async function kindOf(path: string, { shell, signal }: Copying) {
  const running = await shell.start(KIND, [path], signal);
  running.stdin.end();
  const [printed, said, code] = await Promise.all([
    lastOf(running.stdout),
    lastOf(running.stderr),
    running.ended,
  ]);
  signal.throwIfAborted();
  const [, kind, size] = new RegExp(`^${BEGIN} (\\w+) ?(\\d*)$`, 'm').exec(printed) ?? [];
  if (kind === undefined) throw programFailed('out', code, said);
  return { kind, size: Number(size) };
}

/** Like cp: into a folder that exists or ends with a slash, otherwise under that name. */
async function fileTarget(local: string, name: string): Promise<string> {
  const isFolder =
    local.endsWith('/') ||
    (await stat(local).then(
      (found) => found.isDirectory(),
      () => false,
    ));
  const target = isFolder ? join(local, name) : local;
  await makeFolder(dirname(target));
  return target;
}

/** The file gets its final name only when complete. */
async function receiveFile(path: string, target: string, copying: Copying): Promise<void> {
  const part = `${target}.gpucloud-part`;
  try {
    await receive(SEND_FILE, path, { stream: createWriteStream(part), path: target }, copying);
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error instanceof CliError ? error : unwritable(target, error);
  }
}

async function receiveFolder(path: string, local: string, copying: Copying): Promise<void> {
  // Old versions of rsync split a remote path at spaces.
  if (copying.hasRsync && /^[\w./+-]+$/.test(path)) {
    const from = path.startsWith('/') ? path : `${WORK}/${path}`;
    const words = [
      '--recursive',
      '--no-inc-recursive',
      '--',
      `${rsyncPlace(copying.shell, from)}/`,
      `${local}/`,
    ];
    return rsync({ ...copying, way: 'out', words, input: '' });
  }
  const tar = await copying.startPiped({ file: 'tar', args: ['-xf', '-', '-C', local] });
  const said = lastOf(tar.stderr);
  tar.stdout.resume();
  let fault: unknown;
  try {
    const into = (chunks: AsyncIterable<Uint8Array>) => feed(tar, chunks);
    await receive(SEND_FOLDER, path, { stream: into, path: local }, copying);
  } catch (error) {
    fault = error;
    tar.stdin.destroy();
  }
  const code = await tar.ended;
  copying.signal.throwIfAborted();
  const isCut = fault instanceof CliError && fault.retryable;
  // The message of tar here names the file that could not be written.
  if (code !== 0 && !isCut) throw programFailed('out', code, await said);
  if (fault !== undefined) throw fault;
}

type Consumer = (chunks: AsyncIterable<Uint8Array>) => Promise<void>;

/** tar ends after the end of its archive, which may come before that of the connection. */
async function feed(tar: Piped, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (tar.stdin.writable) await new Promise((resolve) => tar.stdin.write(chunk, resolve));
    else if ((await tar.ended) !== 0) throw new Error('tar failed');
  }
  tar.stdin.end();
}

async function receive(
  script: string,
  path: string,
  into: { readonly stream: NodeJS.WritableStream | Consumer; readonly path: string },
  { shell, signal, onProgress, onChanged }: Copying,
): Promise<void> {
  const running = await shell.start(script, [path], signal);
  running.stdin.end();
  const printed = lastOf(running.stderr);
  let bytes = 0;
  async function* counted() {
    for await (const chunk of afterLine(running.stdout, BEGIN)) {
      bytes += chunk.length;
      onProgress(bytes);
      yield chunk;
    }
  }
  try {
    await pipeline(counted(), into.stream);
  } catch (error) {
    running.kill();
    throw unwritable(into.path, error);
  } finally {
    await running.ended;
  }
  signal.throwIfAborted();
  const [code, said] = [await running.ended, await printed];
  if (code === 0) return;
  const lines = said.trim().split('\n');
  if (code !== 1 || !lines.every((line) => CHANGED.test(line))) {
    throw programFailed('out', code, said);
  }
  for (const line of lines) onChanged(line);
}
