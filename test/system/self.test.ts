import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { errorCode, faultOf } from '../../src/system/error-code.ts';
import { isInExecutable, keyringProgramOf, selfOf } from '../../src/system/self.ts';
import { inTemporaryFolder } from '../../src/system/temporary-folder.ts';

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
    expect(isInExecutable(`/x${script}`)).toBe(false);
    expect(selfOf('/usr/bin/gpucloud', script)).toEqual({
      form: 'executable',
      file: '/usr/bin/gpucloud',
      args: [],
    });
  },
);

test.each([
  [
    { form: 'package', args: [join('/lib', 'bin', 'gpucloud.js')] },
    [join('/lib', 'dist', 'keyring.cjs')],
  ],
  [{ form: 'executable', args: [] }, ['--ask-keyring']],
] as const)('accesses the keyring of %j with %j', (self, args) => {
  expect(keyringProgramOf({ ...self, file: '/bin/node' })).toEqual({ file: '/bin/node', args });
});

test.each([
  [Object.assign(new Error('no'), { code: 'EACCES' }), 'EACCES', 'EACCES'],
  [Object.assign(new Error('no'), { code: 7 }), '7', '7'],
  [new Error('no'), undefined, 'unknown reason'],
  [{ code: 'EACCES' }, undefined, 'unknown reason'],
])('finds the code of %s: %s', (error, code, fault) => {
  expect([errorCode(error), faultOf(error)]).toEqual([code, fault]);
});

test('names the folder in which it could make no temporary folder, and removes its own', async () => {
  const work = async (made: string) => {
    writeFileSync(join(made, 'file'), '');
    return made;
  };
  const made = await inTemporaryFolder('gpucloud-self', work);
  expect([dirname(made), existsSync(made)]).toEqual([tmpdir(), false]);
  vi.stubEnv('TMPDIR', join(folder, 'none'));
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect(inTemporaryFolder('gpucloud-self', work)).rejects.toMatchObject({
    failure: 'storage',
    message: `Could not make a temporary folder in ${join(folder, 'none')} (ENOENT).`,
    hint: 'set TMPDIR to a folder that you can write to',
  });
});

test('starts the npm package with Bun', () => {
  const script = join(folder, 'gpucloud.js');
  writeFileSync(script, '');
  expect(selfOf('/usr/bin/bun', script)).toMatchObject({ form: 'package', args: [script] });
});
