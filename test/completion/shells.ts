import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programAt } from '../support/needs.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

export const COMPLETIONS = fileURLToPath(new URL('../../completions/', import.meta.url));

export type Known = 'bash' | 'zsh' | 'fish';

const FILES = { bash: 'gpucloud.bash', zsh: '_gpucloud', fish: 'gpucloud.fish' } as const;

/** Ignores the developer's settings, and uses a prompt that can be awaited. */
const STARTS: Readonly<Record<Known, { args: readonly string[]; before: string }>> = {
  bash: { args: ['--norc', '--noprofile', '-i'], before: "PS1='ready> '; " },
  zsh: { args: ['-f', '-i'], before: "PS1='ready> '; autoload -Uz compinit; compinit -D -u; " },
  fish: {
    args: ['--no-config', '-i'],
    before: "function fish_prompt; echo -n 'ready> '; end; function fish_greeting; end; ",
  },
};

/** The prompt of {@link STARTS}, with nothing typed after it. */
const READY = /^ready>$/;

/** A shell at its prompt. */
export interface ReadyShell extends Terminal {
  /** Waits until the shell has run its input and is back at an empty prompt. */
  ready(): Promise<string>;
  /** Clears what was typed. */
  clearLine(): Promise<string>;
}

/** Starts a shell in a terminal with its committed script and the lines of `also`. */
export async function completingShell(
  shell: Known,
  world: { readonly home: string; readonly env: Readonly<Record<string, string>> },
  also = '',
): Promise<ReadyShell> {
  const { args, before } = STARTS[shell];
  const opened = openTerminal({
    program: programAt(shell) ?? shell,
    args,
    env: { ...world.env, HISTFILE: '/dev/null' },
    cwd: world.home,
    columns: 120,
    rows: 60,
  });
  // Waits for the shell's own prompt: the system would echo earlier input.
  await opened.prompts(/[$%#>]$/);
  const script = join(COMPLETIONS, FILES[shell]);
  opened.type(`${before}source '${script}'; ${also} clear\r`);
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

export function script(shell: Known): string {
  return readFileSync(join(COMPLETIONS, FILES[shell]), 'utf8');
}
