import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { envelope, type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// Limits the Node modules and the compiled bytes that a command may load. A careless import then
// fails this test instead of a benchmark.

const TELL = `
const vm = require('node:vm');
const known = new Set(process.moduleLoadList);
let bytes = 0;
let texts = 0;
const Script = vm.Script;
vm.Script = class extends Script {
  constructor(source, how) {
    super(source, how);
    bytes += source.length;
    texts += 1;
  }
};
const opened = [];
for (const name of ['stdin', 'stdout', 'stderr']) {
  const { get } = Object.getOwnPropertyDescriptor(process, name);
  Object.defineProperty(process, name, {
    get() {
      opened.push(name);
      return get();
    },
  });
}
process.on('exit', () => {
  const modules = process.moduleLoadList
    .filter((name) => name.startsWith('NativeModule ') && !known.has(name))
    .map((name) => name.slice('NativeModule '.length))
    .filter((name) => !name.startsWith('internal/'));
  require('node:fs').writeSync(2, JSON.stringify({ bytes, texts, modules, opened }) + '\\n');
});
`;

/** Prints the modules that Node loads while one of V8's flags differs from its default. */
const TELL_FLAGS = `
const v8 = require('node:v8');
const { setFlagsFromString } = v8;
const flags = [];
let loaded = [];
let from;
v8.setFlagsFromString = (flag) => {
  if (from !== undefined) loaded.push(...process.moduleLoadList.slice(from));
  from = process.moduleLoadList.length;
  flags.push(flag);
  setFlagsFromString(flag);
};
process.on('exit', () => {
  require('node:fs').writeSync(2, JSON.stringify({ flags, loaded }) + '\\n');
});
`;

let at: Installation;
let service: Service;
beforeEach(async () => {
  at = await install();
  await writeFile(join(at.root, 'tell.cjs'), TELL);
  await writeFile(join(at.root, 'tell-flags.cjs'), TELL_FLAGS);
  service = await startService(({ path }) => ({ status: 200, body: bodyFor(path) }));
  const profile = {
    base_url: service.url,
    api_key: 'svc_sk_test_0123456789abcdef',
    account: { id: 'user-1' },
  };
  await mkdir(join(at.root, 'config'), { mode: 0o700 });
  await writeFile(
    join(at.root, 'config', 'config.json'),
    JSON.stringify({ current: 'work', profiles: { work: profile } }),
    { mode: 0o600 },
  );
});
afterEach(async () => {
  await service.close();
  await at.remove();
});

const ID = '11111111-2222-4333-8444-555555555555';

function bodyFor(path: string) {
  const instance = { id: ID, name: 'trainer', status: 'ACTIVE' };
  const others = path === '/users/me' ? { id: 'user-1' } : [];
  return envelope(path.startsWith('/instances/') ? instance : others);
}

interface Loaded {
  readonly bytes: number;
  /** Number of loaded modules of the bundle. */
  readonly texts: number;
  readonly modules: string[];
  /** The process's streams that the program opened. */
  readonly opened: string[];
}

async function loaded(...argv: string[]): Promise<Loaded> {
  return told('tell.cjs', argv);
}

async function told(hook: string, argv: readonly string[]) {
  const env = { NODE_OPTIONS: `--require ${join(at.root, hook)}` };
  const { code, stderr } = await at.run(argv, { env });
  expect(code).toBe(0);
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
}

test('compiles no part of the bundle for --version', async () => {
  const { bytes, modules } = await loaded('--version');
  expect(bytes).toBe(0);
  expect(modules.filter((name) => !['vm', 'os'].includes(name))).toEqual([]);
});

/** The limits for --help, which runs the file of each verb that it lists. */
const HELP_BYTES = 160_000;
const HELP_MODULES = 42;
/** The limit of compiled bytes for the help of the largest group. */
const GROUP_HELP_BYTES = 215_000;
/** The limit of compiled bytes for Tab. */
const TAB_BYTES = 200_000;
/** The limit of compiled bytes for a command with one request. */
const REQUEST_BYTES = 500_000;

test('compiles few modules for --help, and does not open a stream', async () => {
  const { bytes, texts, modules, opened } = await loaded('--help');
  expect(opened).toEqual([]);
  expect(texts).toBeLessThan(HELP_MODULES);
  expect(bytes).toBeLessThan(HELP_BYTES);
  expect(modules.filter((name) => !['vm', 'os', 'process'].includes(name))).toEqual([]);
});

test("compiles few bytes for a group's help", async () => {
  const { bytes, modules } = await loaded('instances', '--help');
  expect(bytes).toBeLessThan(GROUP_HELP_BYTES);
  expect(modules.filter((name) => !['vm', 'os', 'process'].includes(name))).toEqual([]);
});

test.each([
  ['instances', 'st'],
  ['instances', 'create', '--do'],
  ['instances', 'stop', ''],
  ['drives', 'get', ''],
  ['instances', 'create', '--offer', ''],
])('loads for Tab on %s %s neither the API client, conf nor a stream', async (...words) => {
  // Stores an instance and its offer.
  await loaded('instances', 'get', ID, '--json');
  const { bytes, modules, opened } = await loaded('__complete', 'zsh', ...words);
  expect(opened).toEqual([]);
  expect(bytes).toBeLessThan(TAB_BYTES);
  expect(modules.filter((name) => !['vm', 'os', 'process'].includes(name))).toEqual([]);
});

test.each([
  ['instances', 'get', ID, '--json'],
  ['instances', 'list', '--json'],
])('loads for %s %s only modules that a request needs', async (...argv) => {
  // The second run already knows the instance, so it has nothing to store.
  await loaded('instances', 'get', ID, '--json');
  const { bytes, modules, opened } = await loaded(...argv);
  expect(opened).toEqual([]);
  expect(bytes).toBeLessThan(REQUEST_BYTES);
  // A list compares the key's fingerprint with its account, so that a changed key hides nothing.
  const hashes = argv[1] === 'list' ? ['crypto'] : [];
  // Excludes assert, querystring, fs/promises, http, https, tls, http2, dns, zlib, readline
  // and child_process.
  const allowed =
    /^(diagnostics_channel|events|net|os|process|stream|stream\/promises|string_decoder|timers\/promises|tty|v8|vm|perf_hooks|util\/types|async_hooks)$/;
  expect(modules.filter((name) => !allowed.test(name))).toEqual(hashes);
});

const major = Number(process.versions.node.split('.')[0]);

// Node 20 would optimize the parser in the background, and wait for that at exit. With changed
// flags, Node recompiles each of its own modules that it loads.
test('sets V8 flags only for the response parser, and only on Node 20', async () => {
  const { flags, loaded } = await told('tell-flags.cjs', ['instances', 'get', ID, '--json']);
  const names = ['wasm-lazy-compilation', 'wasm-dynamic-tiering', 'wasm-tier-up'];
  const changes = [...names.map((name) => `--no-${name}`), ...names.map((name) => `--${name}`)];
  expect(flags).toEqual(major === 20 ? changes : []);
  expect(loaded).toEqual([]);
});
