import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createJobWorld, type JobWorld } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { PROGRAM, RUNNER } from '../support/program.ts';
import { openPty, type Pty } from '../support/pty.ts';
import { until } from '../support/ssh-world.ts';
import { pause } from '../support/terminal.ts';

const SIZE = 3_000_000;
const SCRIPT = `mkdir results; echo 1 >results/x; head -c ${SIZE} /dev/zero; echo err >&2; exit 3`;
const [CTRL_S, CTRL_Q] = ['\u0013', '\u0011'];

let world: JobWorld;
let terminal: Pty | undefined;

const command = () => [...world.words('--fetch', 'results'), '--', 'sh', '-c', SCRIPT];
const isDone = () =>
  world.status() === 'TERMINATING' && existsSync(join(world.computer.home, 'results', 'x'));

/** Starts the program with a stdout that nobody reads. */
function unread(argv: readonly string[]) {
  const child = world.computer.start(argv, { env: world.env });
  child.stderr.resume();
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const read = async () => {
    let size = 0;
    for await (const chunk of child.stdout) size += chunk.length;
    return size;
  };
  return { child, ended, read };
}

/** Starts the program in a terminal, which can be stopped. */
function inTerminal(argv: readonly string[]) {
  const { computer, env } = world;
  let text = '';
  terminal = openPty({
    program: RUNNER,
    args: [PROGRAM, ...argv],
    env: { ...computer.env, ...env, TERM: 'xterm-256color' },
    cwd: computer.home,
    cols: 80,
    rows: 24,
    name: 'xterm-256color',
    onData(more) {
      text += more;
    },
  });
  return { terminal, text: () => text };
}

describe('a reader that does not read', needs('ssh'), () => {
  beforeEach(async () => {
    world = await createJobWorld();
  });
  afterEach(async () => {
    terminal?.kill('SIGKILL');
    terminal = undefined;
  });

  test('delays neither the results nor the end of the instance, and gets each byte', async () => {
    const { child, ended, read } = unread(command());
    await until(isDone);
    expect(child.exitCode).toBe(null);
    expect(await read()).toBe(SIZE);
    expect(await ended).toBe(3);
  });

  test('no longer holds a finished run after SIGINT', async () => {
    const { child, ended, read } = unread(command());
    await until(isDone);
    await pause(500);
    child.kill('SIGINT');
    await once(child, 'exit');
    expect(await read()).toBeLessThan(SIZE);
    expect(await ended).toBe(130);
  });

  test('does not hold a running command after SIGTERM', async () => {
    const script = `head -c ${SIZE} /dev/zero; sleep 60`;
    const { child, ended, read } = unread([...world.words(), '--', 'sh', '-c', script]);
    await once(child.stdout, 'readable');
    child.kill('SIGTERM');
    await once(child, 'exit');
    await read();
    expect(await ended).toBe(143);
    expect(world.status()).toBe('TERMINATING');
  });

  test('does not hold jobs attach', async () => {
    const { code } = await world.run(
      ['--fetch', 'results', '--detach', '--unenforced'],
      ['sh', '-c', SCRIPT],
    );
    expect(code).toBe(0);
    const argv = ['jobs', 'attach', 'job', ...world.signIn];
    const { ended, read } = unread(argv);
    await until(isDone);
    expect(await read()).toBe(SIZE);
    expect(await ended).toBe(3);
  });

  test('may be a stopped terminal', async () => {
    const { terminal, text } = inTerminal([
      ...[...world.words('--fetch', 'results'), '--', 'sh'],
      ...[
        '-c',
        `echo be"g"un; sleep 2; ${SCRIPT.replace('/dev/zero', '/dev/zero | tr "\\0" "."')}`,
      ],
    ]);
    await until(() => text().includes('begun'));
    terminal.write(CTRL_S);
    await until(isDone);
    const before = text().length;
    await pause(500);
    expect(text().length).toBe(before);
    terminal.write(CTRL_Q);
    expect(await terminal.ended).toMatchObject({ exitCode: 3 });
    expect(text().split('.').length).toBeGreaterThan(SIZE);
    expect(text()).toContain('Terminated job');
  });

  test('may be a stopped terminal at SIGTERM', async () => {
    const script = 'echo be"g"un; sleep 1; while :; do echo more; sleep 0.01; done';
    const { terminal, text } = inTerminal([...world.words(), '--', 'sh', '-c', script]);
    await until(() => text().includes('begun'));
    terminal.write(CTRL_S);
    await pause(4_000);
    process.kill(terminal.pid, 'SIGTERM');
    await until(() => world.status() === 'TERMINATING');
    await until(() => !isAlive(terminal.pid));
    terminal.write(CTRL_Q);
    expect(await terminal.ended).toMatchObject({ exitCode: 143 });
  });

  test('may be a stopped terminal at the deadline', async () => {
    const script = 'echo be"g"un; sleep 1; while :; do echo more; sleep 0.01; done';
    const words = world.words('--terminate-after', '10s', '--grace', '0s');
    const { terminal, text } = inTerminal([...words, '--', 'sh', '-c', script]);
    await until(() => text().includes('begun'));
    terminal.write(CTRL_S);
    await until(() => world.status() === 'TERMINATING');
    terminal.write(CTRL_Q);
    expect(await terminal.ended).toMatchObject({ exitCode: 125 });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
