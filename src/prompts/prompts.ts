import type { Readable, Writable } from 'node:stream';
import { clamp, padding, width } from '../output/width.ts';

export interface PromptsOptions {
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** The environment: TERM, and NO_COLOR and similar variables if `colour` is not given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether stderr gets colours, as `--color` decided it. */
  readonly colour?: boolean;
  /**
   * Cancels the question (a signal to the process). If its reason is a CliError, that is thrown.
   */
  readonly signal?: AbortSignal;
}

/** One of several choices. All of it is cleaned before it is shown. */
export interface Choice<T> {
  /** The label shown after the prompt once chosen. */
  readonly name: string;
  /** Details in columns beside the name; the last ones are left out if a line is too short. */
  readonly about?: readonly string[];
  readonly value: T;
}

/** Returns the rule that a text breaks. */
export type Check = (text: string) => string | undefined;

/**
 * Questions to a person. Available only if stdin and stderr are terminals and neither `--no-input`
 * nor `CI` forbids them; see `Context.prompts`.
 *
 * Every method throws CliError('interrupted') if the person cancels with Ctrl-C, Ctrl-D or Esc.
 */
export interface Prompts {
  /**
   * A line between two questions, shown in every mode of output. It is folded to the terminal's
   * width unless it is indented.
   */
  print(line: string): void;
  /** A line of text; Enter runs `check`. */
  text(
    question: string,
    options?: {
      initial?: string;
      check?: Check;
    },
  ): Promise<string>;
  /** A line that is not shown while typed. */
  secret(question: string, check?: Check): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  /** One of a list, with a search if it is long. `initial` is the index of a choice. */
  choose<T>(
    question: string,
    choices: readonly Choice<T>[],
    options?: { initial?: number },
  ): Promise<T>;
  /** Any number of a list, in its order; those with `checked` are preselected. */
  chooseSeveral<T>(
    question: string,
    choices: readonly (Choice<T> & { readonly checked?: boolean })[],
    options?: { least?: number },
  ): Promise<T[]>;
}

/** An endless text must not push all other columns off the screen. */
const WIDEST_CELL = 32;

/** The choices as lines of aligned columns, none longer than `room` cells. */
export function rowsOf(choices: readonly Choice<unknown>[], room: number): string[] {
  const rows = choices.map(({ name, about = [] }) =>
    about.length === 0 ? [name] : [name, ...about].map((text) => clamp(text, WIDEST_CELL)),
  );
  // An entry without columns (`Another, by its ID`) widens none.
  const tabular = rows.filter((row) => row.length > 1);
  const widest = (at: number) => Math.max(0, ...tabular.map((row) => width(row[at] ?? '')));
  return rows.map((row) => {
    const cells = row.map((text, at) => text + padding(text, widest(at)));
    return clamp(cells.join('  ').trimEnd(), room);
  });
}

/** Whether a line contains each typed word. */
export function matching(term: string): (line: string) => boolean {
  const words = term.toLowerCase().split(/\s+/).filter(Boolean);
  return (line) => words.every((word) => line.toLowerCase().includes(word));
}
