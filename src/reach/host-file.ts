import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { errorCode } from '../files/error-code.ts';
import { readPlain } from '../files/plain.ts';
import { privateFolder } from '../files/private-folder.ts';
import { replaceFile } from '../files/replace.ts';
import { configWord } from './argv.ts';
import { includeLine } from './include.ts';
import type { Way } from './way.ts';

/** A machine as `ssh` finds it by a name of ours. */
export interface HostEntry {
  /** What can be typed after `ssh`: by the machine's name where it has one of its own, by its id. */
  readonly hosts: readonly string[];
  readonly way: Way;
}

/** Whose machines they are: each account has a part of the file of its own. */
export interface Owner {
  readonly service: string;
  readonly account: string | null;
}

/** What is known of a machine now. */
export interface Seen {
  readonly id: string;
  readonly name: string;
  /** undefined for one that can't be entered; `unread` leaves what the file has of it. */
  readonly way: Way | 'unread' | undefined;
}

/** The files of ours that ssh reads. */
export interface SshFiles {
  readonly knownHosts: string;
  readonly hosts: string;
}

export function sshFiles(stateFolder: string): SshFiles {
  return {
    knownHosts: join(stateFolder, 'ssh', 'known_hosts'),
    hosts: join(stateFolder, 'ssh', 'config'),
  };
}

/** The names that machines get: that of two machines of one name is the id alone. */
export function hostEntries(seen: readonly Seen[]): HostEntry[] {
  const times = new Map<string, number>();
  for (const { name } of seen) {
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  return seen.flatMap(({ name, way }) => {
    if (way === undefined || way === 'unread') return [];
    const own = isHostName(name) && times.get(name) === 1 ? [`gpucloud-${name}`] : [];
    return [{ way, hosts: [...own, `gpucloud-${way.id}`] }];
  });
}

/** A pattern of ssh's configuration has marks of its own, so that of a name only these are let by. */
function isHostName(name: string): boolean {
  return /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9])?$/.test(name);
}

/** The lines of ssh's configuration for one machine. */
export function hostBlock({ hosts, way }: HostEntry, knownHosts: string): string {
  return [
    `Host ${hosts.join(' ')}`,
    `  HostName ${way.host}`,
    `  Port ${way.port}`,
    `  User ${way.user}`,
    `  HostKeyAlias ${way.id}`,
    `  UserKnownHostsFile ${configWord(knownHosts)}`,
    '  StrictHostKeyChecking accept-new',
    '  CheckHostIP no',
    '',
  ].join('\n');
}

/** Whether the file is there, so that it is to be kept in step. */
export function isInstalled({ hosts }: SshFiles): boolean {
  return existsSync(hosts);
}

/**
 * Writes an account's part of the file anew. `seen` is all of its machines, or with `others: 'stay'`
 * those of them that are looked at. The parts of other accounts stay. Throws CliError('storage').
 */
export async function writeHosts(
  files: SshFiles,
  owner: Owner,
  seen: readonly Seen[],
  others: 'stay' | 'go' = 'go',
): Promise<void> {
  try {
    await privateFolder(dirname(files.hosts));
    // Most commands read machines, and few people have the file.
    const { withLock } = await import('../files/lock.ts');
    const [own, unknown] = await Promise.all([keyOf(owner), keyOf({ ...owner, account: null })]);
    await withLock(files.hosts, async () => {
      const before = textOf(files.hosts);
      const parts = partsOf(before);
      const known = blocksOf(parts.get(own) ?? '');
      // What was written before the account was known was written for it.
      if (own !== unknown) parts.delete(unknown);
      const all = others === 'stay' ? [...seen, ...unseen(known, seen)] : seen;
      const entries = new Map(hostEntries(all).map((entry) => [entry.way.id, entry]));
      const blocks = all.flatMap(({ id, way }) => {
        const entry = entries.get(id);
        const block = entry === undefined ? undefined : hostBlock(entry, files.knownHosts);
        return (way === 'unread' ? known.get(id) : block) ?? [];
      });
      parts.set(own, blocks.join('\n'));
      const after = fileText(parts, files.hosts);
      if (after !== before) await replaceFile(files.hosts, after);
    });
  } catch (error) {
    throw storageError(`ssh's file of machines could not be written to ${files.hosts}`, error);
  }
}

/** The machines of the file that nobody looked at. */
function unseen(known: ReadonlyMap<string, string>, seen: readonly Seen[]): Seen[] {
  const ids = new Set(seen.map(({ id }) => id));
  return [...known].flatMap(([id, block]) => {
    const name = /^Host gpucloud-(\S+) gpucloud-/.exec(block)?.[1] ?? id;
    return ids.has(id) ? [] : [{ id, name, way: 'unread' as const }];
  });
}

/** Takes the file away, and with it every name that ssh knew by it. Host keys stay. */
export function removeHosts(files: SshFiles): void {
  try {
    rmSync(files.hosts, { force: true });
  } catch (error) {
    throw storageError(`${files.hosts} could not be removed`, error);
  }
}

export function storageError(what: string, error: unknown): CliError {
  if (error instanceof CliError) return error;
  const reason = errorCode(error) ?? String(error);
  return new CliError('storage', `${what} (${reason}).`, { cause: error });
}

/** An account in the file: enough to tell accounts apart, and nothing that names a person. */
async function keyOf({ service, account }: Owner): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256')
    .update(JSON.stringify([service, account]))
    .digest('hex')
    .slice(0, 16);
}

const PART = /^# account ([0-9a-f]{16})$/m;

function partsOf(text: string): Map<string, string> {
  // What stands before the first mark, then marks and what follows each.
  const [, ...pieces] = text.split(PART);
  const parts = new Map<string, string>();
  for (let at = 0; at + 1 < pieces.length; at += 2) {
    parts.set(pieces[at] ?? '', (pieces[at + 1] ?? '').trim());
  }
  return parts;
}

/** The blocks of a part by the ids of their machines. */
function blocksOf(part: string): Map<string, string> {
  const blocks = part.split(/^(?=Host )/m).map((block) => `${block.trim()}\n`);
  return new Map(
    blocks.flatMap((block) => {
      const id = /^ {2}HostKeyAlias (\S+)$/m.exec(block)?.[1];
      return id === undefined ? [] : [[id, block] as const];
    }),
  );
}

function fileText(parts: ReadonlyMap<string, string>, path: string): string {
  const head = [
    '# gpucloud writes this file, and changes to it are lost. ssh reads it where ~/.ssh/config has',
    `#   ${includeLine(path)}`,
    '# To take it out: gpucloud instances ssh-config --uninstall',
    '',
  ].join('\n');
  const marked = [...parts].map(([key, text]) => `\n# account ${key}\n\n${text.trim()}\n`);
  return head + marked.join('');
}

function textOf(path: string): string {
  try {
    const bytes = readPlain(path);
    if (bytes === undefined) throw new Error('it is not a plain file');
    return bytes.toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
