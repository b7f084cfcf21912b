import { mkdir, mkdtemp, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { copyOut, type Unplaced } from '../../src/jobs/files/copy-out.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { removeFolder } from '../support/afterwards.ts';
import { localShell } from './local-shell.ts';
import { type RawEntry, rawTar } from './raw-tar.ts';

export let base: string;
/** The folder for results on this computer, and a folder that an attack targets. */
export let local: string;
export let victim: string;

/** The warnings about missing or partial results in the current test. */
export let lacks: string[];
/** Whether all was received of what could not be moved, in the current test. */
export let unplaced: boolean[];

export function inFetchWorld(): void {
  beforeEach(async () => {
    [lacks, unplaced] = [[], []];
    base = await mkdtemp(join(tmpdir(), 'gpucloud-hostile-'));
    [local, victim] = [join(base, 'here', 'out'), join(base, 'victim')];
    for (const path of [join(base, WORK, 'results'), join(base, 'bin'), local, victim]) {
      await mkdir(path, { recursive: true });
    }
  });
  afterEach(() => removeFolder(base));
}

/** Fetches once from an instance whose tar sends this archive. */
export async function fetchFrom(archive: Buffer, ending = '', remote = 'results') {
  const script = `#!/bin/sh\ncat "$HOME/archive"\n${ending}\n`;
  await writeFile(join(base, 'archive'), archive);
  await writeFile(join(base, 'bin', 'tar'), script, { mode: 0o755 });
  return fetchFile(remote, local);
}

/** The process that copies. One other process lives. */
export const COPIER = { pid: 7, isAlive: (pid: number) => pid === 8 };

/** Returns the options of a copy. No file may change during it. */
export function copying(
  home: string,
  signal = new AbortController().signal,
  sh: readonly string[] = ['sh'],
  onSkipped: (named: readonly string[]) => void = () => undefined,
) {
  return {
    shell: localShell(base, sh, join(base, 'bin')),
    signal,
    home,
    copier: COPIER,
    onChanged: (what: string) => expect(what).toBe('nothing'),
    onSkipped,
    onLack: (what: string) => void lacks.push(what),
    onProgress: () => undefined,
  };
}

export async function fetchFile(
  remote: string,
  to: string,
  home = base,
  signal?: AbortSignal,
  sh?: readonly string[],
) {
  const skipped: string[] = [];
  const onSkipped = (named: readonly string[]) => void skipped.push(...named);
  const onUnplaced = ({ isWhole }: Unplaced) => void unplaced.push(isWhole);
  await copyOut({ remote, local: to }, { ...copying(home, signal, sh, onSkipped), onUnplaced });
  return { skipped };
}

/** Fetches from an archive of these entries. */
export const fetchEntries = (...entries: readonly RawEntry[]) => fetchFrom(rawTar(entries));

export async function faultOf(fetching: Promise<unknown>): Promise<CliError> {
  const fault = await fetching.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(fault instanceof CliError)) throw new Error(`not a CliError: ${String(fault)}`);
  return fault;
}

/** Returns every path below a folder with its content. */
export async function treeOf(folder: string): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const one of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, one.name);
    if (one.isDirectory()) {
      tree[`${one.name}/`] = '';
      for (const [name, content] of Object.entries(await treeOf(path))) {
        tree[`${one.name}/${name}`] = content;
      }
    } else if (one.isSymbolicLink()) tree[one.name] = `-> ${await readlink(path)}`;
    else tree[one.name] = one.isFile() ? await readFile(path, 'utf8') : 'special';
  }
  return tree;
}

/** Builds a symlink entry of an archive. */
export const link = (name: string, linkname: string): RawEntry => ({ name, type: '2', linkname });
