import type { Cell, Column } from '../output.ts';
import { remembering } from '../rows.ts';
import { cleanData } from '../sanitise.ts';
import { machineText } from '../table/kinds.ts';

/** How csv and tsv write a line; the head holds the column ids, as `--columns` calls them. */
export interface Separated {
  head<T>(columns: readonly Column<T>[]): string;
  /** Writes rows, each with the same columns. */
  rows<T>(columns: readonly Column<T>[]): (row: T) => string;
  /** Values that have no columns: texts as they are, structure as JSON. */
  values(values: readonly unknown[]): string;
}

/**
 * RFC 4180: CRLF, quotes where they are needed, line breaks inside quotes. Values are the machine's
 * own; none is changed to keep a spreadsheet from reading it as a formula, since that would change
 * the data for everybody else.
 */
export const csv: Separated = separated(',', '\r\n', isBareInCsv, (text) =>
  /[",\r\n]/.test(text) || text.trim().length < text.length
    ? `"${text.replaceAll('"', '""')}"`
    : text,
);

const TSV_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** One line is one row and one tab one column, always: `\t`, `\n`, `\r` and `\\` stand for theirs. */
export const tsv: Separated = separated('\t', '\n', isBareInTsv, (text) =>
  text.replace(/[\\\t\n\r]/g, (found) => TSV_ESCAPES[found] ?? found),
);

// Nearly every text is written as it is, which one look over it can tell.

function isBareInCsv(text: string): boolean {
  return (
    !/[^ !#-+\--~]/.test(text) &&
    text.charCodeAt(0) !== SPACE &&
    text.charCodeAt(text.length - 1) !== SPACE
  );
}

function isBareInTsv(text: string): boolean {
  return !/[^ -[\]-~]/.test(text);
}

const SPACE = 32;

function separated(
  between: string,
  end: string,
  isBare: (text: string) => boolean,
  quote: (text: string) => string,
): Separated {
  const cell = (text: string) => (isBare(text) ? text : quote(cleanData(text)));
  const line = (texts: readonly string[]) => texts.map(cell).join(between) + end;
  return {
    head: (columns) => line(columns.map((column) => column.id)),
    rows: (columns) => {
      // What a row says in a column is often what the row before it said.
      const cells = columns.map(() => remembering((value: Cell) => cell(machineText(value))));
      return (row) => {
        let text = '';
        for (let at = 0; at < cells.length; at += 1) {
          if (at > 0) text += between;
          text += cells[at]?.(columns[at]?.value(row)) ?? '';
        }
        return text + end;
      };
    },
    values: (values) => line(values.map(valueText)),
  };
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
