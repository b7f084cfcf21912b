import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkIn } from '../../scripts/mutate/check.mjs';
import { draw, type Fault } from '../../scripts/mutate/draw.mjs';
import { asLines, faultsOf } from '../../scripts/mutate/faults.mjs';
import { judgeIn } from '../../scripts/mutate/judge.mjs';
import { nearestTests } from '../../scripts/mutate/nearest.mjs';
import { copyTree, putIn, removeTree } from '../../scripts/mutate/tree.mjs';
import { needs } from '../support/needs.ts';

const ROOT = join(import.meta.dirname, '../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpucloud-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Each row is a source, and its faults as `rule: the whole source with the fault`. */
test.each<[source: string, ...faults: string[]]>([
  ['a < b;', 'off by one: a <= b;'],
  ['a ?? b;', 'missing case: a;'],
  ['x(!a);', 'step: ', 'condition: x(a);'],
  ['if (a) b;', 'condition: if (!(a)) b;'],
  [
    'if (Math.max(a, b)) c;',
    'condition: if (!(Math.max(a, b))) c;',
    'condition: if (Math.min(a, b)) c;',
  ],
  ['a ? b : c;', 'condition: a ? c : b;'],
  [
    'for (;;) { if (a) break; }',
    'guard: for (;;) {  }',
    'condition: for (;;) { if (!(a)) break; }',
  ],
  ['x = await y();', 'step: ', 'await: x = y();'],
  ['a(-1);', 'step: ', 'off by one: a(-2);', 'off by one: a(-0);'],
  [
    'a * 60;',
    'condition: a / 60;',
    'unit: a;',
    'unit: a * 1000;',
    'off by one: a * 61;',
    'off by one: a * 59;',
  ],
  ['a * 5_000;', 'condition: a / 5_000;', 'unit: a * 50000;'],
  ['f(a, b);', 'step: ', 'neighbour: f(b, a);'],
  ['(a, b) => { return a; };', 'neighbour: (a, b) => { return b; };'],
  ['a.x; a.y;', 'neighbour: a.y; a.y;', 'neighbour: a.x; a.x;'],
  ['a.b = c.some(d);', 'step: ', 'condition: a.b = c.every(d);'],
  ['switch (a) { case b: c; }', 'missing case: switch (a) {  }'],
  ['[a, b];', 'missing case: [b];', 'missing case: [a];'],
  ['/^a$/;', 'guard: /a$/;', 'guard: /^a/;'],
  [
    "a === 'x' || a === 'y';",
    "condition: a === 'x' && a === 'y';",
    "missing case: a === 'x';",
    "missing case: a === 'y';",
    "condition: a !== 'x' || a === 'y';",
    "condition: a === 'y' || a === 'y';",
    "condition: a === 'x' || a !== 'y';",
    "condition: a === 'x' || a === 'x';",
  ],
  // Types and imports have no value.
  ["import a from 'b';"],
  ['type A = 1 | true;'],
  ['const a: 1 | true = b as 2;'],
])('finds the faults of %j', (source, ...faults) => {
  const found = faultsOf(source).map(
    ({ rule, start, end, text }) => `${rule}: ${source.slice(0, start)}${text}${source.slice(end)}`,
  );
  expect(found).toEqual(faults);
});

test('puts several faults into a copy and restores it', () => {
  const source = `const ж = '😀';\nif (\n  a\n) throw b;\nc(1);\n`;
  write({ 'src/a.ts': source, 'src/b.ts': source });
  const faults = faultsOf(source).map((fault) => asLines(source, fault));
  const guard = faults.find(({ rule }) => rule === 'guard');
  const step = faults.find(({ rule }) => rule === 'step');
  if (guard === undefined || step === undefined) throw new Error('a rule found nothing');

  const restore = putIn(folder, [
    { file: 'src/a.ts', ...guard },
    { file: 'src/a.ts', ...step },
    { file: 'src/b.ts', ...step },
  ]);
  expect(readFileSync(join(folder, 'src/a.ts'), 'utf8')).toBe(`const ж = '😀';\n\n\n`);
  expect(readFileSync(join(folder, 'src/b.ts'), 'utf8')).toBe(source.replace('c(1);', ''));
  restore();
  expect(readFileSync(join(folder, 'src/a.ts'), 'utf8')).toBe(source);
  expect(readFileSync(join(folder, 'src/b.ts'), 'utf8')).toBe(source);
  expect(() => putIn(folder, [{ file: 'src/a.ts', ...step, line: 1 }])).toThrow(
    'src/a.ts:1 has changed',
  );
});

test('draws the same lines for the same seed, without those whose faults are all rejected', async () => {
  write({ 'src/a.ts': 'a < 1;\nb < 2;\n', 'src/b/c.ts': 'c < 3;\n// d < 4;\ne(1);\n' });
  const drawn = async (seed: number, only: string, rejects: (fault: Fault) => boolean) => {
    const result = await draw({
      root: folder,
      only,
      seed,
      count: 9,
      rejects: async (fault) => rejects(fault),
    });
    return result.drawn.map(({ file, line, after }) => `${file}:${line} ${after}`);
  };
  const none = () => false;
  const first = await drawn(7, 'src', none);
  expect(await drawn(7, 'src', none)).toEqual(first);
  expect(first.map((each) => each.split(' ')[0]).sort()).toEqual([
    'src/a.ts:1',
    'src/a.ts:2',
    'src/b/c.ts:1',
    'src/b/c.ts:3',
  ]);
  const seeds = await Promise.all([1, 2, 3, 4].map((seed) => drawn(seed, 'src', none)));
  expect(new Set(seeds.map(String)).size).toBeGreaterThan(1);

  expect((await drawn(7, 'src/b', none)).length).toBe(2);
  expect(await drawn(7, 'src/b/c.ts:3', none)).toEqual([
    expect.stringMatching(/^src\/b\/c\.ts:3 /),
  ]);
  expect(await drawn(7, 'src/a.ts', ({ line }) => line === 1)).toEqual([
    expect.stringMatching(/^src\/a\.ts:2 /),
  ]);
  // A rejected fault makes room for another of the same line.
  const kept = await drawn(7, 'src/a.ts', ({ line, after }) => line === 2 && after !== 'b < 3;');
  expect(kept).toContain('src/a.ts:2 b < 3;');
});

test('rejects what the type check or the linter finds, in the file or in one that imports it', async () => {
  write({
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...{ strict: true, noEmit: true }, allowImportingTsExtensions: true },
      include: ['src', 'test'],
    }),
    'biome.json': '{}',
    'src/a.ts': 'export const of = (a: string, b: string, c: number) => (c > 1 ? a : b);\n',
    'src/b.ts': "import { of } from './a.ts';\nexport const b: string = of('', '', 2);\n",
    'test/b.test.ts': '',
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const source = readFileSync(join(folder, 'src/a.ts'), 'utf8');
  const { rejects, close } = checkIn(folder);
  const verdicts: Record<string, boolean> = {};
  for (const [from, to] of [
    ['c > 1', 'c > 2'],
    ['c > 1', 'a > 1'],
    ['c > 1', 'c == 1'],
    ['a : b', 'a : c'],
  ] as const) {
    const start = source.indexOf(from);
    const edit = { rule: 'any', start, end: start + from.length, text: to };
    verdicts[to] = await rejects({ file: 'src/a.ts', ...asLines(source, edit) });
  }
  close();
  expect(verdicts).toEqual({
    'c > 2': false,
    'a > 1': true,
    // Only the linter finds this.
    'c == 1': true,
    // Only the file that imports the function has a wrong type.
    'a : c': true,
  });
  expect(readFileSync(join(folder, 'src/a.ts'), 'utf8')).toBe(source);
}, 120_000);

