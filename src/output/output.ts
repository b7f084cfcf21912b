import type { WarningCode } from '../warnings.ts';
import type { Rows } from './rows.ts';

/** The formats of `-o`, in the order of the help. */
export const FORMATS = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'] as const;
export type Format = (typeof FORMATS)[number];

/** Limits of a query in a process that also serves others. */
export interface QueryLimits {
  readonly milliseconds: number;
  /** Characters of the result as JSON. */
  readonly characters: number;
}

export interface OutputSettings {
  format: Format;
  /** IDs of the columns to show, in this order; by default the view's own columns. */
  columns?: readonly string[] | undefined;
  /** ID of the column to sort rows by; a leading `-` reverses the order. */
  sort?: string | undefined;
  header: boolean;
  /** A JMESPath expression, applied to the JSON form. Its result replaces the output. */
  query?: string | undefined;
  /** Set if the expression is untrusted. */
  queryLimits?: QueryLimits;
  showSecrets: boolean;
  /** The API keys of this run, which no row shows. Filled when the run connects. */
  ownKeys?: ReadonlySet<string>;
  /** Turns formulas in csv into text. */
  csvSafe?: boolean;
}

/** A cell's value before formatting. */
export type Cell = string | number | boolean | null | undefined;

/**
 * What a value means. People see `89.90 ₽`, `3 min ago` or a coloured status; a script sees the
 * decimal string, the ISO time or the service's word.
 */
export type Kind =
  | 'text'
  | 'status'
  | 'severity'
  /** A text that begins with pass, WARN or FAIL. */
  | 'check'
  | 'money'
  | 'time'
  | 'bytes'
  | 'gigabytes'
  /** Percent of a paid resource in use: a high load is good, a very low load is waste. */
  | 'load'
  /** A load that screens with bars show as a bar. */
  | 'bar'
  /** Text drawn as blocks, shown only by screens with bars. */
  | 'blocks'
  | 'yes'
  /** Marks the row with a star in a table. */
  | 'mark';

/** Describes one column for the table, csv, `--columns`, `--sort`, help and completion. */
export interface Column<T> {
  /** The column's name in `--columns` and `--sort`: the service's field name, if it has one. */
  readonly id: string;
  readonly header: string;
  readonly kind?: Kind;
  /** Shown only if named in `--columns`. */
  readonly hidden?: true;
  /** Leave this column out, before later spared columns, if the terminal is too narrow for all. */
  readonly spared?: true | undefined;
  /** Never cut, since the text is for copying. */
  readonly whole?: true;
  /** Minimum width while rows are still arriving, so that later rows stay aligned. */
  readonly least?: number;
  value(row: T): Cell;
}

/** Documented row fields that fit in a cell; responses may have others. */
type FieldOf<T> = string &
  keyof { [K in keyof T as string extends K ? never : T[K] extends Cell ? K : never]: T[K] };

/** Returns a column that shows a field unchanged. The field's name is its ID. */
export function field<T>(
  id: FieldOf<T>,
  header: string,
  how: Pick<Column<T>, 'kind' | 'hidden' | 'spared' | 'whole' | 'least'> = {},
): Column<T> {
  return { id, header, ...how, value: (row) => row[id] as Cell };
}

/** A labelled line of a details view. A line whose value is null, undefined or '' is left out. */
export interface DetailLine {
  readonly label: string;
  readonly value: Cell;
  readonly kind?: Kind;
}

export interface Section<T> {
  /** Printed above the lines. A section without a heading continues the previous section. */
  readonly heading?: string;
  lines(value: T): readonly DetailLine[];
}

export interface View<T> {
  readonly columns: readonly Column<T>[];
  /** Returns the row's ID for `-q`; null if the row has none, so that `-q` omits it. */
  id(row: T): string | null;
  /** Printed on stderr if a list for people has no rows. */
  readonly empty: string;
  /** One row's details; without sections, one line per column that has a value. */
  readonly sections?: readonly Section<T>[];
  /** JSON without columns: printed as JSON lines with `-o jsonl`, otherwise as indented JSON. */
  readonly isDocument?: true;
  /** Dotted paths of secrets in a row: `connection_info.secrets`, `docker_config.env[].value`. */
  readonly secrets?: readonly string[];
  json?(row: T): unknown;
  /** The row without ages and clocks: `--watch` prints a row again only if this value changes. */
  steady?(row: T): unknown;
}

export interface ListOptions {
  /** Set for followed events: write each row as soon as it arrives. */
  readonly live?: boolean;
  /** The command named one resource: data formats and --query get an object, not a list. */
  readonly one?: boolean;
  /**
   * Called before the first row is read. `flush` resolves once the system has accepted all rows so
   * far; it resolves to false if the reader of stdout is gone.
   */
  onFlush?(flush: () => Promise<boolean>): void;
}

/** A line under a live view, such as the age of its content. */
export interface Foot {
  readonly text: string;
  readonly colour?: Tone;
}

