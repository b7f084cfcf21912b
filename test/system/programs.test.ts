import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type Running,
  type SignalGroup,
  startPiped,
  startProgram,
} from '../../src/system/programs.ts';
import { needs } from '../support/needs.ts';
import { outcomeOf } from '../support/program.ts';
import { turns, until } from '../support/until.ts';

// Runs real programs. A wait that never finishes fails at the test's time limit.

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpucloud-programs-'));
});
/** IDs of background processes to kill. */
const left: number[] = [];
afterEach(async () => {
  for (const id of left.splice(0)) process.kill(id, 'SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

interface Heard {
  readonly running: Running;
  readonly said: () => string;
  /** Resolves when the output matches. */
  says(pattern: RegExp): Promise<void>;
}

async function hear(script: string, timeout?: number): Promise<Heard> {
  let said = '';
  let listen: () => void = () => undefined;
  const running = await startProgram({
    file: 'sh',
    args: ['-c', script],
    env: { ...process.env, FOLDER: folder },
    ...(timeout === undefined ? {} : { timeout }),
    hear(text) {
      said += text;
      listen();
    },
  });
  return {
    running,
    said: () => said,
    says: (pattern) =>
      new Promise((resolve) => {
        listen = () => {
          if (pattern.test(said)) resolve();
        };
        listen();
      }),
  };
}

const DEAF = "trap '' INT TERM HUP; echo ready; while :; do sleep 0.05; done";

describe('a program with a background child', () => {
  test('reports the exit code and all output when the program itself exits', async () => {
    const { running, said } = await hear(
      'sleep 1000 & echo $!; head -c 60000 /dev/zero | tr "\\0" x; echo last >&2; exit 3',
    );
    expect(await running.ended).toBe(3);
    left.push(Number.parseInt(said(), 10));
    expect(said().match(/x/g)).toHaveLength(60_000);
    expect(said()).toContain('last\n');
    expect(running.isLate).toBe(false);
  });

  test('stops reading once the program exits', async () => {
    const { running, said } = await hear(
      `trap '' PIPE; (while echo more; do sleep 0.01; done; echo > "$FOLDER/unheard") 2>&- & echo first`,
    );
    expect(await running.ended).toBe(0);
    const then = said();
    // The child creates this file once its output pipe is closed.
    await until(() => existsSync(join(folder, 'unheard')));
    expect(said()).toBe(then);
  });

  test("lets gpucloud exit while the program's background child still runs", async () => {
    const child = ours(`
      const { ended } = await startProgram({
        file: 'sh',
        args: ['-c', 'sleep 1000 & echo $!'],
        env: process.env,
        hear: (text) => process.stdout.write(text),
      });
      console.log(await ended);`);
    const { code, stdout } = await outcomeOf(await child);
    left.push(Number.parseInt(stdout, 10));
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\n0\n$/) });
  });
});

describe('a program that ignores signals', () => {
  test('kills a program that ignores signals when it times out', async () => {
    const { running } = await hear(DEAF, 500);
    const { running: punctual } = await hear('exit 3', 1_000);
    expect(await punctual.ended).toBe(3);
    expect(await running.ended).toBeGreaterThan(128);
    // By now, both time limits are over.
    expect([running.isLate, punctual.isLate]).toEqual([true, false]);
  });

  test('kills a program that ignores signals a second after the first signal', async () => {
    const { running, says } = await hear(DEAF);
    await says(/ready/);
    running.kill('SIGINT');
    expect(await running.ended).toBe(137);
    expect(running.isLate).toBe(false);
  });

  test.each(['INT', 'TERM', 'HUP'] as const)('lets a program react to SIG%s', async (signal) => {
    const { running, says } = await hear(
      `trap 'exit 7' ${signal}; echo ready; while :; do sleep 0.05; done`,
    );
    await says(/ready/);
    running.kill(`SIG${signal}`);
    expect(await running.ended).toBe(7);
  });

  test('kills a program immediately at the second signal', async () => {
    const { running, says } = await hear(DEAF);
    await says(/ready/);
    // If each signal counted as the first, this test would never end.
    const again = setInterval(() => running.kill('SIGINT'), 100);
    expect(await running.ended).toBe(137);
    clearInterval(again);
  });

  test('does not kill a program that shares the terminal', async () => {
    const running = await startProgram({
      file: 'sh',
      args: [
        '-c',
        `trap 'n=$((n + 1)); [ $n = 3 ] && exit 7' INT; echo > "$0"; while :; do sleep 0.05; done`,
        join(folder, 'ready'),
      ],
      env: process.env,
    });
    await until(() => existsSync(join(folder, 'ready')));
    const again = setInterval(() => running.kill('SIGINT'), 150);
    expect(await running.ended).toBe(7);
    clearInterval(again);
  });
});

test(
  "stops waiting for a program of another user that can't be killed",
  needs('another user'),
  async () => {
    // Simulates sudo, which not even SIGKILL can end.
    const sudo = join(folder, 'sudo');
    await chmod(folder, 0o755);
    await copyFile('/bin/bash', sudo);
    await chmod(sudo, 0o4755);
    const child = await ours(
      `
      const { ended, kill } = await startProgram({
        file: ${JSON.stringify(sudo)},
        args: ['-p', '-c', 'exec setpriv --reuid=0 sh -c "echo \\\\$\\\\$; exec sleep 1000"'],
        env: process.env,
        hear(text) {
          process.stdout.write(text);
          kill('SIGINT');
        },
      });
      console.log(await ended);`,
      { uid: 65_534 },
    );
    const { code, stdout, stderr } = await outcomeOf(child);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\n137\n$/),
      stderr: '',
    });
    left.push(Number.parseInt(stdout, 10));
  },
);

