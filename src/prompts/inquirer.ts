import type { Readable, Writable } from 'node:stream';
import { CliError } from '../errors.ts';
import { withoutColours } from './colourless.ts';

/** The few forms of question that are asked, in inquirer's words. */
export type Question =
  | {
      type: 'input';
      message: string;
      default?: string;
      validate?: (text: string) => true | string;
    }
  | {
      type: 'password';
      message: string;
      toggleMask: boolean;
      validate?: (text: string) => true | string;
    }
  | { type: 'confirm'; message: string; default: boolean }
  | {
      type: 'select';
      message: string;
      loop: boolean;
      choices: readonly { name: string; value: number }[];
    };

export interface Asked {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  readonly colour: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The way to inquirer, which is loaded at the first question.
 *
 * Left to itself, inquirer never answers once Ctrl-D or the end of stdin has closed its line: the
 * process runs out of things to do and exits with 0. Here both end the question like Ctrl-C.
 */
export function asker({
  stdin,
  stderr,
  colour,
  signal,
}: Asked): (question: Question) => Promise<unknown> {
  return async (question) => {
    if (signal?.aborted) throw leaving(signal.reason);
    if (stdin.readableEnded || stdin.destroyed) throw leaving(undefined);
    const { createPromptModule } = await import('inquirer').then((module) => module.default);

    const gone = new AbortController();
    const leave = () => gone.abort(signal?.aborted ? signal.reason : undefined);
    const onKey = (_text: unknown, key: { ctrl?: boolean; name?: string } | undefined) => {
      if (key?.ctrl === true && key.name === 'd') leave();
    };
    stdin.on('keypress', onKey).on('end', leave).on('close', leave);
    signal?.addEventListener('abort', leave);
    try {
      const prompt = createPromptModule({
        input: stdin,
        output: colour ? stderr : withoutColours(stderr),
        signal: gone.signal,
      });
      const answers: Record<string, unknown> = await prompt([{ ...question, name: 'answer' }]);
      return answers.answer;
    } catch (error) {
      if (isLeaving(error)) throw leaving(gone.signal.reason);
      throw error;
    } finally {
      stdin.off('keypress', onKey).off('end', leave).off('close', leave);
      signal?.removeEventListener('abort', leave);
    }
  };
}

const LEAVINGS = new Set(['ExitPromptError', 'AbortPromptError', 'CancelPromptError']);

function isLeaving(error: unknown): boolean {
  return error instanceof Error && LEAVINGS.has(error.name);
}

function leaving(reason: unknown): CliError {
  if (reason instanceof CliError) return reason;
  return new CliError('interrupted', 'the question was left without an answer');
}
