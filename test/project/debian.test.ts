import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freshShell } from '../completion/shells.ts';
import { needs } from '../support/needs.ts';
import { createComputer } from '../support/program.ts';

// Runs alone, since each new shell completes gpucloud while the package is installed.

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = join(ROOT, 'dist', 'packages');
const SOURCE = ['completions', 'man', 'package.json', 'packaging', 'scripts', 'skills', 'src'];

function debIn(folder: string): string | undefined {
  const name = existsSync(folder) && readdirSync(folder).find((file) => file.endsWith('.deb'));
  return name ? join(folder, name) : undefined;
}

/** Returns the package that an earlier test built, or builds it if the source is newer. */
async function freshDeb(): Promise<string> {
  const changed = SOURCE.flatMap((name) => {
    const at = join(ROOT, name);
    const inside = name.includes('.') ? [] : readdirSync(at, { recursive: true, encoding: 'utf8' });
    return [at, ...inside.map((file) => join(at, file))].map((path) => statSync(path).mtimeMs);
  });
  const kept = debIn(PACKAGES);
  if (kept !== undefined && statSync(kept).mtimeMs > Math.max(...changed)) return kept;
  await run('npm', ['run', '--silent', 'package', '--', '--level', '0'], { cwd: ROOT });
  return debIn(PACKAGES) ?? 'no .deb';
}

// Skips a computer with gpucloud from a .deb, which the test would remove.
const DEBIAN = needs('root', 'apt-get', 'no gpucloud from a .deb');

describe('the .deb', DEBIAN, () => {
  const FILES = '/var/lib/dpkg/info/gpucloud.list';
  const apt = (...argv: string[]) => run('apt-get', ['--yes', ...argv]);

  beforeAll(async () => {
    await apt('install', '--no-install-recommends', await freshDeb());
  }, 300_000);
  // Also succeeds if the package is gone.
  afterAll(() => run('dpkg', ['--purge', 'gpucloud']), 60_000);

  test('installs the program on PATH', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    const { stdout } = await run('gpucloud', ['--version'], { env: { PATH: '/usr/bin:/bin' } });
    expect(stdout).toBe(`gpucloud ${version}\n`);
    expect((await run('dpkg', ['-S', '/usr/bin/gpucloud'])).stdout).toMatch(/^gpucloud: /);
  });

  for (const [shell, lacks] of [
    ['bash', '/usr/share/bash-completion/bash_completion'],
    ['zsh', 'zsh'],
    ['fish', 'fish'],
  ] as const) {
    test(
      `completes commands in a new ${shell} after the .deb is installed`,
      needs(lacks),
      async () => {
        const computer = await createComputer();
        const opened = await freshShell(shell, computer);
        try {
          opened.type('gpucloud inst\t');
          await opened.shows(/^ready> gpucloud instances/m);
        } finally {
          await opened.close();
          await computer.remove();
        }
      },
    );
  }

  test('removes all files of the .deb', { timeout: 60_000 }, async () => {
    const files = (await readFile(FILES, 'utf8')).trimEnd().split('\n');
    expect(files).toContain('/usr/share/man/man1/gpucloud.1.gz');
    await apt('remove', 'gpucloud');
    const left = files.filter((file) => file.includes('gpucloud'));
    expect(left.length).toBeGreaterThan(20);
    expect(left.filter((path) => existsSync(path))).toEqual([]);
    // No settings of the package remain, so there is nothing to purge.
    await expect(run('dpkg', ['-s', 'gpucloud'])).rejects.toThrow('not installed');
  });
});
