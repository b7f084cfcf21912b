import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { faultOf } from '../../system/error-code.ts';
import { linesFrom } from '../files/changed.ts';
import { copyFailed, unwritable } from '../files/copy-failed.ts';
import type { Fetch } from '../files/copy-out.ts';
import { placeOf } from '../files/local-file.ts';
import { contains } from '../files/merge.ts';
import { isPattern } from '../files/pattern.ts';
import { HASH_MATCHES, HASH_PATH, HASHES } from '../files/send-scripts.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';

/** A file that has the same bytes on both sides. */
export interface Same {
  readonly local: string;
  readonly size: number;
  readonly sha256: string;
}

export interface Compared {
  readonly same: readonly Same[];
  /** Names of files that differ, or are not on this computer. */
  readonly different: readonly string[];
  /** Why not every file was compared, to complete "…: "; undefined if each was. */
  readonly gap: string | undefined;
  /** Whether the path no longer exists on the instance. */
  readonly isGone: boolean;
}

const NO_PROGRAM = 'the instance has neither sha256sum nor shasum';
const LINE_FEED = 'names with a line feed are not compared';
const UNREAD = 'some files could not be read on the instance';

/** Maximum bytes of all names and hashes, since a hostile instance may send any number. */
const [MOST_TEXT, PER_FILE] = [200_000_000, 100];

/** Compares the files at a path of the instance with their copies on this computer, by SHA-256. */
export async function compare(
  { remote, local }: Fetch,
  to: { readonly shell: RemoteShell; readonly signal: AbortSignal },
): Promise<Compared> {
  const path = remote.startsWith('/') ? remote : `./${remote}`;
  const script = isPattern(remote) ? HASH_MATCHES : HASH_PATH;
  const there = new Map<string, string>();
  let [isWhole, isFile, isGone] = [false, false, false];
  let gap: string | undefined;
  let text = 0;
  for await (const line of linesFrom({ script, args: [path], begin: HASHES.begin }, to)) {
    if (line === 'none') return { same: [], different: [], gap: NO_PROGRAM, isGone };
    if (line === 'unlisted') gap = LINE_FEED;
    // Such a file is not in the list, so everything must be sent to find out which.
    if (line === 'unread') gap = UNREAD;
    isWhole ||= line === HASHES.end;
    isFile ||= line === 'file';
    isGone ||= line === HASHES.gone;
    // sha256sum marks a name in which it escapes a backslash or carriage return.
    const [, mark, hash = '', name] = /^(\\?)([0-9a-f]{64}) [ *]\.\/(.+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    there.set(mark === '\\' ? name.replace(/\\([\\r])/g, unescaped) : name, hash);
    text += name.length + PER_FILE;
    if (text > MOST_TEXT) throw copyFailed('out', `${remote} has too many files`);
  }
  if (!isWhole) {
    throw copyFailed('out', `the comparison of ${remote} was cut`, { retryable: true });
  }
  const same: Same[] = [];
  const different: string[] = [];
  const place = isFile ? (await placeOf(local, basename(remote))).path : undefined;
  for (const [name, hash] of there) {
    to.signal.throwIfAborted();
    const file = place ?? join(local, name);
    const found = place || contains(local, file) ? await hashed(file) : undefined;
    if (found?.sha256 === hash) same.push({ local: file, ...found });
    else different.push(name);
  }
  return { same, different, gap, isGone };
}

function unescaped(_escape: string, letter: string): string {
  return letter === 'r' ? '\r' : letter;
}

/** Returns undefined for anything except a regular file. */
async function hashed(path: string): Promise<{ size: number; sha256: string } | undefined> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return undefined;
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
    return { size: found.size, sha256: hash.digest('hex') };
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(faultOf(error))) return undefined;
    throw unwritable(path, error);
  }
}
