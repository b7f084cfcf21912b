import { existsSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { openSandbox } from '../../src/sandbox/index.ts';
import { endStale } from '../../src/sandbox/ssh/index.ts';
import { placeOf } from '../../src/sandbox/ssh/place.ts';
import { manualClock } from '../support/clock.ts';
import { bench, temporaryFolder } from './support.ts';

const OWNERS = [process.geteuid?.() ?? 0];
const ID = '3f0c5d9e-1111-4222-8333-444455556666';

test.each([
  ['PROVISIONING', 'ACTIVE', [true, true]],
  ['TERMINATING', 'TERMINATED', [false, false]],
  ['STOPPED', 'STOPPED', [true, false]],
])(
  "reads an instance that was %s again before it kills the instance's programs: %s",
  async (before, now, left) => {
    const file = join(await temporaryFolder(), 'sandbox.json');
    const folder = join(file.replace('.json', '-instances'), ID);
    const mark = join(folder, 'running');
    await mkdir(folder, { recursive: true });
    await writeFile(mark, '');
    await endStale(file, OWNERS, new Map([[ID, before]]), async () => new Map([[ID, now]]));
    expect([existsSync(folder), existsSync(mark)]).toEqual(left);
  },
);

test.each([
  [
    'that everyone can write to',
    (folder: string) => mkdir(folder).then(() => chmod(folder, 0o777)),
  ],
  ['that is a link', (folder: string) => symlink('/tmp', folder)],
  ['of another user', (folder: string) => mkdir(folder), [4321]],
  [
    'beside a file that everyone can write to',
    (folder: string, file: string) =>
      mkdir(folder)
        .then(() => writeFile(file, '{}'))
        .then(() => chmod(file, 0o666)),
  ],
])('deletes nothing in an instance folder %s', async (what, make, owners = OWNERS) => {
  const file = join(await temporaryFolder(), 'sandbox.json');
  const folder = file.replace('.json', '-instances');
  await make(folder, file);
  await expect(endStale(file, owners, new Map())).rejects.toMatchObject({
    failure: 'storage',
    message: `Other users could change ${what.startsWith('beside') ? file : folder}.`,
  });
});

test('deletes the folder of an unknown instance after each change, even a refused one', async () => {
  const file = join(await temporaryFolder(), 'sandbox.json');
  const sandbox = openSandbox({ file, clock: manualClock(), owners: OWNERS });
  const folder = join(file.replace('.json', '-instances'), ID);
  const others = [`x${folder}`, `${folder}x`].map((path) => path.replace(/^x(.*)\//, '$1/x'));
  for (const path of [folder, ...others]) await mkdir(path, { recursive: true });
  await sandbox.status();
  expect([folder, ...others].map(existsSync)).toEqual([false, true, true]);
  expect(placeOf('/a.json/b.json', ID).folder).toBe(`/a.json/b-instances/${ID}`);
  await mkdir(folder, { recursive: true });
  await expect(sandbox.connect(ID, {} as never)).rejects.toMatchObject({ failure: 'notFound' });
  expect(existsSync(folder)).toBe(false);
});

test('connects to an instance that runs, and deletes its folder once it is terminated', async () => {
  const { sandbox, file, call } = await bench();
  const id = await sandbox.rogue('box');
  const wire = {
    ...{ stdin: Readable.from([]), stdout: new PassThrough(), env: {}, platform: 'linux' },
    signal: new AbortController().signal,
  };
  await expect(sandbox.connect(id, wire)).rejects.toMatchObject({
    failure: 'wrongState',
    message: 'box is PROVISIONING.',
  });
  await sandbox.advance(3_000);
  await sandbox.connect(id, wire);
  const folder = join(file.replace('.json', '-instances'), id);
  expect(existsSync(folder)).toBe(true);
  await call('POST', `/instances/${id}/terminate`);
  await sandbox.advance(2_000);
  expect(existsSync(folder)).toBe(false);
  await writeFile(file, '{}');
  await expect(sandbox.connect(id, wire)).rejects.toMatchObject({ failure: 'storage' });
});
