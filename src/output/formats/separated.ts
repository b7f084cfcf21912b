import type { Forms } from '../forms.ts';
import type { Cell } from '../output.ts';
import { remembering } from '../rows.ts';
import { cleanData } from '../sanitise.ts';
import { rawText } from '../table/kinds.ts';
import type { Writer } from './batch.ts';
import { writeLines } from './lines.ts';

interface Dialect {
  readonly between: string;
  readonly end: string;
  /** What has to be written in another way than it is. */
  readonly special: RegExp;
  quote(text: string): string;
}

/**
 * RFC 4180: CRLF, quotes where they are needed, line breaks inside quotes. Values are the machine's
 * own; none is changed to keep a spreadsheet from reading it as a formula, since that would change
 * the data for everybody else.
 */
const CSV: Dialect = {
  between: ',',
  end: '\r\n',
  special: /[",\r\n]|^\s|\s$/,
  quote: (text) => `"${text.replaceAll('"', '""')}"`,
};

const TSV_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** One line is one row and one tab one column, always: `\t`, `\n`, `\r` and `\\` stand for theirs. */
const TSV: Dialect = {
  between: '\t',
  end: '\n',
  special: /[\\\t\n\r]/,
  quote: (text) => text.replace(/[\\\t\n\r]/g, (found) => TSV_ESCAPES[found] ?? found),
};

/** The head holds the column ids, as `--columns` calls them. */
function writerOf(dialect: Dialect) {
  return <T>({ columns, header, safe }: Forms<T>): Writer<T> => {
    // A cell often repeats the one above it.
    const cells = columns.map(() =>
      remembering((value: Cell) => cellText(rawText(value), dialect)),
    );
    const head = header
      ? lineOf(
          columns.map(({ id }) => id),
          dialect,
        )
      : '';
    const line = (row: T) => {
      const masked = safe(row);
      let text = '';
      for (let at = 0; at < cells.length; at += 1) {
        if (at > 0) text += dialect.between;
        text += cells[at]?.(columns[at]?.value(masked)) ?? '';
      }
      return text + dialect.end;
    };
    return {
      item: (value) => head + line(value),
      list: (rows, sink, coming) => writeLines(rows, line, sink, { head, coming }),
    };
  };
}

export const csvWriter = writerOf(CSV);
export const tsvWriter = writerOf(TSV);

/** Values that have no columns as a line: texts as they are, structure as JSON. */
export function tsvLine(values: readonly unknown[]): string {
  return lineOf(values.map(valueText), TSV);
}

export function csvLine(values: readonly unknown[]): string {
  return lineOf(values.map(valueText), CSV);
}

function lineOf(texts: readonly string[], dialect: Dialect): string {
  return texts.map((text) => cellText(text, dialect)).join(dialect.between) + dialect.end;
}

function cellText(text: string, { special, quote }: Dialect): string {
  const cleaned = cleanData(text);
  return special.test(cleaned) ? quote(cleaned) : cleaned;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
