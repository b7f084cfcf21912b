import { spawnSync } from 'node:child_process';
import { beforeEach, expect, test, vi } from 'vitest';
import { keepHeapSmall } from '../../src/cli/small-heap.ts';

const told = vi.hoisted((): string[] => []);
vi.mock('node:v8', () => ({ setFlagsFromString: (flag: string) => told.push(flag) }));

beforeEach(() => {
  told.length = 0;
});

const nameOf = (flag: string) => flag.split('=')[0];

test('V8 is told to keep both of its rooms small, and in the end what it does by itself', async (task) => {
  const release = await keepHeapSmall('v20.20.2');
  const names = ['--semi-space-growth-factor', '--heap-growing-percent'];
  expect(told.map(nameOf)).toEqual(names);
  const changed = told.splice(0);
  release();
  expect(told.map(nameOf)).toEqual(names);

  task.skip(!process.version.startsWith('v20.'), 'only the V8 of Node 20 is told any of it');
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  // Under any other flags V8 would refuse the code that was kept.
  for (const usual of told) expect(stdout).toContain(`default: ${usual}\n`);
  for (const flag of changed) expect(stdout).not.toContain(`default: ${flag}\n`);
});

test('no other Node is told anything', async () => {
  for (const version of ['v22.23.3', 'v26.10.0', undefined]) (await keepHeapSmall(version))();
  expect(told).toEqual([]);
});
