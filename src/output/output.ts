import type { WarningCode } from '../warnings.ts';
import type { Rows } from './rows.ts';

/** The formats of `-o`, in the order in which help lists them. */
export const FORMATS = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'] as const;
export type Format = (typeof FORMATS)[number];

export interface OutputSettings {
  format: Format;
  /** Column ids to show, in this order; by default the view's own. */
  columns?: readonly string[];
  /** A column id to sort rows by; a leading `-` reverses the order. */
  sort?: string;
  header: boolean;
  /** A JMESPath expression: its result on the JSON form is written instead. */
  query?: string;
  showSecrets: boolean;
  /** Formulas in csv become texts. */
  csvSafe?: boolean;
}

/** A cell's value before formatting. */
export type Cell = string | number | boolean | null | undefined;

/**
 * The meaning of a value. People see `89.90 ₽`, `3 min ago` or a coloured status; a script sees the
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
  /** Percent of a paid resource in use: a high load is good, a very low one is a waste. */
  | 'load'
  /** A load that screens with bars draw as a bar. */
  | 'bar'
  | 'yes'
  /** A star in a table marks the row. */
  | 'mark';

/** One column as data: the table, csv, `--columns`, `--sort`, help and completion use it. */
export interface Column<T> {
  /** Its name in `--columns` and `--sort`: the service's field name, if there is one. */
  readonly id: string;
  readonly header: string;
  readonly kind?: Kind;
  /** Shown only if named in `--columns`. */
  readonly hidden?: true;
  /** Left out if the terminal is too narrow for all columns. */
  readonly spared?: true | undefined;
  /** Its minimum width while rows are still coming, so that later ones stay aligned. */
  readonly least?: number;
  value(row: T): Cell;
}

/** The documented fields of a row that fit a cell; responses may have others. */
type FieldOf<T> = string &
  keyof { [K in keyof T as string extends K ? never : T[K] extends Cell ? K : never]: T[K] };

/** A column that shows a field unchanged. Its ID is the field's name. */
export function field<T>(
  id: FieldOf<T>,
  header: string,
  how: Pick<Column<T>, 'kind' | 'hidden' | 'spared' | 'least'> = {},
): Column<T> {
  return { id, header, ...how, value: (row) => row[id] as Cell };
}

/** A labelled line of a details view. Lines whose value is null, undefined or '' are left out. */
export interface DetailLine {
  readonly label: string;
  readonly value: Cell;
  readonly kind?: Kind;
}

export interface Section<T> {
  /** Printed above the lines; a section without one follows the section before. */
  readonly heading?: string;
  lines(value: T): readonly DetailLine[];
}

export interface View<T> {
  readonly columns: readonly Column<T>[];
  /** The line that `-q` prints; null for a row without an id, which `-q` leaves out. */
  id(row: T): string | null;
  /** Printed on stderr if a list for people has no rows. */
  readonly empty: string;
  /** The details view of one row; without it, a line for each column that has a value. */
  readonly sections?: readonly Section<T>[];
  /** Dotted paths of secrets in a row: `connection_info.secrets`, `docker_config.env[].value`. */
  readonly secrets?: readonly string[];
  json?(row: T): unknown;
  /** The row without ages and clocks: `--watch` prints it again only if this differs. */
  steady?(row: T): unknown;
}

export interface ListOptions {
  /** Rows come as they happen (events that are followed): each is written at once. */
  readonly live?: boolean;
  /** The command named one resource: data formats and --query get an object, not a list. */
  readonly one?: boolean;
  /**
   * Gets a function before the first row is read. It resolves once the system has taken all rows so
   * far; false if the reader of stdout is gone.
   */
  onFlush?(flush: () => Promise<boolean>): void;
}

/** A line under a live view, such as the age of its content. */
export interface Foot {
  readonly text: string;
  readonly colour?: Tone;
}

