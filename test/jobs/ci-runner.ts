import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Outcome, outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import { IMAGE, type JobWorld, KEY_ID, OFFER } from './job-world.ts';
import { readOutput, type WorkflowCommand } from './workflow-commands.ts';

const ACTION = fileURLToPath(new URL('../../action/', import.meta.url));

/** A CI runner with `gpucloud` on PATH, and the files from which GitHub's runner reads values. */
export interface CiRunner {
  readonly env: Readonly<Record<string, string>>;
  /** Starts a new step's main in its own process group, since the runner kills a whole tree. */
  startMain(inputs: Inputs, env?: Readonly<Record<string, string>>): ChildProcessWithoutNullStreams;
  main(inputs: Inputs, env?: Readonly<Record<string, string>>): Promise<Step>;
  post(env?: Readonly<Record<string, string>>): Promise<Step>;
  outputs(): Promise<Record<string, string>>;
  state(): Promise<Record<string, string>>;
  /** Returns every gpucloud command line so far. */
  commandLines(): Promise<string>;
}

/** `stdout` contains only the lines that the runner shows in its log. */
interface Step extends Outcome {
  readonly obeyed: readonly WorkflowCommand[];
}

type Inputs = Readonly<Record<string, string>>;

/** Kills main and its child processes, as a runner does about ten seconds after a job is cancelled. */
export async function killed(main: ChildProcessWithoutNullStreams): Promise<void> {
  const closed = new Promise((resolve) => main.once('close', resolve));
  process.kill(-(main.pid ?? 0), 'SIGKILL');
  await closed;
}

/** A command that prints `up` and keeps running. */
export const LASTS = 'echo up; sleep 60';

export async function createCiRunner({ computer, env, clientKey }: JobWorld): Promise<CiRunner> {
  const { home } = computer;
  const folder = join(home, 'programs');
  await mkdir(folder);
  const program = join(folder, 'gpucloud');
  // Ignores the developer's ssh config.
  const words = '[ "$1" != run ] || { shift; set -- run --ssh-arg=-F/dev/null "$@"; }';
  const typed = join(home, 'command-lines');
  const lines = [
    '#!/bin/sh',
    `printf '%s\\n' "$*" >>'${typed}'`,
    words,
    `exec '${RUNNER}' '${PROGRAM}' "$@"`,
  ];
  await writeFile(program, `${lines.join('\n')}\n`);
  await chmod(program, 0o755);
  const [state, output] = [join(home, 'github-state'), join(home, 'github-output')];
  let printed = '';
  const given = {
    ...computer.env,
    ...env,
    PATH: `${folder}:${computer.env.PATH}`,
    RUNNER_TEMP: home,
    GITHUB_RUN_ID: '4711',
    GITHUB_STATE: state,
    GITHUB_OUTPUT: output,
  };
  const required = {
    offer: OFFER,
    image: IMAGE,
    'ssh-key': KEY_ID,
    identity: clientKey,
    'terminate-after': '1h',
  };
  const start = (script: string, more: Readonly<Record<string, string>>) =>
    spawn(process.execPath, [join(ACTION, script)], {
      env: { ...given, ...more },
      cwd: home,
      detached: true,
    });
  const startMain = (inputs: Inputs, more: Readonly<Record<string, string>> = {}) => {
    printed = '';
    for (const file of [state, output]) writeFileSync(file, '');
    const typed = prefixed('INPUT_', { ...required, ...inputs }, true);
    const main = start('main.mjs', { ...more, ...typed });
    for (const stream of [main.stdout, main.stderr]) {
      stream.on('data', (chunk: Buffer | string) => {
        printed += String(chunk);
      });
    }
    return main;
  };
  const runner = {
    env: given,
    startMain,
    async main(inputs: Inputs, more: Readonly<Record<string, string>> = {}) {
      return asStep(await outcomeOf(startMain(inputs, more)));
    },
    async post(more: Readonly<Record<string, string>> = {}) {
      const states = prefixed('STATE_', await runner.state(), false);
      return asStep(await outcomeOf(start('post.mjs', { ...states, ...more })));
    },
    outputs: async () => ({ ...valuesOf('set-output', printed), ...(await valuesIn(output)) }),
    // GitHub still accepts `::save-state`, so a command's output could set a state.
    state: async () => ({ ...(await valuesIn(state)), ...valuesOf('save-state', printed) }),
    commandLines: () => readFile(typed, 'utf8'),
  };
  return runner;
}

function asStep(outcome: Outcome): Step {
  const { obeyed, log } = readOutput(outcome.stdout);
  return { ...outcome, stdout: log, obeyed };
}

function valuesOf(name: string, printed: string): Record<string, string> {
  const { obeyed } = readOutput(printed);
  return Object.fromEntries(
    obeyed
      .filter((command) => command.name === name)
      .map(({ properties, data }) => [properties.name ?? '', data]),
  );
}

function prefixed(prefix: string, values: Inputs, isUpper: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `${prefix}${isUpper ? name.toUpperCase() : name}`,
      value,
    ]),
  );
}

/** Reads the `name=value` lines of a file. */
async function valuesIn(file: string): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}
