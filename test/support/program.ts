import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ASK_KEYRING } from '../../src/system/self.ts';
import { afterwards, removeFolder } from './afterwards.ts';

const EXECUTABLE = process.env.GPUCLOUD_PROGRAM;

/** Whether the tests run the executable: `GPUCLOUD_PROGRAM=dist/exe/gpucloud`. */
export const isExecutable = EXECUTABLE !== undefined;

/** The built program. */
export const PROGRAM =
  EXECUTABLE === undefined
    ? fileURLToPath(new URL('../../bin/gpucloud.js', import.meta.url))
    : resolve(EXECUTABLE);

/** The command that runs the program: Node, or `env`, since the executable needs none. */
export const RUNNER = isExecutable ? '/usr/bin/env' : process.execPath;

/** The command that accesses the system keyring. */
export const ASKS_KEYRING: readonly string[] = isExecutable
  ? [RUNNER, PROGRAM, ASK_KEYRING]
  : [RUNNER, fileURLToPath(new URL('../../dist/keyring.cjs', import.meta.url))];

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A computer for the built program: folders and an environment without the developer's settings.
 */
export interface Computer {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs the built program to its end. */
  gpucloud(argv: readonly string[], options?: RunOptions): Promise<Outcome>;
  /** Starts the built program and leaves it running. */
  start(argv: readonly string[], options?: RunOptions): ChildProcessWithoutNullStreams;
  /** Runs a bash line in which `gpucloud` is the built program. */
  bash(line: string, options?: RunOptions): Promise<Outcome>;
  remove(): Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

export async function createComputer(program = PROGRAM): Promise<Computer> {
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-e2e-'));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GPUCLOUD_CONFIG_DIR: join(home, 'config'),
    GPUCLOUD_STATE_DIR: join(home, 'state'),
  };
  // All computers share the compiled code: storing it for each would take longer than most commands.
  // test/start tests the code cache.
  await mkdir(join(home, 'state', 'cache'), { recursive: true, mode: 0o700 });
  await symlink(
    join(process.env.GPUCLOUD_TEST_FOLDER ?? '', 'code'),
    join(home, 'state', 'cache', 'code'),
  );
  const started: ChildProcessWithoutNullStreams[] = [];
  const start = (argv: readonly string[], options: RunOptions = {}) => {
    const child = spawn(RUNNER, [program, ...argv], {
      env: { ...env, ...options.env },
      cwd: home,
    });
    started.push(child);
    return child;
  };
  return {
    home,
    env,
    start,
    gpucloud: (argv, options = {}) => outcomeOf(start(argv, options), options.stdin),
    bash: (line, options = {}) =>
      outcomeOf(
        spawn(
          'bash',
          ['-c', `gpucloud() { "$GPUCLOUD_NODE" "$GPUCLOUD_PROGRAM" "$@"; }; ${line}`],
          {
            env: {
              ...env,
              ...options.env,
              GPUCLOUD_NODE: RUNNER,
              GPUCLOUD_PROGRAM: program,
            },
            cwd: home,
          },
        ),
        options.stdin,
      ),
    remove: afterwards(async () => {
      // Kills programs that a failed test left running: a `run` would reconnect for an hour.
      for (const child of started) child.kill('SIGKILL');
      await removeFolder(home);
    }),
  };
}

/** Waits until a process ends, and returns its output. */
export async function outcomeOf(
  child: ChildProcessWithoutNullStreams,
  stdin?: string,
): Promise<Outcome> {
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}

/** Waits until a process prints a match. */
export function heard(
  child: ChildProcessWithoutNullStreams,
  stream: 'stdout' | 'stderr',
  pattern: RegExp,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child[stream].setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (pattern.test(text)) resolve(text);
    });
    child.on('close', () => reject(new Error(`the process ended and had only said: ${text}`)));
  });
}
