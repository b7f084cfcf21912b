import { usageError } from '../errors.ts';
import { money } from '../rules/money.ts';
import { mask, withoutOwn } from './mask.ts';
import {
  type Cell,
  type Column,
  FORMATS,
  type Format,
  type Kind,
  type OutputSettings,
  type View,
} from './output.ts';
import { instant } from './time.ts';

/** How to write a view's rows. */
export interface Forms<T> {
  readonly columns: readonly Column<T>[];
  readonly header: boolean;
  readonly csvSafe: boolean;
  /** The key to sort rows by; undefined to keep their order. */
  readonly order: Order<T> | undefined;
  id(row: T): string | null;
  /** Returns a value that stays equal while only ages and clocks change. */
  steady(row: T): unknown;
  /** Returns the row with its secrets masked. */
  safe(row: T): T;
  /** Returns the JSON and YAML form; with `--columns`, an object of only these columns. */
  data(row: T): unknown;
}

const NONE: ReadonlySet<string> = new Set();

/** @throws CliError('usage') for a column that the view does not have. */
export function formsOf<T>(view: View<T>, settings: OutputSettings): Forms<T> {
  const columns = chosenColumns(view, settings);
  const secrets = view.secrets ?? [];
  const { showSecrets, ownKeys = NONE } = settings;
  const safe = (row: T) => withoutOwn(mask(row, secrets, showSecrets), ownKeys);
  return {
    columns,
    header: settings.header,
    csvSafe: settings.csvSafe === true,
    order: sortColumn(view, settings),
    id: (row) => view.id(row),
    steady: (row) => (view.steady === undefined ? row : view.steady(row)),
    safe,
    data(row) {
      const masked = safe(row);
      if (settings.columns === undefined)
        return view.json === undefined ? masked : view.json(masked);
      return Object.fromEntries(columns.map(({ id, value }) => [id, value(masked) ?? null]));
    },
  };
}

type Chosen = Pick<OutputSettings, 'columns' | 'sort'>;

/**
 * Rejects a column that the view does not have. Call it before the request, so that a typing
 * error costs nothing.
 *
 * @throws CliError('usage') that names the flag, the value and the valid columns.
 */
export function checkColumns<T>(view: View<T>, settings: Chosen): void {
  chosenColumns(view, settings);
  sortColumn(view, settings);
}

/**
 * Columns that csv and tsv always have. A table may have no room for an ID, and marks unread rows
 * in words.
 */
const FOR_PROGRAMS: readonly string[] = ['id', 'unread'];

export function chosenColumns<T>(
  view: View<T>,
  settings: Chosen & { readonly format?: Format },
): readonly Column<T>[] {
  if (settings.columns === undefined) {
    const isData = settings.format === 'csv' || settings.format === 'tsv';
    return view.columns.filter(
      ({ hidden, id }) => !hidden || (isData && FOR_PROGRAMS.includes(id)),
    );
  }
  if (settings.columns.length === 0) {
    throw usageError(`--columns needs at least one of: ${names(view)}`);
  }
  // Never leave out requested columns.
  return settings.columns.map((id) => ({ ...named(view, id, '--columns'), spared: undefined }));
}

interface Order<T> {
  readonly column: Column<T>;
  readonly downwards: boolean;
}

function sortColumn<T>(view: View<T>, settings: Chosen): Order<T> | undefined {
  if (settings.sort === undefined) return undefined;
  const downwards = settings.sort.startsWith('-');
  const id = downwards ? settings.sort.slice(1) : settings.sort;
  return { column: named(view, id, '--sort'), downwards };
}

/** Returns a sorted copy. Equal rows keep their order; rows without a value come last. */
export function sortRows<T>(rows: readonly T[], order: Order<T>): T[] {
  const { column, downwards } = order;
  const turn = downwards ? -1 : 1;
  return rows
    .map((row) => ({ row, value: column.value(row) }))
    .sort((a, b) => {
      const missing = Number(isMissing(a.value)) - Number(isMissing(b.value));
      return missing !== 0 ? missing : turn * compare(a.value, b.value, column.kind);
    })
    .map(({ row }) => row);
}

function isMissing(value: Cell): boolean {
  return value == null || value === '';
}

/** Compares by meaning: amounts and sizes by value, times by time, words ignoring case. */
function compare(a: Cell, b: Cell, kind: Kind | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a), String(b)];
  if (kind === 'money' || kind === 'bytes' || kind === 'gigabytes') {
    const [one, other] = [money(left), money(right)];
    if (one.ok && other.ok) return one.value.cmp(other.value);
  }
  if (kind === 'time') {
    const [one, other] = [instant(left), instant(right)];
    if (one !== undefined && other !== undefined) return one - other;
  }
  return byCode(left.toLowerCase(), right.toLowerCase()) || byCode(left, right);
}

/** Avoids localeCompare: its first call takes longer than sorting a whole list. */
function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function named<T>(view: View<T>, typed: string, flag: string): Column<T> {
  const column = view.columns.find(({ id }) => id === typed);
  if (column !== undefined) return column;
  const [only, ...others] = view.columns.filter(
    ({ id, header }) => id.startsWith(`${typed}_`) || header.toLowerCase() === typed.toLowerCase(),
  );
  if (only === undefined || others.length > 0) {
    throw usageError(`${flag}: unknown column '${typed}'; available columns: ${names(view)}`);
  }
  return only;
}

function names<T>(view: View<T>): string {
  return view.columns.map((column) => column.id).join(', ');
}

/**
 * Parses the name of a format. `source` is the flag or variable that holds it.
 *
 * @throws CliError('usage') that names the source, the value and the valid formats.
 */
export function parseFormat(text: string, source = '--output'): Format {
  const format = FORMATS.find((name) => name === text);
  if (format === undefined) {
    throw usageError(
      `${source}: unknown format '${text}'; available formats: ${FORMATS.join(', ')}`,
    );
  }
  return format;
}
