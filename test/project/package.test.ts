import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS, prepare, recipe, share } from '../contract/tree.ts';
import { needs } from '../support/needs.ts';
import { outcomeOf } from '../support/program.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Limits in bytes. A change that exceeds one must justify its size. */
const PACKED = 1_500_000;
const UNPACKED = 3_500_000;
// The sandbox's SSH server needs 270,000 of these bytes, the SDK of `mcp` 135,000, the documentation
// and the tools that `mcp` serves 70,000, and the table of other tools' words 15,000.
const BUNDLE = 2_360_000;
const START = 20_000;

interface Pack {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** A tenth of the commands that exit by themselves. The tour has its own test. */
const ANSWERING = share(
  COMMANDS.filter((command) => !/^(sandbox (serve|tour)|mcp)$/.test(command)),
  10,
);

let folder: string;
let pack: Pack;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-pack-'));
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    { cwd: ROOT },
  );
  [pack] = JSON.parse(stdout);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test('keeps the package and the bundle within their budgets', async () => {
  expect(pack.size).toBeLessThan(PACKED);
  expect(pack.unpackedSize).toBeLessThan(UNPACKED);
  expect((await stat(join(ROOT, 'dist/gpucloud.cjs'))).size).toBeLessThan(BUNDLE);
  expect((await stat(join(ROOT, 'dist/start.cjs'))).size).toBeLessThan(START);
});

test('packs only files that users run or read', () => {
  const places = new Set(pack.files.map(({ path }) => path.replace(/\/.*/, '')));
  expect([...places].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'completions',
    'dist',
    'man',
    'package.json',
    'schemas',
    'skills',
  ]);
  const built = pack.files.map(({ path }) => path).filter((path) => /^(?:bin|dist)\//.test(path));
  expect(built.sort()).toEqual([
    'bin/gpucloud.js',
    'dist/THIRD-PARTY-LICENSES.txt',
    'dist/gpucloud.cjs',
    'dist/keyring.cjs',
    'dist/start.cjs',
  ]);
});

test('keeps an executable launcher in the repository', async () => {
  expect(await readdir(join(ROOT, 'bin'))).toEqual(['gpucloud.js']);
  expect((await stat(join(ROOT, 'bin/gpucloud.js'))).mode & 0o111).toBe(0o111);
  expect((await readFile(join(ROOT, '.gitignore'), 'utf8')).split('\n')).not.toContain('bin/');
});

test('prints the version from package.json without a build', async () => {
  const clone = join(folder, 'clone');
  await cp(join(ROOT, 'bin'), join(clone, 'bin'), { recursive: true });
  await writeFile(join(clone, 'package.json'), '{"version":"8.7.6"}');
  const program = join(clone, 'bin', 'gpucloud.js');
  for (const flag of ['--version', '-V']) {
    expect((await run(process.execPath, [program, flag])).stdout).toBe('gpucloud 8.7.6\n');
  }
  await expect(run(process.execPath, [program, '--help'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("gpucloud can't start because its files are incomplete"),
  });
});

describe('gpucloud installed globally into an empty prefix', { timeout: 120_000 }, () => {
  let prefix: string;
  let env: Record<string, string>;
  const gpucloud = (...argv: string[]) => run(join(prefix, 'bin', 'gpucloud'), argv, { env });

  beforeAll(async () => {
    prefix = join(folder, 'prefix');
    const registry = 'http://127.0.0.1:9/';
    // Installs offline.
    await run(
      'npm',
      [
        ...['install', '--global', '--prefix', prefix, '--registry', registry, '--no-audit'],
        '--no-fund',
      ].concat(['--foreground-scripts', join(folder, pack.filename)]),
      { cwd: folder },
    );
    env = {
      PATH: process.env.PATH ?? '',
      GPUCLOUD_CONFIG_DIR: join(folder, 'config'),
      GPUCLOUD_STATE_DIR: join(folder, 'state'),
    };
  }, 120_000);

  test('installs no dependencies and runs no install scripts', async () => {
    const modules = join(prefix, 'lib', 'node_modules');
    expect(await readdir(modules)).toEqual(['gpucloud']);
    const installed = join(modules, 'gpucloud');
    expect(await readdir(installed)).not.toContain('node_modules');
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(manifest.dependencies).toBeUndefined();
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(script);
    }
  });

  test('prints the version of the installed package', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    expect((await gpucloud('--version')).stdout).toBe(`gpucloud ${version}\n`);
  });

  // The second run uses the code that the first one cached.
  test.each(ANSWERING)('runs %s twice with the installed package', async (command) => {
    const kept = join(folder, 'code', command);
    for (const time of ['first', 'second']) {
      const { kitchen, argv, stdin, env: more } = await prepare(command, { isBuilt: true });
      try {
        const code = join(kitchen.env.GPUCLOUD_STATE_DIR ?? '', 'cache', 'code');
        if (time === 'second') await cp(kept, code, { recursive: true });
        const child = spawn(join(prefix, 'bin', 'gpucloud'), [...argv], {
          env: { PATH: process.env.PATH, HOME: kitchen.home, ...kitchen.env, ...more },
          cwd: kitchen.home,
        });
        const outcome = await outcomeOf(child, stdin);
        expect(recipe(command).ends ?? [0], `${time}: ${outcome.stderr}`).toContain(outcome.code);
        expect(outcome.stdout + outcome.stderr).not.toBe('');
        if (time === 'first' && outcome.code === 0) await cp(code, kept, { recursive: true });
        else await mkdir(kept, { recursive: true });
      } finally {
        await kitchen.close();
      }
    }
  });

  test('rents an instance and runs a job in sandbox tour', {
    timeout: 120_000,
    ...needs('ssh'),
  }, async () => {
    const { stdout, stderr } = await gpucloud('sandbox', 'tour', '--yes');
    expect(stderr).not.toMatch(/^(error|warning): /m);
    expect(stdout).toContain('| GPU Name ');
    expect(stderr).toContain('Run a whole job\n');
    expect(stdout).toContain('\nHELLO\n');
    expect(stderr).toMatch(/^Terminated run-\S+ after .*\.\nIt cost \d+\.\d\d ₽: /m);
  });

  test('includes completions and man pages in the package', async () => {
    const installed = join(prefix, 'lib', 'node_modules', 'gpucloud');
    expect((await readdir(join(installed, 'completions'))).sort()).toEqual([
      '_gpucloud',
      'gpucloud.bash',
      'gpucloud.fish',
      'gpucloud.ps1',
    ]);
    // npm links the pages of a global package into man's path.
    expect(await readdir(join(prefix, 'share', 'man', 'man1'))).toContain('gpucloud-instances.1');
    const kept = await readFile(join(installed, 'completions', 'gpucloud.bash'), 'utf8');
    expect((await gpucloud('completion', 'bash')).stdout).toBe(kept);
  });
});
