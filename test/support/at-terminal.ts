import { PassThrough } from 'node:stream';
import { type Context, createContext, type GlobalFlags } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import type { Prompts } from '../../src/prompts/prompts.ts';
import { startPiped, startProgram } from '../../src/system/programs.ts';
import { SELF, type World } from './run-cli.ts';

interface Person {
  readonly context: Context;
  /** The questions and the broken rules, in order. */
  readonly said: readonly string[];
  /** The lines printed between questions. */
  readonly printed: readonly string[];
  /** The output on stdout and stderr so far. */
  stdout(): string;
  stderr(): string;
}

/** Types these texts as replies in turn, then cancels. */
export function atTerminal(
  world: World,
  answers: readonly string[],
  flags: GlobalFlags = {},
): Person {
  const left = [...answers];
  const said: string[] = [];
  const printed: string[] = [];

  async function ask(
    question: string,
    check?: (text: string) => string | undefined,
  ): Promise<string> {
    said.push(question);
    for (let text = left.shift(); text !== undefined; text = left.shift()) {
      const rule = check?.(text);
      if (rule === undefined) return text;
      said.push(`> ${rule}`);
    }
    throw new CliError('interrupted', 'the question was left without an answer');
  }

  const prompts: Prompts = {
    text: (question, options) => ask(question, options?.check),
    secret: ask,
    confirm: async (question) => (await ask(question)) === 'yes',
    print: (text) => void printed.push(text),
    chooseSeveral: () => Promise.reject(new Error('no choice of several is asked for here')),
    choose: () => Promise.reject(new Error('no choice is asked for here')),
  };
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text;
  });
  stderr.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text;
  });
  const never = new AbortController().signal;
  const context = createContext(
    {
      stdin: new PassThrough(),
      stdout,
      stderr,
      env: world.env,
      clock: world.clock,
      home: world.home,
      platform: 'linux',
      pid: 4242,
      parent: 4141,
      self: () => SELF,
      isAlive: (pid) => pid === 4141,
      start: startProgram,
      startPiped,
      interrupts: { first: never, second: never },
    },
    flags,
    'test',
  );
  return {
    said,
    printed,
    context: { ...context, prompts: async () => prompts },
    stdout: () => written.stdout,
    stderr: () => written.stderr,
  };
}
