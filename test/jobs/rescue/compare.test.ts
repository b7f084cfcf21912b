import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../../src/context.ts';
import { compare } from '../../../src/jobs/rescue/compare.ts';
import { saveHashes } from '../../../src/jobs/rescue/hashes.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-compare-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HASH = 'a'.repeat(64);
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Compares with an instance that sends these lines, and calls `onEnd` while the first file is read. */
function compareWith(
  lines: Iterable<string>,
  onEnd = () => {},
  { signal } = new AbortController(),
) {
  function* bytes() {
    for (const line of lines) yield Buffer.from(line);
  }
  const stdout = Readable.from(bytes());
  const running = {
    ...{ stdin: new PassThrough(), stdout, stderr: Readable.from([]) },
    kill: () => stdout.destroy(),
    get ended() {
      setImmediate(onEnd);
      return 0;
    },
  };
  const shell = { start: async () => running } as unknown as Parameters<typeof compare>[1]['shell'];
  return compare({ remote: 'out', local: join(folder, 'out') }, { shell, signal });
}

test('reads no other file after an interrupt', async () => {
  const files = [`${EMPTY}  ./a\n`, `${EMPTY}  ./b\n`];
  const lines = ['gpucloud-run hashes\n', ...files, 'gpucloud-run hashed\n'];
  const interrupts = new AbortController();
  const interrupted = compareWith(lines, () => interrupts.abort('Interrupted.'), interrupts);
  await expect(interrupted).rejects.toBe('Interrupted.');
});

test('rejects names that would fill the memory', async () => {
  function* endless() {
    yield 'gpucloud-run hashes\n';
    const name = 'x'.repeat(9_000);
    // The names alone are short enough.
    for (let at = 0; at < 22_100; at += 1) yield `${HASH}  ./${at}${name}\n`;
    yield 'gpucloud-run hashed\n';
  }
  await expect(compareWith(endless())).rejects.toThrow('out has too many files');
});

test('reads no file outside of the folder', async () => {
  await writeFile(join(folder, 'secret'), '');
  const lines = ['gpucloud-run hashes\n', `${EMPTY}  ./../secret\n`, 'gpucloud-run hashed\n'];
  expect(await compareWith(lines)).toMatchObject({ same: [], different: ['../secret'] });
});

test('names what is the same, what differs, and why not all was compared', async () => {
  await mkdir(join(folder, 'out'));
  for (const name of ['same', 'other', 'odd\\ \r']) await writeFile(join(folder, 'out', name), '');
  const lines = [
    `${HASH}  ./before\n`,
    'gpucloud-run hashes\n',
    // The longest line, and two that only resemble one of a file.
    'x'.repeat(10_000),
    '\n',
    `x${HASH}  ./odd\n`,
    `${HASH}  ./odd\rname\n`,
    `${EMPTY}  ./same\n`,
    `${HASH} *./other\n`,
    `${EMPTY}  ./missing\n`,
    `\\${EMPTY}  ./odd\\\\ \\r\n`,
  ];
  const end = 'gpucloud-run hashed\n';
  const file = (name: string) => ({ local: join(folder, 'out', name), size: 0, sha256: EMPTY });
  const found = {
    same: [file('same'), file('odd\\ \r')],
    different: ['other', 'missing'],
    isGone: false,
  };
  expect(await compareWith([...lines, end])).toEqual({ ...found, gap: undefined });
  expect(await compareWith([...lines, 'unlisted\n', end])).toEqual({
    ...found,
    gap: 'names with a line feed are not compared',
  });
  expect(await compareWith([...lines, 'none\n'])).toEqual({
    same: [],
    different: [],
    isGone: false,
    gap: 'the instance has neither sha256sum nor shasum',
  });
  await expect(compareWith(lines)).rejects.toThrow('the comparison of out was cut');
  await mkdir(join(folder, 'out', 'folder'));
  const odd = [`${EMPTY}  ./folder\n`, `${EMPTY}  ./same/below\n`];
  expect(await compareWith(['gpucloud-run hashes\n', ...odd, end])).toMatchObject({
    different: ['folder', 'same/below'],
  });
  const endless = compareWith(['gpucloud-run hashes\n', 'x'.repeat(10_001)]);
  await expect(endless).rejects.toThrow('the instance sent too long a name');
  const long = ['gpucloud-run hashes\n', `${EMPTY}  ./${'n'.repeat(300)}\n`, end];
  await expect(compareWith(long)).rejects.toThrow("n can't be written (ENAMETOOLONG)");
});

test('stores hashes as sha256sum reads them, or warns', async () => {
  const warnings: string[] = [];
  const context = {
    folders: async () => ({ state: folder }),
    err: { warn: (code: string, text: string) => warnings.push(`${code}: ${text}`) },
  } as unknown as Context;
  const same = ['/a b', '/\\ \r\n'].map((local) => ({ local, size: 0, sha256: HASH }));
  await saveHashes('id', same, context);
  const text = await readFile(join(folder, 'rescues', 'id.sha256'), 'utf8');
  expect(text).toBe(`${HASH}  /a b\n\\${HASH}  /\\\\ \\r\\n\n`);
  await rm(join(folder, 'rescues'), { recursive: true });
  await writeFile(join(folder, 'rescues'), '');
  await saveHashes('id', same, context);
  expect(warnings).toEqual([
    `local_storage: Could not store the hashes of the copied files (${join(folder, 'rescues')} is not a folder).`,
  ]);
});