/** A view that is redrawn in place until it is closed. */
export interface Live {
  /** Whether the terminal has closed. */
  readonly ended: boolean;
  /** Shows the output of `write`, above a footer computed for each frame. */
  draw(write: (out: Output) => Promise<void>, foot: () => readonly Foot[]): Promise<void>;
  refresh(): Promise<void>;
  /** Restores the screen, and prints the last frame in full. */
  end(): Promise<void>;
}

/** A part of a screen for people; see {@link Output.screen}. */
export type Block = { readonly heading?: string } & (
  | { readonly kind: 'facts'; readonly facts: readonly Fact[] }
  | { readonly kind: 'items'; readonly items: readonly Item[] }
  | TableBlock
  | { readonly kind: 'bars'; readonly bars: readonly Bar[] }
);

export interface TableBlock {
  readonly kind: 'table';
  readonly heading?: string;
  readonly columns: readonly {
    readonly header: string;
    /** The header of a terminal in which the whole table does not fit. */
    readonly short?: string | undefined;
    readonly kind?: Kind;
  }[];
  readonly rows: readonly (readonly Cell[])[];
  /** Leave out later columns rather than cut one of these first columns. */
  readonly uncut?: number;
  /**
   * Leave out columns after these first columns rather than cut a column to a few cells. If these do
   * not fit either, the last of them go below their row.
   */
  readonly needed?: number;
  readonly more?: string | undefined;
}

/** A labelled text. A fact with empty text is left out. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  readonly colour?: Tone | undefined;
  /** Marks a command. It is never wrapped, so that people can paste it. */
  readonly command?: true;
}

/** A problem, and the command that solves it. */
export interface Item {
  readonly text: string;
  readonly colour?: Tone | undefined;
  readonly command?: string | undefined;
}

interface Bar {
  readonly label: string;
  readonly value: string;
  /** The length as a share of the longest bar. There is no bar unless the share is above 0. */
  readonly share: number;
}

type Tone = 'dim' | 'yellow' | 'red';

/** Prints the command's result on stdout. */
export interface Output {
  readonly format: Format;
  /** Whether stdout is a terminal. */
  readonly terminal: boolean;
  /** Whether a write failed because the reader of stdout was gone. */
  readonly unread: boolean;
  /**
   * Parses the expression of `--query`, to find mistakes before a request.
   *
   * @throws CliError('usage')
   */
  prepare(): Promise<void>;
  /**
   * Writes a list: always an array in JSON, `[]` when empty. Streams the rows unless they are
   * sorted. Stops early once the reader of stdout is gone.
   */
  list<T>(rows: Rows<T>, view: View<T>, how?: ListOptions): Promise<void>;
  /** Writes one value: details for people, one object in JSON. */
  item<T>(value: T, view: View<T>): Promise<void>;
  /**
   * Writes each row that changed since the previous read: one line per row in JSON lines and in the
   * row formats. With a query, writes the query's result when it changes. With `one`, the query
   * applies to the row itself, not to a list. In JSON lines a removed row prints `{"id", "removed":
   * true}`.
   */
  changes<T>(
    readings: AsyncIterable<readonly T[]>,
    view: View<T>,
    how?: { readonly one?: boolean },
  ): Promise<void>;
  /** A view redrawn in place; undefined unless a capable terminal shows a table. */
  live(): Promise<Live | undefined>;
  /**
   * Whether a person may see a screen of blocks: the format is a table, without chosen columns or
   * order.
   */
  readonly people: boolean;
  /**
   * Writes blocks one below the other, for people only ({@link people}). Times are relative to
   * `now`, by default this computer's time.
   */
  screen(blocks: readonly Block[], now?: number): Promise<void>;
  /** Writes a text that is itself the result (a script, a link), without control characters. */
  text(text: string): Promise<void>;
  /** Writes Markdown, in a terminal wrapped between words. */
  markdown(text: string): Promise<void>;
  /**
   * Writes untrusted text byte for byte to a pipe or a file, for a program to read (a requested
   * secret). Cleans it on a terminal.
   */
  exact(text: string): Promise<void>;
}

/** Prints a command's messages on stderr. Messages never contain the result. Cleans all text. */
export interface Messages {
  /**
   * Prints a plain line: the outcome, or the next command. Silent in JSON modes and with `--quiet`.
   */
  note(text: string): void;
  /**
   * Prints a line that concerns a person's instance or money; in JSON modes an object with its
   * code.
   */
  warn(code: WarningCode, text: string): void;
  /** Prints lines that another program wrote for the person. Silent in JSON modes. */
  relay(text: string): void;
  /** Prints a `--debug` line. */
  debug(text: string): void;
  /** Shows a spinner in a terminal. Elsewhere an update prints a note, at most one per minute. */
  progress(text: string): Progress;
  /** Holds back lines until `release`, while a live view uses the terminal. */
  hold(): Held;
}

export interface Held {
  /** Without repeated lines. */
  readonly lines: readonly string[];
  release(): void;
}

export interface Progress {
  update(text: string): void;
  /** Marks the task as done. Its line keeps this text until all tasks are done. */
  done(text?: string): void;
}
