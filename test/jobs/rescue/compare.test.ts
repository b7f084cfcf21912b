import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compare } from '../../../src/jobs/rescue/compare.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-compare-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HASH = 'a'.repeat(64);

/** Compares with an instance that sends these lines. */
function compareWith(lines: Iterable<string>) {
  function* bytes() {
    for (const line of lines) yield Buffer.from(line);
  }
  const stdout = Readable.from(bytes());
  const running = { stdin: new PassThrough(), stdout, stderr: Readable.from([]), ended: 0, kill };
  function kill() {
    stdout.destroy();
  }
  const shell = { start: async () => running } as unknown as Parameters<typeof compare>[1]['shell'];
  const { signal } = new AbortController();
  return compare({ remote: 'out', local: join(folder, 'out') }, { shell, signal });
}

test('rejects names that would fill the memory', async () => {
  function* endless() {
    yield 'gpucloud-run hashes\n';
    const name = 'x'.repeat(9_000);
    for (let at = 0; at < 15_000; at += 1) yield `${HASH}  ./${at}${name}\n`;
    yield 'gpucloud-run hashed\n';
  }
  await expect(compareWith(endless())).rejects.toThrow('out has too many files');
});

test('reads no file outside of the folder', async () => {
  await writeFile(join(folder, 'secret'), '');
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const lines = ['gpucloud-run hashes\n', `${empty}  ./../secret\n`, 'gpucloud-run hashed\n'];
  expect(await compareWith(lines)).toMatchObject({ same: [], different: ['../secret'] });
});
