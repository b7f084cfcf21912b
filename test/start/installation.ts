import { spawn } from 'node:child_process';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Outcome, outcomeOf } from '../support/program.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A copy of the built program that tests may change, with its own cache folder. */
export interface Installation {
  readonly root: string;
  readonly bundle: string;
  /** The code cache's folder, empty before the first run. */
  readonly codeFolder: string;
  readonly env: Readonly<Record<string, string>>;
  run(argv: readonly string[], how?: How): Promise<Outcome>;
  /** Returns the files of the code cache. */
  codeFiles(): Promise<string[]>;
  remove(): Promise<void>;
}

interface How {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly uid?: number;
  /** The path of a Node to use instead of this process's. */
  readonly node?: string;
}

/** The date that npm gives to every file of a package. */
export const PACKED = new Date('1985-10-26T08:15:00Z');

export async function install(): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), 'gpucloud-start-'));
  await mkdir(join(root, 'bin'));
  await mkdir(join(root, 'dist'));
  for (const file of ['package.json', 'bin/gpucloud.js', 'dist/start.cjs', 'dist/gpucloud.cjs']) {
    await copyFile(join(ROOT, file), join(root, file));
    await utimes(join(root, file), PACKED, PACKED);
  }
  const env = {
    PATH: process.env.PATH ?? '',
    GPUCLOUD_CONFIG_DIR: join(root, 'config'),
    GPUCLOUD_STATE_DIR: join(root, 'state'),
    NO_COLOR: '1',
  };
  const codeFolder = join(root, 'state', 'cache', 'code');
  return {
    root,
    bundle: join(root, 'dist', 'gpucloud.cjs'),
    codeFolder,
    env,
    run(argv, { env: more = {}, uid, node = process.execPath } = {}) {
      const given = Object.entries({ ...env, ...more }).filter(([, value]) => value !== undefined);
      const child = spawn(node, [join(root, 'bin', 'gpucloud.js'), ...argv], {
        env: Object.fromEntries(given),
        cwd: root,
        ...(uid === undefined ? {} : { uid, gid: uid }),
      });
      return outcomeOf(child);
    },
    async codeFiles() {
      const names = await readdir(codeFolder, { recursive: true }).catch(() => []);
      // Only one folder exists, for this bundle, Node version and processor.
      return names
        .filter((name) => name.includes(sep))
        .sort()
        .map((name) => join(codeFolder, name));
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** A text in the program's help, and a replacement of the same length. */
export const SOUND = 'Rent GPU instances by the hour from the terminal';
export const POISON = 'Rent GPU instances by the hour from an old cache';

/** Replaces words in the bundle, and keeps its name, length and time. */
export async function rewrite(bundle: string, from: string, to: string): Promise<void> {
  const { mtime } = await stat(bundle);
  const text = await readFile(bundle, 'latin1');
  if (!text.includes(from) || from.length !== to.length) throw new Error(`no place for "${to}"`);
  await writeFile(bundle, text.replaceAll(from, to), 'latin1');
  await utimes(bundle, mtime, mtime);
}

/**
 * Caches changed code as the program's own, so that its help shows whether it runs. Returns the
 * file.
 */
export async function poison(at: Installation, argv: readonly string[]): Promise<string> {
  await rewrite(at.bundle, SOUND, POISON);
  await at.run(argv);
  await rewrite(at.bundle, POISON, SOUND);
  const [file, ...more] = await at.codeFiles();
  if (file === undefined || more.length > 0) throw new Error('not one file of code');
  return file;
}
