import { chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openResumeFile } from '../../src/watch/resume.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { needs } from '../support/needs.ts';

const cursor = { horizon: null, known: [['e1', 5]] as const };

describe('the file of --resume', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    file = join(folder, 'events.json');
  });

  test('stores a --resume position per instance with mode 0600', async () => {
    const resume = await openResumeFile(file);
    expect(resume.of('a')).toBeUndefined();
    await resume.save(new Map([['a', cursor]]));
    const other = await openResumeFile(file);
    await other.save(new Map([['b', { horizon: 7, known: [] }]]));
    const again = await openResumeFile(file);
    expect(again.of('a')).toEqual(cursor);
    expect(again.of('b')).toEqual({ horizon: 7, known: [] });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('accepts an empty --resume file, as mktemp creates it', async () => {
    await writeFile(file, '');
    expect((await openResumeFile(file)).of('a')).toBeUndefined();
  });

  test('saves the --resume file through a symlink', async () => {
    await symlink(file, join(folder, 'link'));
    await writeFile(file, '');
    await (await openResumeFile(join(folder, 'link'))).save(new Map([['a', cursor]]));
    expect((await openResumeFile(file)).of('a')).toEqual(cursor);
  });

  test('names the fault of a --resume file that can not be read', async () => {
    await mkdir(join(folder, 'sub'));
    await symlink(join(folder, 'sub'), file);
    await rm(join(folder, 'sub'), { recursive: true });
    await writeFile(join(folder, 'sub'), '');
    await expect(openResumeFile(join(file, 'x'))).rejects.toMatchObject({
      failure: 'storage',
      message: `--resume "${join(file, 'x')}": can't read the file (ENOTDIR).`,
    });
  });

  const whole = JSON.stringify({
    kind: 'gpucloud-follow',
    version: 1,
    instances: { a: { horizon: null, known: [['e1', 5]] } },
  });

  test.each([
    ['truncated', whole.slice(0, -7)],
    ['another JSON object', '{"name": "my-package"}'],
    ['null', 'null'],
    ['a list', '[]'],
    ['of a later version', whole.replace('"version":1', '"version":2')],
    ['valid except for a text as a time', whole.replace(',5]', ',"5"]')],
    ['binary', '\u0000\ufffd\u0001'],
  ])('throws a storage error and keeps the --resume file if it is %s', async (_name, text) => {
    await writeFile(file, text);
    const link = join(folder, 'link');
    await symlink(file, link);
    await expect(openResumeFile(link)).rejects.toMatchObject({
      failure: 'storage',
      message: `--resume "${link}": the file is damaged, or --resume did not write it. The file is unchanged.`,
      hint: 'use another file, or move this file away to start again',
    });
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('throws a storage error if the --resume file is a folder or in a missing folder', async () => {
    await mkdir(join(folder, 'sub'));
    const none = join(folder, 'none', 'events.json');
    await expect(openResumeFile(none)).rejects.toMatchObject({
      failure: 'storage',
      message: `--resume "${none}": could not save your position (ENOENT).`,
      hint: 'use a file in a writable folder',
    });
    for (const path of [join(folder, 'sub'), '/dev/null'])
      await expect(openResumeFile(path)).rejects.toMatchObject({ failure: 'storage' });
  });

  test("warns about repeated events if the --resume file can't be written", async () => {
    await writeFile(file, '');
    const link = join(folder, 'link');
    await symlink(file, link);
    const resume = await openResumeFile(link);
    await rm(folder, { recursive: true });
    await expect(resume.save(new Map([['a', cursor]]))).rejects.toMatchObject({
      failure: 'storage',
      message: `--resume "${link}": could not save your position (ENOENT).`,
      hint: 'the next run repeats events since the last save',
    });
  });

  // Root can write to any folder.
  test(
    'throws a storage error if the --resume file is in a read-only folder',
    needs('an ordinary user'),
    async () => {
      await chmod(folder, 0o500);
      await expect(openResumeFile(file)).rejects.toMatchObject({ failure: 'storage' });
      await chmod(folder, 0o700);
    },
  );
});
