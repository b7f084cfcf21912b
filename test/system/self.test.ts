import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { selfOf } from '../../src/system/self.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'gpucloud-self-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('starts the npm package with Node and the target of its symlink', () => {
  const script = join(folder, 'gpucloud.js');
  writeFileSync(script, '');
  symlinkSync(script, join(folder, 'gpucloud'));
  expect(selfOf('/usr/bin/node', join(folder, 'gpucloud'))).toEqual({
    form: 'package',
    file: '/usr/bin/node',
    args: [script],
  });
});

test.each(['/$bunfs/root/gpucloud', 'B:\\~BUN\\root\\gpucloud.exe', 'B:/~BUN/root/gpucloud.exe'])(
  'starts the executable without its virtual script %s',
  (script) => {
    expect(selfOf('/usr/bin/gpucloud', script)).toEqual({
      form: 'executable',
      file: '/usr/bin/gpucloud',
      args: [],
    });
  },
);

test('starts the npm package with Bun', () => {
  const script = join(folder, 'gpucloud.js');
  writeFileSync(script, '');
  expect(selfOf('/usr/bin/bun', script)).toMatchObject({ form: 'package', args: [script] });
});