test('lists the tests that import a file, by common names and then by steps', () => {
  write({
    'src/low.ts': '',
    'src/room/index.ts': "import '../low.ts';",
    'src/late.ts': "const late = () => import('./room/index.ts');",
    'test/far.test.ts': "import { a } from '../src/late.ts';",
    'test/middle.test.ts': "export * from '../src/room/index.ts';",
    'test/near.test.ts': "import b from '../src/low.ts';",
    'test/other.test.ts': '',
    'test/low/other.test.ts': '',
    'test/room/low.test.ts': "import '../middle.test.ts';",
    'test/room/any.test.ts': "import '../middle.test.ts';",
  });
  expect(nearestTests(folder)('src/room/index.ts').slice(0, 2).sort()).toEqual([
    'test/room/any.test.ts',
    'test/room/low.test.ts',
  ]);
  expect(nearestTests(folder)('src/low.ts')).toEqual([
    'test/room/low.test.ts',
    'test/near.test.ts',
    'test/middle.test.ts',
    'test/far.test.ts',
    'test/room/any.test.ts',
  ]);
});

test('judges by the nearest tests, then by all tests, without tests that fail anyway', {
  timeout: 240_000,
  ...needs('soak'),
}, async () => {
  const projects = ['code', 'quick'].map((name) => ({
    test: { name, include: [`test/${name}/*.test.ts`] },
  }));
  const checked = (import_: string, assertion: string) =>
    `import { expect, test } from 'vitest';\nimport { ${import_} } from '../../src/a.ts';
     test('${import_}', () => { ${assertion} });`;
  write({
    'vitest.config.mts': `export default { test: { projects: ${JSON.stringify(projects)} } };`,
    'src/a.ts':
      'export const one = () => 1;\nexport const two = () => 2;\nexport const three = () => 3;\n',
    // Runs first, since it has the shortest name.
    'test/code/a.test.ts': checked('three', 'expect(three()).toBe(9);'),
    'test/code/one.test.ts': checked('one', 'expect(one()).toBe(1);'),
    'test/quick/two.test.ts': checked('two', 'expect(two()).toBe(2);'),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const source = readFileSync(join(folder, 'src/a.ts'), 'utf8');
  const faults = faultsOf(source)
    .map((fault) => ({ file: 'src/a.ts', ...asLines(source, fault) }))
    .filter(({ after }) => /[2345];/.test(after) && !/1;/.test(after))
    .filter(({ line }, at, all) => all.findIndex((each) => each.line === line) === at);
  expect(faults.map(({ line }) => line)).toEqual([1, 2, 3]);

  const copies = [copyTree(folder), copyTree(folder)];
  try {
    const judge = judgeIn(copies, nearestTests(folder));
    const near = new Map<number, string | undefined>();
    await judge.near(faults, ({ line }, by) => near.set(line, by));
    expect(Object.fromEntries(near)).toEqual({ 1: 'test/code/one.test.ts: one' });
    const whole = new Map<number, string | undefined>();
    await judge.whole(faults.slice(1), ({ line }, by) => whole.set(line, by));
    expect(Object.fromEntries(whole)).toEqual({ 2: 'test/quick/two.test.ts: two' });
    expect([near.size, whole.size]).toEqual([3, 2]);
    expect(readFileSync(join(copies[0] ?? '', 'src/a.ts'), 'utf8')).toBe(source);
  } finally {
    for (const copy of copies) removeTree(copy);
  }
});

test('lists only equivalent faults of lines that the source still has', () => {
  const file = join(ROOT, 'scripts/mutate/equivalents.json');
  const listed: { file: string; before: string }[] = JSON.parse(readFileSync(file, 'utf8'));
  const gone = listed.filter(
    (each) => !readFileSync(join(ROOT, each.file), 'utf8').includes(each.before),
  );
  expect(gone).toEqual([]);
});
