import { mask } from './mask.ts';
import type { Column, OutputSettings, View } from './output.ts';
import { chosenColumns, type Order, sortColumn } from './settings.ts';

/** The forms in which a view's rows are written. */
export interface Forms<T> {
  readonly columns: readonly Column<T>[];
  readonly header: boolean;
  readonly csvSafe: boolean;
  /** The key to sort rows by; undefined to keep their order. */
  readonly order: Order<T> | undefined;
  id(row: T): string | null;
  /** Equal for two reads that differ only in ages and clocks. */
  steady(row: T): unknown;
  /** The row without its secrets. */
  safe(row: T): T;
  /** The JSON and YAML form. With `--columns`, an object of just these. */
  data(row: T): unknown;
}

/** @throws CliError('usage') for a column that the view does not have. */
export function formsOf<T>(view: View<T>, settings: OutputSettings): Forms<T> {
  const columns = chosenColumns(view, settings);
  const secrets = view.secrets ?? [];
  const safe = (row: T) => mask(row, secrets, settings.showSecrets);
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
