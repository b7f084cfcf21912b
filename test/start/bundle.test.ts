import { spawn } from 'node:child_process';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { buildParts } from '../../scripts/parts.mjs';
import { readBundle } from '../../src/start/bundle.ts';
import { type Part, runChunks, type Table } from '../../src/start/loader.ts';
import { outcomeOf } from '../support/program.ts';
import { install } from './installation.ts';

const FILE = fileURLToPath(new URL('../../dist/gpucloud.cjs', import.meta.url));
const require = createRequire(FILE);

// It builds the whole bundle, which takes a slow computer longer than a test usually has.
const BUILDING = { timeout: 120_000 };

test(
  'every chunk of the bundle runs and has the names that others import from it',
  BUILDING,
  async () => {
    const { text, names } = await buildParts();
    const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
    try {
      const file = join(folder, 'gpucloud.cjs');
      await writeFile(file, text);
      const bundle = readBundle(file);
      const missing: string[] = [];
      let ran = 0;
      const partAt = (index: number): Part => {
        const part = new Script(bundle.textOf(index)).runInThisContext();
        // In place of the program, which is chunk 0, stands the test.
        return index === 0 ? [all, ...part.slice(1)] : part;
      };
      const all: Part[number] = (load) => {
        for (const [id, own] of names.entries()) {
          if (id === 0) continue;
          const exports = load(id) as Record<string, unknown>;
          ran += 1;
          // What a module of CommonJS exports is not known before it runs.
          for (const name of own.filter((one) => one !== 'default')) {
            if (exports[name] === undefined) missing.push(`${name} of ${id}`);
          }
        }
      };
      runChunks(bundle.table, partAt, (id) => require(String(id)));
      expect(missing).toEqual([]);
      expect(ran).toBeGreaterThan(50);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

test('a chunk runs when it is first come by, once, and its names stay alive', () => {
  const said: string[] = [];
  const part: Part = [
    (load) => {
      const one = () => load(1) as { count: number; add(): void };
      said.push('zero runs');
      said.push(`count ${one().count}`);
      one().add();
      said.push(`count ${one().count}`, `default ${(load(2) as { name: string }).name}`);
    },
    (_load, exports, define) => {
      let count = 1;
      define(exports, {
        count: () => count,
        add: () => () => {
          count += 1;
        },
      });
      said.push('one runs');
    },
    () => ({ name: 'of its own' }),
  ];
  runChunks(
    [[0, 0, 0]],
    () => part,
    () => undefined,
  );
  expect(said).toEqual(['zero runs', 'one runs', 'count 1', 'count 2', 'default of its own']);
});

test('a chunk that fails is run again at the next use, and not taken for a whole one', () => {
  let times = 0;
  const seen: unknown[] = [];
  const part: Part = [
    (load) => {
      for (let use = 0; use < 2; use++) {
        try {
          seen.push((load(1) as { value: string }).value);
        } catch (error) {
          seen.push((error as Error).message);
        }
      }
    },
    (_load, exports, define) => {
      define(exports, { value: () => 'whole' });
      times += 1;
      if (times === 1) throw new Error('not now');
    },
  ];
  runChunks(
    [[0, 0, 0]],
    () => part,
    () => undefined,
  );
  expect(seen).toEqual(['not now', 'whole']);
  expect(times).toBe(2);
});

test('a table that does not fit its parts is told, and nothing passes for having run', () => {
  const tables = [[[0, 0, [0, 1]]], [[0, 0, 5]], [[0, 0, null]], []] as unknown as Table[];
  for (const table of tables) {
    const run = () =>
      runChunks(
        table,
        () => [() => undefined],
        () => undefined,
      );
    expect(run).toThrow('of another build');
  }
});

test('chunks that need each other, and modules of CommonJS, are what they are without the bundle', () => {
  const seen: unknown[] = [];
  const made: unknown[] = [];
  const old = {
    one: 1,
    get now() {
      return made.length;
    },
  };
  const part: Part = [
    (load, _exports, _define, wrap) => {
      seen.push((load(1) as { word(): string }).word());
      const module = wrap(load('old') as object) as { default: unknown; one: number; now: number };
      seen.push(module.default === old, module.one, module.now);
      const told = { __esModule: true, default: 'its own' };
      seen.push(wrap(told) === told, (wrap(told, 1) as { default: unknown }).default === told);
      load('old');
    },
    (load, exports, define) => {
      define(exports, { word: () => () => `one and ${(load(2) as { word(): string }).word()}` });
    },
    (load, exports, define) => {
      define(exports, { word: () => () => `two of ${typeof (load(1) as { word: unknown }).word}` });
    },
  ];
  runChunks(
    [
      [0, 0, 0],
      // Of a part that has no chunk, none is ever asked for.
      [0, 0, 1],
      [0, 0, 1],
    ],
    (index) => [part.slice(0, 1), [], part.slice(1)][index] as Part,
    (id) => {
      made.push(id);
      return old;
    },
  );
  expect(seen).toEqual(['one and two of function', true, 1, 1, true, true]);
  expect(made).toEqual(['old']);
});

test('it is found from a link on PATH, also where Node does not follow that', async () => {
  const at = await install();
  try {
    const path = join(at.root, 'path');
    const linked = join(path, 'bin', 'gpucloud');
    await mkdir(join(path, 'bin'), { recursive: true });
    await symlink(join(at.root, 'bin', 'gpucloud.js'), linked);
    // Beside the link is not beside the program.
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
  ['no bundle', () => '//name\nconst table=[\u001b]0;x\u0007];\n'],
  ['of a build whose table is another', (text) => text.replace(/,0\],/, ',[0,1]],')],
])('a program whose file is %s says so in two lines, and does nothing', async (_how, spoilt) => {
  const at = await install();
  try {
    const text = spoilt(await readFile(at.bundle, 'utf8'));
    await rm(at.bundle);
    if (text !== undefined) await writeFile(at.bundle, text);
    const { code, stdout, stderr } = await at.run(['instances', 'terminate', 'box', '--yes']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^error: gpucloud can't be started, .*\nhint: install it again: npm install --global gpucloud\n$/,
    );
    const debugged = await at.run(['instances', 'list', '--debug']);
    expect(debugged.code).toBe(1);
    expect(debugged.stderr).toMatch(/^ +at /m);
  } finally {
    await at.remove();
  }
});

test('an upgrade leaves the run with the code that it began with', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
  try {
    const file = join(folder, 'gpucloud.cjs');
    await copyFile(FILE, file);
    const bundle = readBundle(file);
    const before = bundle.textOf(1);
    // As npm does it: another file under the name.
    await rm(file);
    await writeFile(file, '//another\nconst table=[];\n');
    expect(bundle.textOf(1)).toBe(before);
    expect(bundle.textOf(2)).toBe(readBundle(FILE).textOf(2));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a bundle that is written over in place is not run on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-bundle-'));
  try {
    const file = join(folder, 'gpucloud.cjs');
    await copyFile(FILE, file);
    await utimes(file, 0, 0);
    const bundle = readBundle(file);
    const bytes = await readFile(file);
    await writeFile(file, bytes.reverse());
    expect(() => bundle.textOf(1)).toThrow('was written over');
    await truncate(file, 100);
    expect(() => bundle.textOf(1)).toThrow('cut short');
  } finally {
    await rm(folder, { recursive: true });
  }
});
