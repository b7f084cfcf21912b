import { spawn } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import type { World } from '../support/run-cli.ts';
import { errorOf, stderrLines } from '../support/stderr-lines.ts';
import { commandsWhose, prepare } from './tree.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

/** Runs the built program with redirected stdout. */
async function led(command: string, where: string, ...flags: string[]) {
  const { kitchen, argv, stdin, env } = await prepare(command, { isBuilt: true });
  world = kitchen;
  const child = spawn('bash', ['-c', `"$0" "$@" ${where}`, RUNNER, PROGRAM, ...flags, ...argv], {
    env: { PATH: process.env.PATH, HOME: kitchen.home, ...kitchen.env, ...env },
    cwd: kitchen.home,
  });
  return outcomeOf(child, stdin);
}

/** All commands share one write function: an object, a list, and pages. */
const WRITING = ['instances get', 'instances list', 'billing transactions'];

describe('the built program', () => {
  test.each(WRITING)(
    'exits with 9 if %s writes to a full disk',
    needs('/dev/full'),
    async (command) => {
      const { code, stdout, stderr } = await led(command, '> /dev/full', '--json');
      expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
      expect(errorOf(stderr).code).toBe('storage');
    },
  );

  test.each(commandsWhose(({ once }) => once === true))(
    'exits with 9 if nobody reads the one-time output of %s',
    async (command) => {
      const { code, stderr } = await led(command, '> >(exec true)', '--json');
      expect(code).toBe(9);
      expect(errorOf(stderr)).toMatchObject({
        code: 'storage',
        resource: expect.any(String),
      });
    },
  );

  test.each(WRITING)('exits without an error if the reader of %s exits', async (command) => {
    const { code, stderr } = await led(command, '> >(exec true)', '--json');
    expect(code).toBe(0);
    for (const line of stderrLines(stderr)) expect(line).toEqual({ warning: expect.any(Object) });
  });
});