test('signals no process group on Windows, which has none', async () => {
  const signals: unknown[] = [];
  const signalGroup: SignalGroup = (...signal) => signals.push(signal) < 0;
  const program = { file: '/bin/sh', args: ['-c', 'exit 3'], env: process.env, signalGroup };
  const { stdout, stderr, ended, kill } = await startPiped(program, 'win32');
  for (const stream of [stdout, stderr]) stream.resume();
  expect(await ended).toBe(3);
  kill();
  expect(signals).toEqual([]);
});

test('rejects with ENOENT for a missing program, even after a signal', async () => {
  const running = await startProgram({
    file: 'no-such-program',
    args: [],
    env: process.env,
    timeout: 1_000,
    hear: () => undefined,
  });
  running.kill('SIGINT');
  // Nobody needs to wait for the program.
  await turns();
  await expect(running.ended).rejects.toMatchObject({ code: 'ENOENT' });
});

test.each([
  ['captured', () => undefined],
  ['inherited', undefined],
])('sends no signal to a missing program with %s output', async (_what, hear) => {
  // Without a process ID, the signal would reach this process group.
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  const program = { file: 'no-such-program', args: [], env: process.env };
  const running = await startProgram({ ...program, ...(hear && { hear }) });
  running.kill('SIGINT');
  running.kill('SIGINT');
  // Nobody needs to wait for the program.
  await turns();
  await expect(running.ended).rejects.toMatchObject({ code: 'ENOENT' });
  expect(kill).not.toHaveBeenCalled();
});

/** Starts a process that runs `lines` and then exits. */
async function ours(lines: string, { uid, bin }: { uid?: number; bin?: string } = {}) {
  const outfile = join(folder, 'ours.mjs');
  await build({
    stdin: {
      contents: `import { openFile, startProgram } from './src/system/programs.ts';\n${lines}`,
      resolveDir: new URL('../..', import.meta.url).pathname,
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return spawn(process.execPath, [outfile], {
    env: { PATH: `${bin === undefined ? '' : `${bin}:`}${process.env.PATH}` },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
}

test.each([
  ['exits with 0', 'sleep 0.1', 'true\n'],
  ['fails', 'exit 3', 'false\n'],
])('reports whether the default program %s', needs('Linux'), async (_how, script, said) => {
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  // gpucloud serves the page until the program has exited.
  const lines = `
    const serving = setInterval(() => undefined, 1_000);
    console.log(await openFile('a.html'));
    clearInterval(serving);`;
  const child = await ours(lines, { bin: folder });
  expect(await outcomeOf(child)).toMatchObject({ code: 0, stdout: said, stderr: '' });
});

describe('a program with a process group of its own', () => {
  const signalGroup: SignalGroup = (group, signal) => {
    try {
      return process.kill(-group, signal);
    } catch {
      return false;
    }
  };
  const start = (line: string) =>
    startPiped(
      { file: '/bin/sh', args: ['-c', line], env: process.env, signalGroup },
      process.platform,
    );
  const textOf = async (stream: AsyncIterable<Uint8Array>) => {
    let text = '';
    for await (const chunk of stream) text += Buffer.from(chunk).toString();
    return text;
  };
  const isAlive = (pid: number) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  test('ends with what it started, which ignores SIGTERM and keeps the streams open', async () => {
    const program = await start(`(trap '' TERM HUP; echo $$; sleep 60) & echo said; exit 3`);
    const said = await textOf(program.stdout);
    expect(said).toContain('said');
    expect(await program.ended).toBe(3);
    await expect.poll(() => isAlive(-Number(program.pid)), { timeout: 5_000 }).toBe(false);
  });

  test('may leave its input unread', async () => {
    const program = await start('exec <&-; echo; sleep 0.1; exit 3');
    await once(program.stdout, 'readable');
    program.stdin.write('x');
    expect(await program.ended).toBe(3);
  });

  test('kills the whole group', async () => {
    const program = await start('sleep 60 & sleep 60');
    program.kill();
    expect(await program.ended).toBe(128 + 15);
    expect(await textOf(program.stdout)).toBe('');
    await expect.poll(() => isAlive(-Number(program.pid)), { timeout: 5_000 }).toBe(false);
  });

  const atIntervals = () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  };

  test('ends the output that a process of another session keeps open', needs('Linux'), async () => {
    atIntervals();
    const up = join(folder, 'up');
    const other = `setsid sh -c 'echo $$; echo >${up}; exec sleep 1000'`;
    const program = await start(`${other} & until [ -e ${up} ]; do sleep 0.05; done; exit 3`);
    await once(program.stdout, 'readable');
    expect(await program.ended).toBe(3);
    vi.advanceTimersByTime(4_000);
    const said = await textOf(program.stdout);
    left.push(Number.parseInt(said, 10));
    expect(said).toMatch(/^\d+\n$/);
  });

  test('gives a slow reader all the output', async () => {
    atIntervals();
    const program = await start('head -c 80000 /dev/zero');
    expect(await program.ended).toBe(0);
    vi.advanceTimersByTime(60_000);
    let count = 0;
    for await (const chunk of program.stdout) count += chunk.length;
    expect(count).toBe(80_000);
  });
});
