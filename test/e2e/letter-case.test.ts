import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unpack } from '../../src/jobs/files/unpack.ts';
import { rawTar } from '../jobs/raw-tar.ts';
import { needs, programAt } from '../support/needs.ts';
import { type Computer, createComputer } from '../support/program.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok, startService } from '../support/service.ts';

const run = promisify(execFile);

// Uses NTFS, which ignores case like the file systems of macOS and Windows.
const NAMES = ['box', 'Box', 'BOX'];

describe('a case-insensitive folder', needs('root', 'lowntfs-3g', 'mkntfs', '/dev/fuse'), () => {
  let folder: string;
  let disk: string;
  let computer: Computer;
  beforeAll(async () => {
    computer = await createComputer();
    folder = await mkdtemp(join(tmpdir(), 'gpucloud-case-'));
    disk = join(folder, 'disk');
    const image = join(folder, 'image');
    await mkdir(disk);
    await writeFile(image, '');
    await truncate(image, 16 * 2 ** 20);
    await run(programAt('mkntfs') ?? '', ['--quick', '--force', '--quiet', image]);
    await run('lowntfs-3g', ['-o', 'ignore_case,permissions', image, disk]);
    await writeFile(join(disk, 'probe'), '');
    await expect(writeFile(join(disk, 'PROBE'), '', { flag: 'wx' })).rejects.toThrow('EEXIST');
  });
  afterAll(async () => {
    await run('umount', [disk]);
    await rm(folder, { recursive: true });
    await computer.remove();
  });

  const withState = (state: string, more: Record<string, string>) => (argv: readonly string[]) =>
    computer.gpucloud(argv, { env: { GPUCLOUD_STATE_DIR: join(disk, state), ...more } });

  test('stores instances separately if their names differ only in case', async () => {
    const gpucloud = withState('sandbox', { GPUCLOUD_PROFILE: 'sandbox' });
    const ids: string[] = [];
    for (const name of NAMES) {
      const made = await gpucloud(['instances', 'create', name, ...HARDWARE, '-q', '--yes']);
      expect(made.code).toBe(0);
      ids.push(made.stdout.trim());
    }
    expect((await gpucloud(['instances', 'terminate', 'Box', '-y'])).code).toBe(2);
    expect((await gpucloud(['instances', 'terminate', ids[1] ?? '', '-y'])).code).toBe(0);
    const { stdout } = await gpucloud(['instances', 'list', '--all', '--json']);
    const rows: { id: string; name: string; status: string }[] = JSON.parse(stdout);
    expect(new Set(rows.map(({ id, name }) => `${name} ${id}`))).toEqual(
      new Set(NAMES.map((name, at) => `${name} ${ids[at]}`)),
    );
    const ended = rows.filter(({ status }) => /^TERMINAT/.test(status));
    expect(ended.map(({ name }) => name)).toEqual(['Box']);
  });

  test('stores unresolved requests separately if their names differ only in case', async () => {
    const service = await startService(({ method, path }) => {
      if (method === 'POST') return 'hangUp';
      return ok(path === '/users/me' ? { id: 'account-1' } : []);
    });
    try {
      const gpucloud = withState('unknown', {
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
        GPUCLOUD_BASE_URL: service.url,
      });
      for (const name of NAMES) {
        const argv = ['instances', 'create', name, ...HARDWARE, '--yes'];
        expect((await gpucloud(argv)).code).toBe(7);
      }
      const { stdout } = await gpucloud(['instances', 'list', '--json']);
      const rows: { name: string; status: string }[] = JSON.parse(stdout);
      expect(rows.map(({ name, status }) => `${name} ${status}`).sort()).toEqual(
        NAMES.map((name) => `${name} UNKNOWN`).sort(),
      );
    } finally {
      await service.close();
    }
  });

  test('skips a fetched file whose name differs only in case', async () => {
    const into = join(disk, 'results');
    await mkdir(into);
    const skipped: string[] = [];
    const entries = ['model', 'MODEL'].map((name) => ({ name, content: name }));
    const unpacking = {
      folder: into,
      links: [],
      hasFiles: false,
      onSkipped: (path: string) => skipped.push(path),
      onFailed: (path: string) => expect.unreachable(path),
    };
    async function* archive() {
      yield rawTar(entries);
    }
    await unpack(archive(), unpacking);
    expect(skipped).toEqual(['MODEL']);
    expect(await readdir(into)).toEqual(['model']);
  });
});
