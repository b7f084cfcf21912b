import type { Readable, Writable } from 'node:stream';

export interface PromptsOptions {
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** For TERM, and for NO_COLOR and its like if `colour` is not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether stderr gets colours, as `--color` decided it. */
  readonly colour?: boolean;
  /** Takes the question back (a signal to the process); a reason that is a CliError is thrown on. */
  readonly signal?: AbortSignal;
}

/** One of several things to choose from, all of it cleaned before it is shown. */
export interface Choice<T> {
  /** Label of the answer after the prompt. */
  readonly name: string;
  /** More to know it by, in columns beside the name; the last ones are left out if a line is too short. */
  readonly about?: readonly string[];
  readonly value: T;
}

/** Returns the rule that a text breaks. */
export type Check = (text: string) => string | undefined;

/**
 * Questions to a person. They are only to be had when stdin and stderr are terminals and neither
 * `--no-input` nor `CI` forbids them; see `Context.prompts`.
 *
 * Every method throws CliError('interrupted') when the person leaves with Ctrl-C, Ctrl-D or Esc.
 */
export interface Prompts {
  /**
   * A line between two questions, shown in every mode of output. It is folded to the terminal's
   * width unless it is indented.
   */
  print(line: string): void;
  /**
   * A line of text; `check` is asked at Enter.
   */
  text(
    question: string,
    options?: {
      initial?: string;
      check?: Check;
    },
  ): Promise<string>;
  /** A line that is not shown. */
  secret(question: string, check?: Check): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  /** One of a list, which can be searched when it is long. `initial` is the place of a choice. */
  choose<T>(
    question: string,
    choices: readonly Choice<T>[],
    options?: { initial?: number },
  ): Promise<T>;
  /** Any number of a list, in its order; those with `checked` are taken at first. */
  chooseSeveral<T>(
    question: string,
    choices: readonly (Choice<T> & { readonly checked?: boolean })[],
    options?: { least?: number },
  ): Promise<T[]>;
}
