import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBundle } from '../../src/start/bundle.ts';
import { commandOf, openCodeCache } from '../../src/start/code-cache.ts';
import { start } from '../../src/start/executable.ts';
import { type Body, runModules } from '../../src/start/modules.ts';
import { temporaryFolder } from '../support/afterwards.ts';

/** Runs modules given as functions. */
function runFake(modules: readonly Body[], node = (_id: string): unknown => ({})) {
  runModules((number) => modules[number] as Body, node);
}

test('runs a module once, at the first use of one of its names', () => {
  const said: unknown[] = [];
  let count = 0;
  runFake([
    (require) => {
      const one = require('1') as { count: number };
      // Copies a module's names as esbuild does for `import * as`.
      const copy = Object.create(Object.getPrototypeOf(one)) as typeof one;
      said.push(Object.keys(one), one.count, copy.count, (require('1') as typeof one).count);
    },
    (_require, define) => {
      said.push('runs');
      define({
        get count() {
          count += 1;
          return count;
        },
      });
    },
  ]);
  expect(said).toEqual(['runs', [], 1, 2, 3]);
});

test('loads slow modules of Node at the first use of a name, and others at once', () => {
  const used: unknown[] = [];
  const node = (id: string) => {
    used.push(id);
    return { name: `of ${id}` };
  };
  const first: Body = (require) => {
    for (const id of ['sha2', 'x-node:fs', 'http2', 'node:fs']) {
      const one = require(id) as { __esModule?: true; name: string };
      used.push(one.__esModule);
      used.push(one.name);
    }
  };
  runFake([first], node);
  expect(used).toEqual([
    ...['sha2', undefined, 'of sha2', 'x-node:fs', undefined, 'of x-node:fs'],
    ...[true, 'http2', 'of http2', true, 'node:fs', 'of node:fs'],
  ]);
});

test('runs a module again if it threw', () => {
  let runs = 0;
  const tried: unknown[] = [];
  runFake([
    (require) => {
      const one = require('1') as { name: string };
      for (const time of [1, 2]) {
        try {
          tried.push(one.name);
        } catch (error) {
          tried.push(`${time}: ${error}`);
        }
      }
    },
    (_require, define) => {
      runs += 1;
      if (runs === 1) throw new Error('no memory');
      define({ name: 'one' });
    },
  ]);
  expect(tried).toEqual(['1: Error: no memory', 'one']);
});

test('reads the modules of a bundle that has exactly their length', async () => {
  const file = join(await temporaryFolder(), 'bundle');
  const text = '//0a1b\n[3,0,2]\nabcde';
  for (const odd of [`${text}f`, text.slice(0, -1)]) {
    writeFileSync(file, odd);
    expect(() => openBundle(file)).toThrow('the bundle is cut short');
  }
  writeFileSync(file, text);
  const bundle = openBundle(file);
  const modules = [0, 1, 2].map((number) => bundle.textOf(number));
  expect({ ...bundle, modules }).toMatchObject({ file, hash: '0a1b', modules: ['abc', '', 'de'] });
  truncateSync(file, text.length - 1);
  expect(() => bundle.textOf(2)).toThrow('the bundle is cut short');
});

test.each([
  ['instances get box --json', 'instances-get'],
  ['instances get-all', 'instances-get-all'],
  ['instances get1', 'instances'],
  ['status --json', 'status'],
  ['ssh-keys Add', 'ssh-keys'],
  ['__complete bash', '__complete-bash'],
  ['--json status', 'gpucloud'],
  ['', 'gpucloud'],
])('stores the code of `gpucloud %s` as %s', (line, name) => {
  expect(commandOf(line.split(' '))).toBe(name);
});

test.each([
  [['--ask-keyring'], 'keyring'],
  [['--ask-keyring', 'x'], 'program'],
  [['--version', 'x'], 'program'],
  [['status'], 'program'],
  [[], 'program'],
])('starts the executable with %j: %s', (argv, expected) => {
  const started: string[] = [];
  const modules: Body[] = [(require) => started.push(`program${require('x:y')}`)];
  start({ modules, node: () => '', keyring: () => void started.push('keyring') }, argv);
  expect(started).toEqual([expected]);
});

const UID = process.geteuid?.() ?? 0;
const HALF = `(function () { return ${'1 + '.repeat(50)} 1; })`;

/** Runs two modules, and returns whether V8 refused their stored code; undefined without any. */
function refused(file: string | undefined, owner: number | undefined) {
  const cache = openCodeCache(file, 'x.js', owner);
  const scripts = [0, 12].map((number) => cache.compile(number, HALF + ' '.repeat(number)));
  for (const script of scripts) script.runInThisContext()();
  cache.save();
  return scripts.map(({ cachedDataRejected }) => cachedDataRejected);
}

const none = [undefined, undefined];
const all = [false, false];
test.each<[string, (file: string) => unknown, number | undefined, unknown[]]>([
  ['as it is', () => undefined, UID, all],
  ['that others can read', (file) => chmod(file, 0o644), UID, all],
  ['that the group can write', (file) => chmod(file, 0o620), UID, none],
  ['that others can write', (file) => chmod(file, 0o602), UID, none],
  ['of another user', () => undefined, UID + 1, none],
  ['that others can write, on Windows', (file) => chmod(file, 0o666), undefined, all],
  ['cut in its table', (file) => truncateSync(file, 5), UID, none],
])('uses stored code %s', async (_what, change, owner, expected) => {
  const folder = join(await temporaryFolder(), 'a', 'b');
  const file = join(folder, 'code');
  expect(refused(undefined, owner)).toEqual(none);
  expect(refused(file, owner)).toEqual(none);
  const before = statSync(file);
  await change(file);
  expect(refused(file, owner)).toEqual(expected);
  expect(statSync(file).ino === before.ino).toBe(expected === all);
  const modes = [folder, file].map((path) => (statSync(path).mode & 0o777).toString(8));
  if (expected !== all) expect(modes).toEqual(['700', '600']);
  expect(readdirSync(folder)).toEqual(['code']);
});

test('adds the code of new modules to the stored code, each aligned for V8', async () => {
  const file = join(await temporaryFolder(), 'code');
  const stored: [number, string][] = [
    [7, 'a'.repeat(8)],
    [40, 'b'.repeat(24)],
  ];
  const table = JSON.stringify(stored.map(([number, code]) => [number, code.length]));
  writeFileSync(file, `${table}\n${stored.map(([, code]) => code).join('')}`, { mode: 0o600 });
  const cache = openCodeCache(file, 'x.js', UID);
  cache.compile(3, HALF);
  cache.save();
  const [, line = '', codes = ''] = /^(.*?)\n(.*)$/s.exec(readFileSync(file, 'latin1')) ?? [];
  const added = codes.length - 32;
  expect(JSON.parse(line)).toEqual([
    [7, 8],
    [40, 24],
    [3, added],
  ]);
  expect({ start: (line.length + 1) % 8, padding: /[^ ] {0,7}$/.test(line) }).toEqual({
    start: 0,
    padding: true,
  });
  expect(codes.slice(0, 32)).toBe('a'.repeat(8) + 'b'.repeat(24));
  expect(added).toBeGreaterThan(100);
});
