import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { openPty } from './pty.ts';

/** Simulates a busy computer by blocking reads until the program has exited. */
function block(pid: number): void {
  const until = performance.now() + 10_000;
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    if (performance.now() > until) throw new Error('the program goes on');
  }
}

// A pty must buffer all bytes, or the program can't exit before they are read.
test.each([3_000, 6_000, 9_000])('reads all %i bytes after the program exits', async (size) => {
  let text = '';
  const child = openPty({
    program: process.execPath,
    args: ['-e', `process.stdout.write('x'.repeat(${size}) + 'end'); process.exitCode = 3`],
    env: {},
    cwd: tmpdir(),
    cols: 80,
    rows: 24,
    name: 'xterm',
    onData: (part) => {
      text += part;
    },
  });
  block(child.pid);
  expect(await child.ended).toEqual({ exitCode: 3, signal: 0 });
  expect(text).toBe(`${'x'.repeat(size)}end`);
});
