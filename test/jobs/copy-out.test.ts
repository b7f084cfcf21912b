import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyOut } from '../../src/jobs/files/copy-out.ts';
import { WORK } from '../../src/jobs/remote/supervisor.ts';
import { errorCode } from '../../src/system/error-code.ts';
import { needs } from '../support/needs.ts';
import { COPIER } from './fetch-world.ts';
import { localShell } from './local-shell.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-fetch-'));
  await mkdir(join(home, WORK), { recursive: true });
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Fetches a file or folder, and returns the reported progress. */
async function fetchFile(
  remote: string,
  local: string,
  shell = localShell(home, ['sh']),
  copier = COPIER,
  onProgress: () => void = () => undefined,
  onUnplaced: (left: object) => void = () => undefined,
) {
  const seen: [number, number | undefined][] = [];
  await copyOut(
    { remote, local },
    {
      shell,
      signal: new AbortController().signal,
      home: undefined,
      copier,
      onChanged: () => undefined,
      onSkipped: () => undefined,
      onLack: () => undefined,
      onUnplaced,
      onProgress(bytes, total) {
        onProgress();
        seen.push([bytes, total]);
      },
    },
  );
  return seen;
}

test.each([
  ['a file', 'all/model.bin', '', [300_000, 300_000]],
  // Depends on tar and du.
  ['a folder', 'all', 'model.bin', [expect.any(Number), expect.any(Number)]],
])('reports the fetched and total bytes of %s', async (_what, remote, file, bytes) => {
  await mkdir(join(home, WORK, 'all'));
  await writeFile(join(home, WORK, 'all/model.bin'), Buffer.alloc(300_000, 'x'));
  const local = join(home, 'here');
  const seen = await fetchFile(remote, local);
  expect(seen.at(-1)).toEqual(bytes);
  expect((await readFile(join(local, file))).length).toBe(300_000);
});

test.each([
  ['a file', 'results/model', ''],
  ['a folder', 'results', ''],
  ['a pattern', 'results/m*', '/'],
])('removes what a killed copy of %s has left, and nothing else', async (_what, remote, end) => {
  await mkdir(join(home, WORK, 'results'));
  await writeFile(join(home, WORK, 'results', 'model'), 'x');
  const folder = join(home, 'here');
  mkdirSync(folder);
  const hidden = () => readdirSync(folder).filter((name) => name.startsWith('.'));
  const fetchAs = async (pid: number) => {
    const during: string[] = [];
    const local = `${folder}${end}`;
    const look = () => void during.push(...hidden());
    await fetchFile(remote, local, localShell(home, ['sh']), { ...COPIER, pid }, look);
    return during;
  };
  const names = [];
  for (const pid of [7, 8, 9]) names.push(...new Set(await fetchAs(pid)));
  expect(names).toHaveLength(3);
  const other = '.gpucloud-elsewhere.example-9-abcdef';
  const kept = '.gpucloud-0af3c1d2-0000-4000-8000-000000000000';
  const odd = [`${names[2]}x`, `${names[2]}`.replace(/-9-(?=\w+$)/, '-x9-')];
  for (const name of [...names, other, kept, ...odd])
    mkdirSync(join(folder, name, 'part'), { recursive: true });
  await fetchAs(7);
  const left = [...names.slice(0, 2), other, kept, ...odd];
  expect(hidden().sort()).toEqual(left.sort());
});

test('keeps a whole file in whose place a folder was made meanwhile', async () => {
  await writeFile(join(home, WORK, 'model'), 'x');
  const local = join(home, 'here', 'model');
  const left: object[] = [];
  const make = () => mkdirSync(local, { recursive: true });
  const fetched = fetchFile('model', local, undefined, COPIER, make, (one) => left.push(one));
  await expect(fetched).rejects.toThrow(`${local} is a folder on this computer, but a file`);
  const [staging = ''] = readdirSync(join(home, 'here')).filter((name) => name.startsWith('.'));
  expect(left).toEqual([{ staging: join(home, 'here', staging), isWhole: true }]);
});

/** Node opens files in this many threads. */
const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4);

/** Opens the pipe repeatedly until every reader has opened it, since a reader may start late. */
async function releaseReaders(pipe: string, readers: readonly Promise<unknown>[]): Promise<void> {
  const timer = setInterval(() => {
    try {
      closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch (error) {
      // ENXIO: no reader has the pipe open yet.
      if (errorCode(error) !== 'ENXIO') throw error;
    }
  }, 2);
  await Promise.all(readers);
  clearInterval(timer);
}

test(
  'keeps every byte if the remote program exits before the local file is open',
  needs('POSIX'),
  async () => {
    await writeFile(join(home, WORK, 'small'), 'content');
    const pipe = join(home, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const shell = localShell(home, ['sh']);
    const busy: Promise<unknown>[] = [];
    const start: typeof shell.start = async (script, ...given) => {
      const running = await shell.start(script, ...given);
      if (!script.includes('exec cat')) return running;
      // Each read blocks a thread until the pipe has a writer.
      busy.push(...Array.from({ length: THREADS }, () => readFile(pipe)));
      void running.ended.then(() => releaseReaders(pipe, busy));
      return running;
    };
    const local = join(home, 'here');
    await fetchFile('small', local, { ...shell, start });
    await Promise.all(busy);
    expect(busy).toHaveLength(THREADS);
    expect(await readFile(local, 'utf8')).toBe('content');
  },
);