/** A view that is redrawn in place until it ends. */
export interface Live {
  /** Whether the terminal was closed. */
  readonly ended: boolean;
  /** Shows the output of `write`, above a foot that is computed for each frame. */
  draw(write: (out: Output) => Promise<void>, foot: () => readonly Foot[]): Promise<void>;
  refresh(): Promise<void>;
  /** Prints the last frame in full after the command line. */
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
  readonly columns: readonly { readonly header: string; readonly kind?: Kind }[];
  readonly rows: readonly (readonly Cell[])[];
  readonly more?: string | undefined;
}

/** A labelled text. One without a text is left out. */
export interface Fact {
  readonly label: string;
  readonly text: string;
  readonly colour?: Tone | undefined;
  /** Marks a command, which is never wrapped, so that people can paste it. */
  readonly command?: true;
}

/** The problem, and the command that helps. */
export interface Item {
  readonly text: string;
  readonly colour?: Tone | undefined;
  readonly command?: string | undefined;
}

interface Bar {
  readonly label: string;
  readonly value: string;
  /** The length as a share of the longest bar, from 0 to 1. */
  readonly share: number;
}

type Tone = 'dim' | 'yellow' | 'red';

/** The result of a command: stdout and nothing else. */
export interface Output {
  readonly format: Format;
  /** Whether a person reads stdout, rather than a pipe or a file. */
  readonly terminal: boolean;
  /** Whether a write failed because the reader of stdout had gone. */
  readonly unread: boolean;
  /**
   * Reads the expression of `--query`, to find a mistake in it before a request.
   *
   * @throws CliError('usage')
   */
  prepare(): Promise<void>;
  /**
   * Writes a list: always an array in JSON, `[]` when empty. Rows are streamed unless they are
   * sorted. Stops early once the reader of stdout is gone.
   */
  list<T>(rows: Rows<T>, view: View<T>, how?: ListOptions): Promise<void>;
  /** Writes one thing: details for people, one object in JSON. */
  item<T>(value: T, view: View<T>): Promise<void>;
  /**
   * Writes each row that differs from the read before: a line each in JSON lines, a row in the
   * formats that have rows. With a query, writes its result when that changes; with `one` the query
   * applies to the row itself, not to a list of it. In JSON lines a removed row prints `{"id",
   * "removed": true}`.
   */
  changes<T>(
    readings: AsyncIterable<readonly T[]>,
    view: View<T>,
    how?: { readonly one?: boolean },
  ): Promise<void>;
  /** A view that is redrawn in place; undefined unless a table goes to a capable terminal. */
  live(): Promise<Live | undefined>;
  /** Whether a person sees the full screen: the format is a table, and no columns were chosen. */
  readonly people: boolean;
  /**
   * Writes blocks one below the other, if {@link people} see them. Times are relative to `now`, by
   * default this computer's.
   */
  screen(blocks: readonly Block[], now?: number): Promise<void>;
  /** Writes a text that is itself the result (a script, a link), without control characters. */
  text(text: string): Promise<void>;
  /**
   * Writes an outside text byte for byte into a pipe or a file, for a program to read (a requested
   * secret). On a terminal it is cleaned.
   */
  exact(text: string): Promise<void>;
}

/** The messages of a command on stderr. None is a result, and all text is cleaned. */
export interface Messages {
  /** A plain line: the outcome, or the next command. Silent in JSON modes and with `--quiet`. */
  note(text: string): void;
  /** A line that concerns a person's instance or money; in JSON modes an object with its code. */
  warn(code: WarningCode, text: string): void;
  /** Lines that another program wrote for the person. Left out in JSON modes. */
  relay(text: string): void;
  /** A line of `--debug`. */
  debug(text: string): void;
  /** A spinner in a terminal. Elsewhere an update prints a note, at most one per minute. */
  progress(text: string): Progress;
  /** Holds lines back from a terminal while something is drawn on it, until they are released. */
  hold(): Held;
}

export interface Held {
  /** Each line once. */
  readonly lines: readonly string[];
  release(): void;
}

export interface Progress {
  update(text: string): void;
  /** Ends it. Among several, its line stays until all have ended, with this text. */
  done(text?: string): void;
}
