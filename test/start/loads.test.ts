import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// What a command may load, so that a careless import turns this red and not some benchmark: the
// modules of Node that are loaded, and the bytes of source that are compiled of the bundle.

const TELL = `
const vm = require('node:vm');
const known = new Set(process.moduleLoadList);
let bytes = 0;
const Script = vm.Script;
vm.Script = class extends Script {
  constructor(source, how) {
    super(source, how);
    bytes += source.length;
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
  require('node:fs').writeSync(2, JSON.stringify({ bytes, modules, opened }) + '\\n');
});
`;

let at: Installation;
let service: Service;
beforeEach(async () => {
  at = await install();
  await writeFile(join(at.root, 'tell.cjs'), TELL);
  const machine = { id: ID, name: 'trainer', status: 'ACTIVE' };
  service = await startService(({ path }) => ({
    status: 200,
    body: { status: 'success', code: 200, data: path.startsWith('/instances/') ? machine : [] },
  }));
});
afterEach(async () => {
  await service.close();
  await at.remove();
});

const ID = '11111111-2222-4333-8444-555555555555';

interface Loaded {
  readonly bytes: number;
  readonly modules: string[];
  /** The streams of the process that were opened. */
  readonly opened: string[];
}

async function loaded(...argv: string[]): Promise<Loaded> {
  const { code, stderr } = await at.run(argv, {
    env: {
      NODE_OPTIONS: `--require ${join(at.root, 'tell.cjs')}`,
      GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
      GPUCLOUD_BASE_URL: service.url,
    },
  });
  expect(code).toBe(0);
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
}

test('--version compiles nothing of the bundle', async () => {
  const { bytes, modules } = await loaded('--version');
  expect(bytes).toBe(0);
  expect(modules.filter((name) => !['vm', 'os'].includes(name))).toEqual([]);
});

test('--help compiles the core alone, and opens no stream', async () => {
  const { bytes, modules, opened } = await loaded('--help');
  expect(opened).toEqual([]);
  expect(bytes).toBeLessThan(130_000);
  expect(modules.filter((name) => !['vm', 'os', 'process'].includes(name))).toEqual([]);
});

test('the help of a group compiles that group', async () => {
  const { bytes, modules } = await loaded('instances', '--help');
  expect(bytes).toBeLessThan(500_000);
  expect(modules.filter((name) => !['vm', 'os', 'process'].includes(name))).toEqual([]);
});

test.each([
  ['instances', 'get', ID, '--json'],
  ['instances', 'list', '--json'],
])('%s %s loads what requests need', async (...argv) => {
  // The second run knows the machine, and has nothing new to keep.
  await loaded('instances', 'get', ID, '--json');
  const { bytes, modules, opened } = await loaded(...argv);
  expect(opened).toEqual([]);
  expect(bytes).toBeLessThan(850_000);
  // No crypto, assert, querystring, fs/promises, http, https, tls, http2, dns, zlib, readline or child_process.
  const allowed =
    /^(diagnostics_channel|events|net|os|process|stream|stream\/promises|string_decoder|timers\/promises|tty|v8|vm|perf_hooks|util\/types|async_hooks)$/;
  expect(modules.filter((name) => !allowed.test(name))).toEqual([]);
});
