import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Checks the last lines of a run, since logs often keep only these.

const root = join(import.meta.dirname, '../..');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpucloud-test-'));
  writeFileSync(
    join(folder, 'some.test.js'),
    `test('holds', () => {});
     test('needs zsh', { skip: true, meta: { lacks: 'zsh' } }, () => {});
     describe('sums', () => { test('do not add up', () => { expect(1 + 1).toBe(3); }); });`,
  );
  writeFileSync(
    join(folder, 'hook.test.js'),
    `beforeAll(() => { throw new Error('no service'); });
     test('is never reached', () => {});`,
  );
  writeFileSync(join(folder, 'broken.test.js'), `import './missing.js'; test('a', () => {});`);
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const argv = [vitest, 'run', '--globals', '--root', folder, '--reporter=json'];
  spawnSync(process.execPath, [...argv, '--outputFile.json=node-1.json'], { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true }));

function counts(...files: string[]): string[] {
  const argv = [join(root, 'scripts/counts.mjs'), ...files];
  return execFileSync(process.execPath, argv, { cwd: folder, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
}

test('prints the run, file, name and reason of each failure, then the counts', () => {
  const lines = counts('node-1.json');
  expect(lines.at(-2)).toBe('not tested here: zsh 1');
  expect(lines.at(-1)).toBe('1 passed, 3 failed, 2 skipped');
  const at = lines.indexOf('failed (node-1): some.test.js: sums do not add up');
  expect(lines[at + 1]).toBe('  AssertionError: expected 2 to be 3 // Object.is equality');
  expect(lines.filter((line) => line.startsWith('failed'))).toHaveLength(3);
});

test('reports a file whose tests could not start', () => {
  const lines = counts('node-1.json');
  const hook = lines.findIndex((line) => line.startsWith('failed (node-1): hook.test.js: '));
  expect(lines[hook + 1]).toContain('no service');
  const broken = lines.findIndex((line) => line.startsWith('failed (node-1): broken.test.js: '));
  expect(lines[broken + 1]).toContain('missing.js');
});

test('counts a run without a result as failed', () => {
  expect(counts('node-1.json', 'never.json').at(-1)).toBe('1 passed, 4 failed, 2 skipped');
  expect(counts('never.json')).toEqual([
    'failed (never): it left no result',
    'not tested here: nothing',
    '0 passed, 1 failed, 0 skipped',
  ]);
});

test('counts an error outside any test as failed, although every test passed', () => {
  const late = mkdtempSync(join(tmpdir(), 'gpucloud-test-'));
  writeFileSync(
    join(late, 'late.test.js'),
    `test('holds', async () => {
       process.nextTick(() => { throw new Error('nobody waited'); });
       await new Promise((done) => setTimeout(done, 50));
     });`,
  );
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const summary = join(root, 'scripts/summary.mjs');
  const reporters = [`--reporter=${summary}`, '--reporter=json', '--outputFile.json=node-1.json'];
  const argv = [vitest, 'run', '--globals', '--root', late, ...reporters];
  expect(spawnSync(process.execPath, argv, { cwd: late }).status).toBe(1);
  const lines = execFileSync(process.execPath, [join(root, 'scripts/counts.mjs'), 'node-1.json'], {
    cwd: late,
    encoding: 'utf8',
  }).split('\n');
  rmSync(late, { recursive: true });
  expect(lines[0]).toBe('failed (errors): coverage/errors.log: outside any test');
  expect(lines[1]).toContain('nobody waited');
  expect(lines.at(-2)).toBe('1 passed, 1 failed, 0 skipped');
});
