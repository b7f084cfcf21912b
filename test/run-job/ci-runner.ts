import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Outcome, outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import { IMAGE, type JobWorld, KEY_ID, OFFER } from './job-world.ts';

const ACTION = fileURLToPath(new URL('../../action/', import.meta.url));

/** A CI runner: `gpucloud` on PATH, and the files through which GitHub's runner takes values. */
export interface CiRunner {
  readonly env: Readonly<Record<string, string>>;
  /** Starts main of the action in a process group of its own, as the runner kills a whole tree. */
  startMain(inputs: Inputs): ChildProcessWithoutNullStreams;
  main(inputs: Inputs): Promise<Outcome>;
  post(env?: Readonly<Record<string, string>>): Promise<Outcome>;
  outputs(): Promise<Record<string, string>>;
  state(): Promise<Record<string, string>>;
}

type Inputs = Readonly<Record<string, string>>;

export async function createCiRunner({ computer, env, clientKey }: JobWorld): Promise<CiRunner> {
  const { home } = computer;
  const folder = join(home, 'programs');
  await mkdir(folder);
  const program = join(folder, 'gpucloud');
  // Keeps the developer's ssh_config out.
  const words = '[ "$1" != run ] || { shift; set -- run --ssh-arg=-F/dev/null "$@"; }';
  await writeFile(program, `#!/bin/sh\n${words}\nexec '${RUNNER}' '${PROGRAM}' "$@"\n`);
  await chmod(program, 0o755);
  const [state, output] = [join(home, 'github-state'), join(home, 'github-output')];
  await Promise.all([state, output].map((file) => writeFile(file, '')));
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
  const startMain = (inputs: Inputs) =>
    start('main.mjs', prefixed('INPUT_', { ...required, ...inputs }, true));
  const runner = {
    env: given,
    startMain,
    main: (inputs: Inputs) => outcomeOf(startMain(inputs)),
    async post(more: Readonly<Record<string, string>> = {}) {
      return outcomeOf(
        start('post.mjs', { ...prefixed('STATE_', await runner.state(), false), ...more }),
      );
    },
    outputs: () => valuesIn(output),
    state: () => valuesIn(state),
  };
  return runner;
}

function prefixed(prefix: string, values: Inputs, isUpper: boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `${prefix}${isUpper ? name.toUpperCase() : name}`,
      value,
    ]),
  );
}

/** The lines `name=value` of a file. */
async function valuesIn(file: string): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  );
}
