import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { buildParts, withoutExports } from '../../scripts/parts.mjs';
import { openBundle } from '../../src/start/bundle.ts';
import { type Chunk, runChunks } from '../../src/start/loader.ts';
import { outcomeOf } from '../support/program.ts';
import { install } from './installation.ts';

const FILE = fileURLToPath(new URL('../../dist/gpucloud.cjs', import.meta.url));
const require = createRequire(FILE);

// It builds the whole bundle, which can exceed the usual time limit.
const BUILDING = { timeout: 120_000 };

test('runs every chunk, with the names that others import from it', BUILDING, async () => {
  const { text, names } = await buildParts();
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
  try {
    const file = join(folder, 'gpucloud.cjs');
    await writeFile(file, text);
    const bundle = openBundle(file);
    const missing: string[] = [];
    let ran = 0;
    // Takes the place of the program.
    const all: Chunk = (require) => {
      for (const [id, own] of names.entries()) {
        if (id < 2) continue;
        const exports = require(String(id)) as Record<string, unknown>;
        ran += 1;
        for (const name of own) if (exports[name] === undefined) missing.push(`${name} of ${id}`);
      }
    };
    const chunkAt = (id: number): Chunk => {
      const [part, index] = bundle.placeOf(id);
      return id === 1 ? all : new Script(bundle.textOf(part)).runInThisContext()[index];
    };
    runChunks(chunkAt, (id) => require(id));
    expect(missing).toEqual([]);
    expect(ran).toBeGreaterThan(50);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.each([
  ['let a=1;export{a};\n', 'let a=1;', { a: 'a' }],
  ['let a=1,b=2;export{a as one,b as $2};\n', 'let a=1,b=2;', { one: 'a', $2: 'b' }],
  ['var x=p(()=>{});export default x();\n', 'var x=p(()=>{});', { default: 'x()' }],
  ['let a="export{b};";run(a);\n', 'let a="export{b};";run(a);\n', {}],
])('cuts the exports off %j', (source, body, values) => {
  expect(withoutExports(source)).toEqual({ body, values });
});

/** Runs chunks given as functions; chunk 0 is what the build makes of their names. */
function runFake(
  names: readonly string[][],
  chunks: readonly Chunk[],
  node = (_id: string) => ({}),
) {
  const first: Chunk = (_require, define) => define(names);
  runChunks((id) => [first, ...chunks][id] as Chunk, node);
}

test('runs a chunk once, when a name of it is first used', () => {
  const said: unknown[] = [];
  runFake(
    [[], [], ['count']],
    [
      (require) => {
        const two = require('2') as { count: number };
        said.push('imported', two.count, two.count);
      },
      (_require, define) => {
        said.push('two runs');
        let count = 1;
        define({
          get count() {
            count += 1;
            return count;
          },
        });
      },
    ],
  );
  expect(said).toEqual(['two runs', 'imported', 2, 3]);
});

test('runs chunks that import each other', () => {
  const seen: unknown[] = [];
  runFake(
    [[], [], ['two'], ['three']],
    [
      (require) => void seen.push((require('2') as { two(): string }).two()),
      (require, define) => {
        const three = require('3') as { three(): string };
        define({ two: () => `two and ${three.three()}` });
      },
      (require, define) => {
        const two = require('2') as { two: unknown };
        define({ three: () => `three of a ${typeof two.two}` });
      },
    ],
  );
  expect(seen).toEqual(['two and three of a function']);
});

test('loads a slow module of Node at first use, and others at once', () => {
  const loaded: string[] = [];
  const node = (id: string) => {
    loaded.push(id);
    return { name: id };
  };
  const chunk: Chunk = (require) => {
    require('node:path');
    const net = require('node:net') as { name: string; __esModule?: boolean };
    // esbuild makes such a module.
    const namespace = Object.create(Object.getPrototypeOf(net)) as typeof net;
    expect([net.__esModule, Object.keys(net), loaded]).toEqual([undefined, [], ['node:path']]);
    expect([net.name, namespace.name]).toEqual(['node:net', 'node:net']);
  };
  runFake([[], []], [chunk], node);
  expect([...new Set(loaded)]).toEqual(['node:path', 'node:net']);
});

test('leaves the streams of the process alone when a chunk imports it', () => {
  let opened = 0;
  const whole = {
    get stdin() {
      opened += 1;
      return 'stdin';
    },
    cwd: () => '/here',
  };
  const main: Chunk = (require) => {
    const module = require('node:process') as typeof whole & { default: typeof whole };
    // What esbuild makes of an import: the module's own names are copied, and their getters read.
    const names = Object.keys(Object.getOwnPropertyDescriptors(module));
    expect(names.sort()).toEqual(['__esModule', 'default']);
    expect([module.default, module.cwd(), opened]).toEqual([whole, '/here', 0]);
    expect([module.stdin, opened]).toEqual(['stdin', 1]);
  };
  const names: Chunk = (_require, define) => define([]);
  runChunks(
    (id) => (id === 0 ? names : main),
    () => whole,
  );
});

test('finds the bundle from a link on PATH, whether or not Node follows it', async () => {
  const at = await install();
  try {
    const path = join(at.root, 'path');
    const linked = join(path, 'bin', 'gpucloud');
    await mkdir(join(path, 'bin'), { recursive: true });
    await symlink(join(at.root, 'bin', 'gpucloud.js'), linked);
    // The link's folder is not the program's.
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
  ['cut short', (text) => text.slice(0, 100_000)],
  ['no bundle', () => '//name\n[\u001b]0;x\u0007]\n'],
])('says in two lines that its file is %s, and does nothing', async (_how, spoilt) => {
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

test('runs on with its own code after an upgrade', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
  try {
    const file = join(folder, 'gpucloud.cjs');
    await copyFile(FILE, file);
    const bundle = openBundle(file);
    const before = bundle.textOf(1);
    // npm replaces the file under its name.
    await rm(file);
    await writeFile(file, '//another\n[]\n');
    expect(bundle.textOf(1)).toBe(before);
    expect(bundle.textOf(2)).toBe(openBundle(FILE).textOf(2));
  } finally {
    await rm(folder, { recursive: true });
  }
});
