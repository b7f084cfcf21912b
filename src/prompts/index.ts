import type { Readable, Writable } from 'node:stream';
import { CliError } from '../errors.ts';
import { wantsColour } from '../output/colour.ts';
import { clean } from '../output/sanitise.ts';
import { asker, type Question } from './inquirer.ts';
import type { Prompts } from './prompts.ts';

export interface PromptsOptions {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number };
  /** For NO_COLOR and its like, where `colour` does not decide. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether stderr gets colours, as `--color` decided it. */
  readonly colour?: boolean;
  /** Takes the question back (a signal to the process); a reason that is a CliError is thrown on. */
  readonly signal?: AbortSignal;
}

/** Questions on stderr, so that stdout keeps to the result even when somebody is asked. */
export function createPrompts(options: PromptsOptions): Prompts {
  const colour = options.colour ?? wantsColour(options.stderr, options.env ?? {}, undefined);
  const ask = asker({ ...options, colour });

  return {
    async text(question, { initial, check } = {}) {
      const form: Question = {
        type: 'input',
        message: clean(question),
        ...(initial === undefined ? {} : { default: initial }),
        ...validation(check),
      };
      return answerOf(await ask(form), 'string');
    },

    async secret(question, check) {
      // inquirer offers a key that shows what is typed; a secret stays out of sight.
      const form: Question = { type: 'password', message: clean(question), toggleMask: false };
      return answerOf(await ask({ ...form, ...validation(check) }), 'string');
    },

    async confirm(question, initial) {
      const answer = await ask({ type: 'confirm', message: clean(question), default: initial });
      return answerOf(answer, 'boolean');
    },

    async choose(question, choices) {
      // The place of a choice is asked for, since a value may be anything.
      const answer = await ask({
        type: 'select',
        message: clean(question),
        loop: false,
        choices: choices.map((choice, place) => ({ name: clean(choice.name), value: place })),
      });
      const chosen = choices[answerOf(answer, 'number')];
      if (chosen === undefined) throw new CliError('interrupted', 'nothing was chosen');
      return chosen.value;
    },
  };
}

function validation(check: ((text: string) => string | undefined) | undefined) {
  if (check === undefined) return {};
  return {
    validate: (text: string) => {
      const broken = check(text);
      return broken === undefined ? true : clean(broken);
    },
  };
}

interface AnswerTypes {
  string: string;
  boolean: boolean;
  number: number;
}

function answerOf<K extends keyof AnswerTypes>(answer: unknown, type: K): AnswerTypes[K] {
  if (typeof answer === type) return answer as AnswerTypes[K];
  throw new TypeError(`a prompt for a ${type} gave a ${typeof answer}`);
}
