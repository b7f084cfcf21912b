import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyOut } from '../../src/run-job/copy/copy-out.ts';
import { WORK } from '../../src/run-job/remote/supervisor.ts';
import { localShell } from './local-shell.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-fetch-'));
  await mkdir(join(home, WORK), { recursive: true });
});
afterEach(() => rm(home, { recursive: true, force: true }));

test('reports the size of a fetched file with its progress', async () => {
  await writeFile(join(home, WORK, 'model.bin'), Buffer.alloc(300_000, 'x'));
  const seen: [number, number | undefined][] = [];
  const local = join(home, 'here.bin');
  await copyOut(
    { remote: 'model.bin', local },
    {
      shell: localShell(home, ['sh']),
      hasRsync: false,
      signal: new AbortController().signal,
      startPiped: () => Promise.reject(new Error('a file needs no program')),
      onChanged: () => undefined,
      onProgress: (bytes, total) => seen.push([bytes, total]),
    },
  );
  expect(seen.at(-1)).toEqual([300_000, 300_000]);
  expect((await readFile(local)).length).toBe(300_000);
});
