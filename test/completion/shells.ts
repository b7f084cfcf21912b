import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programAt } from '../support/needs.ts';
import { type Computer, createComputer, PROGRAM, RUNNER } from '../support/program.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

export const COMPLETIONS = fileURLToPath(new URL('../../completions/', import.meta.url));

export type Known = 'bash' | 'zsh' | 'fish';

const FILES = { bash: 'gpucloud.bash', zsh: '_gpucloud', fish: 'gpucloud.fish' } as const;

/** Ignores the user's shell settings, and sets a prompt that tests can wait for. */
const STARTS: Readonly<Record<Known, { args: readonly string[]; before: string }>> = {
  bash: { args: ['--norc', '--noprofile', '-i'], before: "PS1='ready> '; " },
  zsh: { args: ['-f', '-i'], before: "PS1='ready> '; autoload -Uz compinit; compinit -D -u; " },
  fish: {
    args: ['--no-config', '-i'],
    before: "function fish_prompt; echo -n 'ready> '; end; function fish_greeting; end; ",
  },
};

/** Matches the prompt of {@link STARTS} on an empty line. */
const READY = /^ready>$/;

/** A shell with an empty prompt. */
export interface ReadyShell extends Terminal {
  /** Waits until the shell has run its input and shows an empty prompt. */
  ready(): Promise<string>;
  /** Clears the typed text. */
  clearLine(): Promise<string>;
}

interface World {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a shell in a terminal with its script from completions/, then runs `also`. */
export function completingShell(shell: Known, world: World, also = ''): Promise<ReadyShell> {
  return openShell(shell, world, `source '${join(COMPLETIONS, FILES[shell])}'; ${also}`);
}

/** Starts a shell that loads completions from the system's folders. */
export function freshShell(shell: Known, world: World): Promise<ReadyShell> {
  const finds = shell === 'bash' ? 'source /usr/share/bash-completion/bash_completion;' : '';
  // fish loads installed completions only with its configuration.
  return openShell(shell, world, finds, shell === 'fish' ? ['-i'] : STARTS[shell].args);
}

async function openShell(
  shell: Known,
  world: World,
  commands: string,
  args = STARTS[shell].args,
): Promise<ReadyShell> {
  const { before } = STARTS[shell];
  const opened = openTerminal({
    program: programAt(shell) ?? shell,
    args,
    env: { ...world.env, HISTFILE: '/dev/null' },
    cwd: world.home,
    columns: 120,
    rows: 60,
  });
  // Waits for the shell's prompt, since the terminal would echo earlier input.
  await opened.prompts(/[$%#>]$/);
  opened.type(`${before}${commands} clear\r`);
  const ready = () => opened.prompts(READY);
  await ready();
  return {
    ...opened,
    ready,
    clearLine() {
      opened.type('\u0015');
      return ready();
    },
  };
}

/** Creates a computer with the built program on PATH, since the scripts run it. */
export async function computerWithProgram(): Promise<Computer> {
  const computer = await createComputer();
  const bin = join(computer.home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'gpucloud'), `#!/bin/sh\nexec '${RUNNER}' '${PROGRAM}' "$@"\n`);
  await chmod(join(bin, 'gpucloud'), 0o755);
  Object.assign(computer.env, { PATH: `${bin}${delimiter}${computer.env.PATH}` });
  return computer;
}
