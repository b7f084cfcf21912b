import type { WarningCode } from '../warnings.ts';
import type { Rows } from './rows.ts';

/** The formats of `-o`, in the order in which help lists them. */
export const FORMATS = ['table', 'json', 'jsonl', 'csv', 'tsv', 'yaml', 'id'] as const;
export type Format = (typeof FORMATS)[number];

export interface OutputSettings {
  format: Format;
  /** Column ids to show, in this order; the view's own choice when left out. */
  columns?: readonly string[];
  /** A column id to sort rows by; `-` before it turns the order round. */
  sort?: string;
  header: boolean;
  /** A JMESPath expression: what it finds in the JSON form is written instead of that. */
  query?: string;
  showSecrets: boolean;
  /** Formulas in csv become texts. */
  csvSafe?: boolean;
}

/** What a cell holds before it is written: the machine's form, not the person's. */
export type Cell = string | number | boolean | null | undefined;

/**
 * What a value means, so that people see `89.90 ₽`, `3 min ago` or a coloured status, and a script
 * sees the decimal string, the ISO time or the word of the service.
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
  | 'yes'
  /** A star in a table marks the row. */
  | 'mark';

/** One column as data: it drives the table, csv, `--columns`, `--sort`, help and completion. */
export interface Column<T> {
  /** What `--columns` and `--sort` call it: the service's field name, if there is one. */
  readonly id: string;
  readonly header: string;
  readonly kind?: Kind;
  /** Shown only when `--columns` asks for it. */
  readonly hidden?: true;
  /** Cells that it takes at least while rows are still coming, so that later ones stay in line. */
  readonly least?: number;
  value(row: T): Cell;
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
  /** What `-q` prints; null for a row that has no id (then `-q` leaves the row out). */
  id(row: T): string | null;
  /** Printed on stderr when a list for people has no rows. */
  readonly empty: string;
  /** The details view of one; without it, a line for each column that has a value. */
  readonly sections?: readonly Section<T>[];
  /** Dotted paths of secrets in a row: `connection_info.secrets`, `docker_config.env[].value`. */
  readonly secrets?: readonly string[];
  json?(row: T): unknown;
  /** The row without ages and clocks: `--watch` prints it again only if this differs. */
  steady?(row: T): unknown;
}

export interface ListOptions {
  /** Rows come as they happen (events that are followed): none waits for the next one. */
  readonly live?: boolean;
  /**
   * Gets, before the first row is asked for, what ends when the system has taken all rows that were
   * given so far; it answers false once the reader of stdout has gone.
   */
  onFlush?(flush: () => Promise<boolean>): void;
}

/** A line under a view that is redrawn, such as the age of what it shows. */
export interface Foot {
  readonly text: string;
  readonly colour?: Tone;
}

/** A view that is redrawn in place until it is ended. */
export interface Live {
  /** The terminal has gone. */
  readonly ended: boolean;
  /** Shows what `write` prints, and under it a foot that is asked for at each frame. */
  draw(write: (out: Output) => Promise<void>, foot: () => readonly Foot[]): Promise<void>;
  refresh(): Promise<void>;
  /** Prints the last frame in full below the typed command. */
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
  /** It is a command, which is never broken, so that it pastes. */
  readonly command?: true;
}

/** What is the matter, and the command that helps. */
export interface Item {
  readonly text: string;
  readonly colour?: Tone | undefined;
  readonly command?: string | undefined;
}

interface Bar {
  readonly label: string;
  readonly value: string;
  /** Of the longest bar: from 0 to 1. */
  readonly share: number;
}

type Tone = 'dim' | 'yellow' | 'red';

/** The result of a command: stdout and nothing else. */
export interface Output {
  readonly format: Format;
  /** Whether a person reads stdout, rather than a pipe or a file. */
  readonly terminal: boolean;
  /** Whether the reader of stdout had gone when something was written, so that it never arrived. */
  readonly unread: boolean;
  /**
   * Reads the expression of `--query`, so that a mistake in it is found before a request.
   *
   * @throws CliError('usage')
   */
  prepare(): Promise<void>;
  /**
   * Writes a list: always an array in JSON, `[]` when empty. A long one that is still coming takes
   * no memory unless it is to be sorted; it is ended early when the reader of stdout has gone.
   */
  list<T>(rows: Rows<T>, view: View<T>, how?: ListOptions): Promise<void>;
  /** Writes one thing: details for people, one object in JSON. */
  item<T>(value: T, view: View<T>): Promise<void>;
  /**
   * Writes each row that differs from the reading before: a line for each in JSON lines, a row in
   * the formats that have rows. Where a query was given, what it finds is written when that
   * changes; with `one` it looks at the row itself and not at a list of it. In JSON lines a row that
   * is gone leaves `{"id", "removed": true}`.
   */
  changes<T>(
    readings: AsyncIterable<readonly T[]>,
    view: View<T>,
    how?: { readonly one?: boolean },
  ): Promise<void>;
  /** A view that is redrawn in place; undefined unless a table goes to a capable terminal. */
  live(): Promise<Live | undefined>;
  /**
   * Whether people are to see the whole of it on a screen: the format is a table, and no columns
   * were chosen.
   */
  readonly people: boolean;
  /**
   * Writes blocks one below the other, if {@link people} see them. Times are relative to `now`, if
   * that is not the computer's.
   */
  screen(blocks: readonly Block[], now?: number): Promise<void>;
  /** Writes a text that is itself the result (a script, a link), without what steers a terminal. */
  text(text: string): Promise<void>;
  /**
   * Writes a text from outside byte for byte into a pipe or a file, where a program reads it (a
   * secret that was asked for). On a terminal it is cleaned.
   */
  exact(text: string): Promise<void>;
}

/** The story of a command: stderr. Nothing here is a result, and all text is cleaned. */
export interface Messages {
  /** A plain line: what was done, what to type next. Silent in JSON modes and with `--quiet`. */
  note(text: string): void;
  /** A line that matters to a person's instance or money; in JSON modes an object with its code. */
  warn(code: WarningCode, text: string): void;
  /** Lines that another program wrote for the person. Left out in JSON modes. */
  relay(text: string): void;
  /** A line of `--debug`. */
  debug(text: string): void;
  /** A spinner in a terminal. Elsewhere an update prints a note if the last one is a minute old. */
  progress(text: string): Progress;
  /** Keeps lines from a terminal on which something is drawn, until they are released. */
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
