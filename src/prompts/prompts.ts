import type { Readable, Writable } from 'node:stream';
import { clamp, padding, width } from '../output/width.ts';

export interface PromptsOptions {
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?: (raw: boolean) => unknown };
  readonly stderr: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether stderr gets colours, as determined from `--color`. */
  readonly colour: boolean;
  /**
   * Cancels the question, for example after a signal to the process. Throws the signal's reason if
   * it is a CliError.
   */
  readonly signal?: AbortSignal;
}

/** One choice of several. Its texts are cleaned before they are shown. */
export interface Choice<T> {
  /** The label shown after the prompt once chosen. */
  readonly name: string;
  /** Details in columns beside the name. If a line is too short, the last columns are left out. */
  readonly about?: readonly string[];
  readonly value: T;
}

/** Returns the rule that the text breaks. */
export type Check = (text: string) => string | undefined;

/**
 * Asks a person. Available only if stdin and stderr are terminals and neither `--no-input` nor `CI`
 * forbids questions; see `Context.prompts`.
 *
 * Every method throws CliError('interrupted') if the person cancels with Ctrl-C, Ctrl-D or Esc.
 */
export interface Prompts {
  /**
   * Prints a line between two questions in every output mode. Wraps it to the terminal's width
   * unless it is indented.
   */
  print(line: string): void;
  /** Asks for a line of text; Enter runs `check`. */
  text(
    question: string,
    options?: {
      initial?: string;
      check?: Check;
    },
  ): Promise<string>;
  /** Asks for a line that is not shown while typed. */
  secret(question: string, check?: Check): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  /** Asks for one choice, with a search if the list is long. `initial` is the index of a choice. */
  choose<T>(
    question: string,
    choices: readonly Choice<T>[],
    options?: { initial?: number },
  ): Promise<T>;
  /**
   * Asks for any number of choices and returns them in list order; preselects choices with
   * `checked`.
   */
  chooseSeveral<T>(
    question: string,
    choices: readonly (Choice<T> & { readonly checked?: boolean })[],
    options?: { least?: 0 | 1 },
  ): Promise<T[]>;
}

/**
 * Maximum width of a cell, so that one long text does not push the other columns off the screen.
 */
const WIDEST_CELL = 32;

/** Formats the choices as lines of aligned columns, none longer than `room` cells. */
export function rowsOf(choices: readonly Choice<unknown>[], room: number): string[] {
  const rows = choices.map(({ name, about = [] }) =>
    about.length === 0 ? [name] : [name, ...about].map((text) => clamp(text, WIDEST_CELL)),
  );
  // A choice without columns (`Another ID`) must not widen a column.
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
