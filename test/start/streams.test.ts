import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HAS_BASH } from '../faults/tools.ts';
import { type Outcome, outcomeOf } from '../support/program.ts';
import { type Installation, install } from './installation.ts';

// A short result goes out without the stream of stdout being opened. Nobody may notice.

let at: Installation;
let help: string;
beforeEach(async () => {
  at = await install();
  help = (await at.run(['instances', 'create', '--help'])).stdout;
});
afterEach(() => at.remove());

/** Runs a line of bash, in which PROGRAM prints the help of a verb. */
function bash(line: string): Promise<Outcome> {
  const program = `"$0" "${join(at.root, 'bin', 'gpucloud.js')}" instances create --help`;
  const argv = ['--norc', '-c', line.replace('PROGRAM', program), process.execPath];
  return outcomeOf(spawn('bash', argv, { env: at.env, cwd: at.root }));
}

describe.skipIf(!HAS_BASH)('what a run prints', () => {
  test('comes whole through a pipe that is full and waits for nobody', async () => {
    expect(help.length).toBeGreaterThan(4096);
    // dd leaves the pipe with room for less than the text, and in the mode in which a write ends at
    // once; the reader comes late.
    const { code, stdout, stderr } = await bash(
      '{ dd if=/dev/zero bs=64512 count=1 oflag=nonblock status=none; PROGRAM; } | { sleep 0.5; cat; }',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll('\0', '')).toBe(help);
    expect(stdout.length - help.length).toBe(64512);
  });

  test('is cut by a limit to the size of files, and that is told', async () => {
    const { code, stderr } = await bash('ulimit -f 1; PROGRAM > out');
    expect({ code, stderr }).toEqual({
      code: 9,
      stderr: expect.stringMatching(/^error: the result could not be written: EFBIG/),
    });
    expect(await readFile(join(at.root, 'out'), 'utf8')).toBe(help.slice(0, 1024));
  });

  test.each(['> >(exec true)', '> >(head -c 10 > /dev/null)'])(
    'ends quietly where nobody reads on: %s',
    async (where) => {
      const { code, stderr } = await bash(`PROGRAM ${where}`);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    },
  );
});
