import type { Forms } from '../forms.ts';
import type { Cell } from '../output.ts';
import { remembering } from '../rows.ts';
import { cleanData } from '../sanitise.ts';
import { rawText } from '../table/kinds.ts';
import { type Writer, writeLines } from './batch.ts';

interface Dialect {
  readonly between: string;
  readonly end: string;
  /** Matches values that must be escaped. */
  readonly special: RegExp;
  quote(text: string): string;
}

/**
 * Formats as RFC 4180, but ends lines with LF: a shell variable would keep the CR. Leaves a value
 * unchanged that a spreadsheet would run as a formula, since other readers want the data.
 */
const CSV: Dialect = {
  between: ',',
  end: '\n',
  special: /[",\r\n]|^\s|\s$/,
  quote: (text) => `"${text.replaceAll('"', '""')}"`,
};

/** Whether a spreadsheet would run the value as a formula; false for a number with a sign. */
const FORMULA = /^(?![+-]\d+(?:\.\d+)?$)\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/;

/** `--csv-safe`: an apostrophe turns a formula into text. */
const SAFE_CSV: Dialect = {
  ...CSV,
  special: new RegExp(`${CSV.special.source}|${FORMULA.source}`),
  quote: (text) => CSV.quote(FORMULA.test(text) ? `'${text}` : text),
};

/**
 * Escapes as `\t`, `\n`, `\r` and `\\`, so that each line is one row and each tab separates two
 * columns.
 */
const TSV: Dialect = {
  between: '\t',
  end: '\n',
  special: /[\\\t\n\r]/,
  quote: (text) =>
    text
      .replaceAll('\\', '\\\\')
      .replaceAll('\t', '\\t')
      .replaceAll('\n', '\\n')
      .replaceAll('\r', '\\r'),
};

/** The header has the column IDs, as in `--columns`. */
function writerOf(dialectOf: (forms: { readonly csvSafe: boolean }) => Dialect) {
  return <T>(forms: Forms<T>): Writer<T> => {
    const { columns, header, safe } = forms;
    const dialect = dialectOf(forms);
    const cells = columns.map(({ value }, at) => {
      const before = at === 0 ? '' : dialect.between;
      // Caches each cell, since it often repeats the cell above it.
      const text = remembering((cell: Cell) => before + cellText(rawText(cell), dialect));
      return (row: T) => text(value(row));
    });
    const head = header
      ? lineOf(
          columns.map(({ id }) => id),
          dialect,
        )
      : '';
    const line = (row: T) => {
      const masked = safe(row);
      let text = '';
      for (const cell of cells) text += cell(masked);
      return text + dialect.end;
    };
    return {
      item: (value) => head + line(value),
      list: (rows, sink, coming) => writeLines(rows, line, sink, { head, coming }),
    };
  };
}

export const csvWriter = writerOf(({ csvSafe }) => (csvSafe ? SAFE_CSV : CSV));
export const tsvWriter = writerOf(() => TSV);

/** Formats values without columns as a line: strings unquoted, objects as JSON. */
export function tsvLine(values: readonly unknown[]): string {
  return lineOf(values.map(valueText), TSV);
}

export function csvLine(values: readonly unknown[], csvSafe: boolean): string {
  return lineOf(values.map(valueText), csvSafe ? SAFE_CSV : CSV);
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
