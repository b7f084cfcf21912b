import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { type Installation, install, POISON, poison, rewrite, SOUND } from './installation.ts';

const HELP = ['--help'];
const STRANGER = 12_345;

let at: Installation;
beforeEach(async () => {
  at = await install();
});
afterEach(() => at.remove());

/** Runs the unchanged program, and expects only its help. */
async function soundHelp(): Promise<void> {
  const { code, stdout, stderr } = await at.run(HELP);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(SOUND);
  expect(stdout).not.toContain(POISON);
}

async function names(): Promise<string[]> {
  return (await at.codeFiles()).map((file) => file.replace(/^.*\//, ''));
}

describe('cached code', () => {
  test('uses cached code in the next run, readable only by its owner', async () => {
    // Also demonstrates the risk: V8 runs cached code of another source with the same length.
    const file = await poison(at, HELP);
    expect((await at.run(HELP)).stdout).toContain(POISON);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700);
  });

  test('writes cached code only in the first run', async () => {
    const written = async () => {
      const [file = ''] = await at.codeFiles();
      return `${(await stat(file)).ino} ${(await stat(file)).mtimeMs}`;
    };
    await at.run(HELP);
    const first = await written();
    await at.run(HELP);
    expect(await written()).toBe(first);
  });

  test('does not cache code for a failed command, --version, CI or a Node without a cache', async () => {
    expect((await at.run(['instances', 'nonsense'])).code).toBe(2);
    expect((await at.run(['me', 'get'])).code).toBe(4);
    expect((await at.run(['--version'])).stdout).toMatch(/^gpucloud \d+\.\d+\.\d+\n$/);
    for (const env of [{ CI: 'true' }, { NODE_DISABLE_COMPILE_CACHE: '1' }]) {
      expect((await at.run(HELP, { env })).code).toBe(0);
    }
    expect(await names()).toEqual([]);
  });

  test('caches code for a session of mcp that SIGTERM ends', async () => {
    const child = spawn(process.execPath, [join(at.root, 'bin', 'gpucloud.js'), 'mcp'], {
      env: at.env,
    });
    child.stderr.once('data', () => child.kill('SIGTERM'));
    expect((await once(child, 'close'))[0]).toBe(143);
    expect(await names()).toEqual(['mcp']);
  });

  test('reads cached code in CI', async () => {
    await poison(at, HELP);
    expect((await at.run(HELP, { env: { CI: 'true' } })).stdout).toContain(POISON);
  });

  test('writes a complete cache in eight processes at the same time', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => at.run(HELP)));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ code: 0, stderr: '' });
    expect(await names()).toEqual(['gpucloud']);
    await soundHelp();
  });
});

describe('stale or foreign cached code', () => {
  test('ignores cached code after an upgrade to a bundle of the same length', async () => {
    await at.run(HELP);
    const [, hash = ''] = /^\/\/([0-9a-f]{16})\n/.exec(await readFile(at.bundle, 'latin1')) ?? [];
    // Changes one word and the hash, as a new build does.
    await rewrite(at.bundle, SOUND, POISON);
    await rewrite(at.bundle, hash, [...hash].reverse().join(''));
    expect((await at.run(HELP)).stdout).toContain(POISON);
  });

  // In its table, and in its code.
  test.each([100, 5000])('ignores cached code that is cut off after %d bytes', async (length) => {
    const file = await poison(at, HELP);
    await writeFile(file, (await readFile(file)).subarray(0, length));
    await soundHelp();
    // The run has replaced the broken file.
    expect((await stat(file)).size).toBeGreaterThan(5000);
    await soundHelp();
  });
});

describe('an unwritable cache', () => {
  test('prints the same output without a home or with a file in place of the cache', async () => {
    const nowhere = { GPUCLOUD_STATE_DIR: undefined, GPUCLOUD_CONFIG_DIR: undefined };
    for (const env of [
      { ...nowhere, HOME: '/proc/nowhere' },
      { ...nowhere, HOME: '/dev/null' },
      { GPUCLOUD_STATE_DIR: 'relative' },
    ]) {
      const { code, stdout, stderr } = await at.run(HELP, { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(SOUND);
    }
    const file = await poison(at, HELP);
    await rm(file);
    await mkdir(file);
    await soundHelp();
    expect(await names()).toEqual(['gpucloud']);
    await rm(at.codeFolder, { recursive: true });
    await writeFile(at.codeFolder, 'a file');
    await soundHelp();
    expect(await readFile(at.codeFolder, 'utf8')).toBe('a file');
  });

  // Root runs the program as another user, who can't write to the folder.
  test('prints the same output if the home folder is read-only', needs('root'), async () => {
    const home = join(at.root, 'home');
    await mkdir(home, { mode: 0o555 });
    await chmod(home, 0o555);
    await chmod(at.root, 0o755);
    // Node may be in a folder that other users can't open, such as root's home.
    const node = join(at.root, 'node');
    await copyFile(process.execPath, node);
    await chmod(node, 0o755);
    const { code, stdout, stderr } = await at.run(HELP, {
      node,
      uid: STRANGER,
      env: { GPUCLOUD_STATE_DIR: undefined, GPUCLOUD_CONFIG_DIR: undefined, HOME: home },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(SOUND);
    expect(await readdir(home)).toEqual([]);
  });

  test(
    'prints the same output on a full disk, and removes its temporary file',
    needs('the right to mount'),
    async () => {
      const disk = await mountSmallDisk('512k');
      try {
        const env = { GPUCLOUD_STATE_DIR: join(disk.path, 'state') };
        await disk.fill();
        for (const argv of [HELP, ['instances', '--help']]) {
          const { code, stderr } = await at.run(argv, { env });
          expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        }
        const files = await readdir(disk.path, { recursive: true });
        expect(files.filter((name) => name.endsWith('.new'))).toEqual([]);
      } finally {
        await disk.remove();
      }
    },
  );
});
