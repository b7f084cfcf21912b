import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { openBundle } from '../../src/start/bundle.ts';
import { type Body, runModules } from '../../src/start/modules.ts';
import { outcomeOf } from '../support/program.ts';
import { install } from './installation.ts';

const FILE = fileURLToPath(new URL('../../dist/gpucloud.cjs', import.meta.url));
const require = createRequire(FILE);

test('runs every module of the bundle and finds all its exported names', async () => {
  const bundle = openBundle(FILE);
  const [, lengths = ''] = (await readFile(FILE, 'latin1')).split('\n', 2);
  const modules = JSON.parse(lengths).length;
  const missing: string[] = [];
  let names = 0;
  // Replaces the program's first module.
  const all: Body = (require) => {
    for (let number = 1; number < modules; number += 1) {
      const face = require(String(number)) as Record<string, unknown>;
      // Loads the module, whose exports then become the face's prototype.
      void face.default;
      for (const name of Object.keys(Object.getPrototypeOf(face))) {
        names += 1;
        if (face[name] === undefined) missing.push(`${name} of ${number}`);
      }
    }
  };
  runModules(
    (number) => (number === 0 ? all : new Script(bundle.textOf(number)).runInThisContext()),
    (id) => require(id),
  );
  expect(missing).toEqual([]);
  expect(names).toBeGreaterThan(1000);
});

test('finds the bundle through a symlink on PATH', async () => {
  const at = await install();
  try {
    const path = join(at.root, 'path');
    const linked = join(path, 'bin', 'gpucloud');
    await mkdir(join(path, 'bin'), { recursive: true });
    await symlink(join(at.root, 'bin', 'gpucloud.js'), linked);
    // The program must not load this wrong bundle beside the link.
    await mkdir(join(path, 'dist'));
    await writeFile(join(path, 'dist', 'gpucloud.cjs'), 'not a bundle');
    const list = [linked, 'profiles', 'list', '--json'];
    for (const [flags, settings] of [
      [[], {}],
      [[], { NODE_PRESERVE_SYMLINKS_MAIN: '1' }],
      [[], { NODE_OPTIONS: '--preserve-symlinks-main' }],
      [['--preserve-symlinks-main'], {}],
    ] as const) {
      const env = { ...at.env, ...settings };
      const { code, stdout } = await outcomeOf(
        spawn(process.execPath, [...flags, ...list], { env }),
      );
      expect({ code, stdout: JSON.parse(stdout) }).toMatchObject({ code: 0, stdout: [{}] });
    }
  } finally {
    await at.remove();
  }
});

test.each<[string, (text: string) => string | undefined]>([
  ['missing', () => undefined],
  ['empty', () => ''],
  ['cut short', (text) => text.slice(0, -1)],
  ['no bundle', () => '//name\n[\u001b]0;x\u0007]\n'],
])('exits with a two-line error if its file is %s', async (_how, spoilt) => {
  const at = await install();
  try {
    const text = spoilt(await readFile(at.bundle, 'utf8'));
    await rm(at.bundle);
    if (text !== undefined) await writeFile(at.bundle, text);
    const { code, stdout, stderr } = await at.run(['instances', 'terminate', 'box', '--yes']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: gpucloud can't start because .*\nhint: install it again: npm install --global gpucloud\n$/,
    );
    const debugged = await at.run(['instances', 'list', '--debug']);
    expect(debugged.code).toBe(1);
    expect(debugged.stderr).toMatch(/^ +at /m);
  } finally {
    await at.remove();
  }
});

test("reads a running program's own bundle after an upgrade", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
  try {
    const file = join(folder, 'gpucloud.cjs');
    await copyFile(FILE, file);
    const bundle = openBundle(file);
    const before = bundle.textOf(1);
    // npm replaces the file under the same name.
    await rm(file);
    await writeFile(file, '//another\n[]\n');
    expect(bundle.textOf(1)).toBe(before);
    expect(bundle.textOf(2)).toBe(openBundle(FILE).textOf(2));
  } finally {
    await rm(folder, { recursive: true });
  }
});
