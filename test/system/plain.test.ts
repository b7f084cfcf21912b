import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { readPlain } from '../../src/system/files.ts';
import { needs } from '../support/needs.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpucloud-plain-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(content: Uint8Array | string): string {
  const path = join(folder, 'file');
  writeFileSync(path, content);
  return path;
}

describe('readPlain', () => {
  test.each([0, 1, 8192, 8193, 300_000])('reads all %i bytes of a file', (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, at) => at % 251);
    expect(readPlain(file(bytes))).toEqual(Buffer.from(bytes));
  });

  it('returns undefined for a file over the size limit', () => {
    expect(readPlain(file('12345'), 5)?.toString()).toBe('12345');
    expect(readPlain(file('123456'), 5)).toBeUndefined();
  });

  it('reads a file to its end if it reports no size', needs('Linux'), () => {
    const path = '/proc/self/cmdline';
    expect(readPlain(path)).toEqual(readFileSync(path));
    expect(readPlain(path)?.length).toBeGreaterThan(0);
  });

  it('throws for a missing file', () => {
    expect(() => readPlain(join(folder, 'missing'))).toThrow('ENOENT');
  });
});

describe('readPlain with another kind of file', () => {
  it('returns undefined for a folder', () => {
    expect(readPlain(folder)).toBeUndefined();
  });

  it('returns undefined immediately for a pipe without a writer', needs('POSIX'), () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(readPlain(pipe)).toBeUndefined();
  });
});
