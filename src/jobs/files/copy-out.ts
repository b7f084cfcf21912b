import { basename, dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { CliError, failuresOf, usageError } from '../../errors.ts';
import { afterLine } from '../remote/after-line.ts';
import { lastOf } from '../remote/remote-shell.ts';
import { copyFailed, notStored, programFailed } from './copy-failed.ts';
import type { Copying } from './copy-in.ts';
import { ensureRoom, lackOfRoom, type Place, placeOf, writeNew } from './local-file.ts';
import { type Copier, ensureApart, inStaging, makeLinks, moveInto } from './merge.ts';
import { ensurePlain, isPattern, matcherOf } from './pattern.ts';
import {
  BEGIN,
  KIND,
  KIND_OF_MATCHES,
  SEND_FILE,
  SEND_FOLDER,
  SEND_MATCHES,
  SEND_NAMED,
} from './send-scripts.ts';
import { makeFolder, type Unpacking, unpack } from './unpack.ts';

/** A path given with `--fetch`. */
export interface Fetch {
  /** Path on the instance: absolute, or relative to the command's working folder. */
  readonly remote: string;
  readonly local: string;
}

/**
 * Parses `results`, `results:out`, `/var/log/job.log:` or `out/*.csv:tables`. LOCAL defaults to the
 * same name in the current folder.
 */
export function parseFetch(text: string, flag = '--fetch'): Fetch {
  const [, remote = '', local = ''] = /(.+?)(?::(.*))?$/s.exec(text) ?? [];
  const name = basename(remote);
  if (name === '' || name === '.' || name === '..' || remote.includes('\0')) {
    throw usageError(
      `${flag} "${text}": must be REMOTE[:LOCAL], with the path of a file or folder on the instance`,
    );
  }
  const path = remote.replace(/\/+$/, '');
  ensurePlain(path, flag);
  if (!isPattern(path)) return { remote: path, local: local === '' ? name : local };
  // The local path of a pattern is a folder for all matches.
  return { remote: path, local: local.endsWith('/') ? local : `${local || '.'}/` };
}

/** Options of a copy from an instance, with or without a run in the foreground. */
export interface CopyingOut extends Copying {
  /** The user's home folder. No fetched folder is merged into it. */
  readonly home: string | undefined;
  /**
   * Reports skipped entries, such as devices and links that leave the folder. Names the first few.
   */
  onSkipped(named: readonly string[], count: number): void;
  /** Reports that some of the results can't be fetched. */
  onLack(what: string): void;
  /** Reports received files that could not be moved to their place. */
  onUnplaced(received: Unplaced): void;
  readonly copier: Copier;
  /** Returns the files of a folder that are not here yet, such as `a/b`. By default, all are sent. */
  missingNames?(): Promise<readonly string[] | undefined>;
}

/** Received files of a path that could not be moved to their place. */
export interface Unplaced {
  /** The folder in which they are, beside their place. */
  readonly staging: string;
  /** Whether everything was received, so that they need not be received again. */
  readonly isWhole: boolean;
}

/** Matches GNU tar's message, with exit code 1, about files that changed during the read. */
const CHANGED = /: (?:file changed as we read it|File removed before we read it)$/;

/**
 * Copies a file or a folder from the instance. Throws CliError, also if the path is missing.
 *
 * Receives everything into a private folder first. Never writes outside of `local`, whatever the
 * instance sends. Moves complete files into place even if other files fail, since the instance may
 * be terminated soon.
 */
export async function copyOut({ remote, local }: Fetch, copying: CopyingOut): Promise<void> {
  // Adds `./`, so that a path that begins with a hyphen is not an option.
  const path = remote.startsWith('/') ? remote : `./${remote}`;
  const isOfMany = isPattern(remote);
  const { kind, size } = await kindOf(isOfMany ? KIND_OF_MATCHES : KIND, path, copying);
  let total: number | undefined = size;
  const onProgress = (bytes: number) => copying.onProgress(bytes, total);
  if (kind === 'folder') {
    const names = await copying.missingNames?.();
    if (names !== undefined) total = undefined;
    const from =
      names === undefined
        ? { script: SEND_FOLDER, path, size }
        : { script: SEND_NAMED, path, size: 0, input: names.map((name) => `./${name}\n`).join('') };
    return receiveFolder(from, local, { ...copying, onProgress });
  }
  if (kind === 'matches') {
    const from = { script: SEND_MATCHES, path, size, mayBe: matcherOf(remote) };
    return receiveFolder(from, local, { ...copying, onProgress });
  }
  if (kind === 'file') {
    const place = await placeOf(local, basename(remote));
    return receiveFile(path, size, place, { ...copying, onProgress });
  }
  const { message } = copyFailed('out', `${remote} ${lackOf(kind, isOfMany)}`);
  throw new CliError('notFound', message);
}

function lackOf(kind: string, isOfMany: boolean): string {
  if (kind === 'same') return 'matches several files with the same name';
  if (kind !== 'nothing') return 'is neither a file nor a folder on the instance';
  return isOfMany ? 'matches nothing on the instance' : 'does not exist on the instance';
}

async function kindOf(script: string, path: string, { shell, signal }: CopyingOut) {
  const { stdout, stderr, code } = await shell.run(script, signal, { args: [path] });
  const [, kind, count] = new RegExp(`^${BEGIN} (\\w+) ?(\\d*)$`, 'm').exec(stdout) ?? [];
  if (kind === undefined) throw programFailed('out', code, stderr);
  // du counts kibibytes.
  return { kind, size: Number(count) * (kind === 'file' ? 1 : 1024) };
}

/** Entries of an archive that are not on this computer. */
interface Left {
  named: readonly string[];
  count: number;
}

/** Number of entries to name in a message. */
const NAMED = 5;

function add(left: Left, name: string): void {
  left.count += 1;
  left.named = [...left.named, name].slice(0, NAMED);
}

/** Names the first entries, and counts the others. */
export function leftText({ named, count }: Left): string {
  return named.join(', ') + (count > named.length ? ` and ${count - named.length} more` : '');
}

interface Folder {
  readonly script: string;
  readonly path: string;
  /** 0 if it is not known. */
  readonly size: number;
  /** What the script reads from stdin. */
  readonly input?: string;
  /** Whether the archive may contain this name. */
  readonly mayBe?: (name: string) => boolean;
}

/** What is missing of a folder after its copy. */
interface Missing {
  /** Why complete files could not be moved into place. */
  unmoved?: CliError | undefined;
  /** Why the rest of the archive did not arrive. */
  cut?: CliError | undefined;
  /** Why the first of the entries could not be written. */
  unwritten?: CliError | undefined;
  /** The other entries that could not be written. */
  readonly others: Left;
}

async function receiveFolder(
  { script, path, size, mayBe, input }: Folder,
  local: string,
  copying: CopyingOut,
): Promise<void> {
  const { signal } = copying;
  const skipped: Left = { named: [], count: 0 };
  const missing: Missing = { others: { named: [], count: 0 } };
  const into: Unpacking = {
    folder: '',
    links: [],
    hasFiles: false,
    mayBe,
    onSkipped: (name) => add(skipped, name),
    onFailed(name, fault) {
      if (missing.unwritten === undefined) missing.unwritten = fault;
      else add(missing.others, name);
    },
  };
  await makeFolder(local);
  const lack = await lackOfRoom(local, path, size);
  if (lack !== undefined) copying.onLack(`${lack}. Fetching the files that fit.`);
  const staged = inStaging(
    local,
    copying.copier,
    async (folder) => {
      const take: Take = (bytes) => unpack(bytes, Object.assign(into, { folder }));
      try {
        missing.cut = await receive({ script, path, input }, take, copying);
      } catch (error) {
        // After an interrupt, still place the files that have arrived.
        if (!signal.aborted) throw error;
      }
    },
    async (staging) => {
      await ensureApart(local, copying.home);
      const [unmoved] = await failuresOf(moveInto(local, staging));
      await makeLinks(local, into.links, into.onSkipped);
      if (unmoved !== undefined) throw unmoved;
    },
    (staging) => {
      const isWhole =
        !signal.aborted && missing.cut === undefined && missing.unwritten === undefined;
      copying.onUnplaced({ staging, isWhole });
    },
  );
  [missing.unmoved] = await failuresOf(staged);
  const fault = faultOf(missing, into, local);
  if (skipped.count > 0 && fault?.retryable !== true) {
    copying.onSkipped(skipped.named, skipped.count);
  }
  if (signal.aborted) {
    const parts = partsOf(into, local);
    if (fault !== undefined) copying.onLack(fault.message);
    else if (parts.length > 0) {
      copying.onLack([`Fetched only a part of ${path}`, ...parts].join('; '));
    }
    signal.throwIfAborted();
  }
  if (fault !== undefined) throw fault;
}

/** Returns one error for all that is missing: the most serious fault, then what else is known. */
function faultOf(
  { unmoved, cut, unwritten, others }: Missing,
  into: Unpacking,
  local: string,
): CliError | undefined {
  const [fault, ...more] = [unmoved ?? [], cut ?? [], unwritten ?? []].flat();
  if (fault === undefined) return undefined;
  const parts = [
    fault.message,
    ...more.map(({ message }) => message),
    ...(others.count > 0 ? [`also not written: ${leftText(others)}`] : []),
    ...partsOf(into, unmoved === undefined ? local : undefined),
  ];
  return fault.with(parts.join('; '), {
    retryable: unmoved === undefined && cut?.retryable === true,
  });
}

/** `local`: where the received files are. */
function partsOf({ at, hasFiles }: Unpacking, local: string | undefined): string[] {
  return [
    ...(at === undefined ? [] : [`the copy stopped in ${at}`]),
    ...(!hasFiles || local === undefined
      ? []
      : [`the ${at === undefined ? 'other files' : 'earlier files'} are in ${local}`]),
  ];
}

async function receiveFile(
  path: string,
  size: number,
  { path: to, kind }: Place,
  copying: CopyingOut,
): Promise<void> {
  if (kind !== 'file') {
    const what = kind === 'other' ? 'not a regular file' : `a ${kind}`;
    throw notStored(`${to} is ${what} on this computer, but a file on the instance`);
  }
  const folder = dirname(to);
  await makeFolder(folder);
  await inStaging(
    folder,
    copying.copier,
    async (staging) => {
      const file = join(staging, basename(to));
      await ensureRoom(folder, path, size);
      await receiveWhole(path, (bytes) => writeNew(file, bytes, { mode: 0o666 }), copying);
    },
    (staging) => moveInto(folder, staging),
    (staging) => copying.onUnplaced({ staging, isWhole: true }),
  );
}

type Take = (bytes: AsyncIterable<Uint8Array>) => Promise<void>;

async function receiveWhole(path: string, take: Take, copying: Copying): Promise<void> {
  const fault = await receive({ script: SEND_FILE, path }, take, copying);
  if (fault !== undefined) throw fault;
}

/** Returns a fault if not everything arrived. Throws CliError if this computer can't store it. */
async function receive(
  {
    script,
    path,
    input,
  }: Pick<Folder, 'script' | 'path'> & { readonly input?: string | undefined },
  take: Take,
  { shell, signal, onProgress, onChanged }: Copying,
): Promise<CliError | undefined> {
  const running = await shell.start(script, [path], signal, input);
  const printed = lastOf(running.stderr);
  // Reads at once: when a program exits, Node drops its output if nothing reads the stream yet.
  const received = running.stdout.pipe(new PassThrough());
  let bytes = 0;
  let isWhole = false;
  async function* counted() {
    for await (const chunk of afterLine(received, BEGIN)) {
      bytes += chunk.length;
      onProgress(bytes);
      yield chunk;
    }
    isWhole = true;
  }
  const taken = await take(counted()).then(
    () => ({}),
    (fault: Error) => {
      running.kill();
      running.stdout.destroy();
      return { fault };
    },
  );
  const code = await running.ended;
  signal.throwIfAborted();
  if ('fault' in taken) {
    if (taken.fault instanceof CliError) throw taken.fault;
    if (!isWhole) return broken(taken.fault);
  }
  const said = await printed;
  if (code !== 0) {
    const lines = said.trim().split('\n');
    const faults = lines.filter((line) => !CHANGED.test(line));
    if (code !== 1 || faults.length > 0) {
      return programFailed('out', code, faults.join('\n'));
    }
    for (const line of lines) onChanged(line);
  }
  return 'fault' in taken ? broken(taken.fault) : undefined;
}

function broken(cause: Error): CliError {
  const what = `the archive from the instance can't be read (${cause.message})`;
  return copyFailed('out', what, { cause });
}
