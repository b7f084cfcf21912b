import { copyFile, mkdtemp, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { readBundle } from '../../src/start/bundle.ts';
import { type Part, runChunks } from '../../src/start/loader.ts';

const FILE = fileURLToPath(new URL('../../dist/gpucloud.cjs', import.meta.url));
const require = createRequire(FILE);

test('every chunk of the bundle runs and has the names that others import from it', () => {
  const bundle = readBundle(FILE);
  const missing: string[] = [];
  let ran = 0;
  const partAt = (index: number): Part => {
    const part = new Script(bundle.textOf(index)).runInThisContext();
    // In place of the program, which is chunk 0, stands the test.
    return index === 0 ? { ...part, 0: all } : part;
  };
  const all: Part[number] = (_exports, load) => {
    for (const [id, names] of bundle.table.flatMap(([, , chunks]) => chunks)) {
      if (id === 0) continue;
      const space = load(id) as Record<string, unknown>;
      ran += 1;
      for (const name of names.split(' ')) {
        if (name !== '' && space[name] === undefined) missing.push(`${name} of ${id}`);
      }
    }
  };
  runChunks(bundle.table, partAt, (id) => require(String(id)));
  expect(missing).toEqual([]);
  expect(ran).toBeGreaterThan(50);
});

test('a chunk runs at the first use of a name, once, and its names stay alive', () => {
  const said: string[] = [];
  const part: Part = {
    0: (_exports, load) => {
      const one = load(1) as { count: number; add(): void };
      load(2);
      said.push('imported');
      said.push(`count ${one.count}`);
      one.add();
      said.push(`count ${one.count}`, `again ${(load(1) as typeof one).count}`);
    },
    1: (_exports, _load, chunk) => {
      said.push('one runs');
      let count = 1;
      chunk.exports = {
        get count() {
          return count;
        },
        add: () => {
          count += 1;
        },
      };
    },
    2: () => said.push('two is there for what it does'),
  };
  runChunks(
    [
      [
        0,
        0,
        [
          [0, ''],
          [1, 'count add'],
          [2, ''],
        ],
      ],
    ],
    () => part,
    () => undefined,
  );
  expect(said).toEqual([
    'two is there for what it does',
    'imported',
    'one runs',
    'count 1',
    'count 2',
    'again 2',
  ]);
});

test('a chunk that fails is run again at the next use, and not taken for a whole one', () => {
  let times = 0;
  const seen: unknown[] = [];
  const part: Part = {
    0: (_exports, load) => {
      const one = load(1) as { value: string };
      for (let use = 0; use < 2; use++) {
        try {
          seen.push(one.value);
        } catch (error) {
          seen.push((error as Error).message);
        }
      }
    },
    1: (_exports, _load, chunk) => {
      times += 1;
      if (times === 1) throw new Error('not now');
      chunk.exports = { value: 'whole' };
    },
  };
  runChunks(
    [
      [
        0,
        0,
        [
          [0, ''],
          [1, 'value'],
        ],
      ],
    ],
    () => part,
    () => undefined,
  );
  expect(seen).toEqual(['not now', 'whole']);
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
