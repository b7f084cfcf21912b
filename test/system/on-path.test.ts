import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onPath } from '../../src/system/programs.ts';

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpucloud-on-path-'));
  for (const name of ['first', 'second', 'second/tar.exe']) mkdirSync(at(name));
  for (const name of ['first/ssh.exe', 'second/ssh.exe', 'second/op.com', 'second/vault.bat']) {
    writeFileSync(at(...name.split('/')), '');
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const MISSING = join('C:\\Windows\\System32', 'tar.exe');

test.each<[string, string, () => string]>([
  ['the file in the first matching folder', 'ssh', () => at('first', 'ssh.exe')],
  ['a file with another extension', 'op', () => at('second', 'op.com')],
  ['a file with its own extension', 'vault.bat', () => at('second', 'vault.bat')],
  ['the System32 path instead of a folder', 'tar', () => MISSING],
  ['a path unchanged', '.\\tar.exe', () => '.\\tar.exe'],
])('finds %s on the PATH of Windows', (_what, file, expected) => {
  const env = {
    MYPATH: 'no',
    PATHEXT: 'no',
    Path: `${at('none')};"${at('first')}";${at('second')}`,
  };
  expect(onPath(file, env, 'win32')).toBe(expected());
});

test.each(['', '.', 'first;.\\second', undefined])('skips relative folders in PATH %j', (path) => {
  // The tests' current folder has a package.json.
  expect(onPath('package.json', { PATH: path }, 'win32')).toBe(
    join('C:\\Windows\\System32', 'package.json.exe'),
  );
});

test('returns the program name unchanged on Linux', () => {
  expect(onPath('ssh', { PATH: at('first') }, 'linux')).toBe('ssh');
});
