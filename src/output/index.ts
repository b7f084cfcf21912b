import type { Writable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { usageError } from '../errors.ts';
import { paintFor } from './colour.ts';
import { chosenColumns, sortColumn } from './columns.ts';
import type { Coming } from './formats/batch.ts';
import type { Query } from './formats/query.ts';
import type { Change } from './live/changes.ts';
import { mask } from './mask.ts';
import type { Block, ListOptions, Live, Output, OutputSettings, View } from './output.ts';
import { eachRow, isArray, type Rows } from './rows.ts';
import { clean, escapeWritten } from './sanitise.ts';
import { createSink, type PlainOut, type WatchReader } from './sink.ts';

export { wantsColour } from './colour.ts';
export { checkColumns } from './columns.ts';
export { parseFormat } from './format.ts';
export { mask, PLACEHOLDER } from './mask.ts';
export { createMessages, type MessagesOptions } from './messages.ts';
export { clean, cleanLines, escapeUnseen, hasUnseen } from './sanitise.ts';

export interface OutputOptions {
  /** May be opened by being asked for. */
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** The way to a stdout that is no terminal, without opening it; see Host. */
  readonly plainOut?: PlainOut;
  readonly watchReader?: WatchReader;
  /** Ends the wait for a reader who takes nothing. */
  readonly stop?: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly settings: OutputSettings;
  /** Whether stdout gets colours; see {@link wantsColour}. */
  readonly colour: boolean;
  /** Says on stderr that a list for people is empty. */
  note(text: string): void;
  /** Tells a live view when to give the screen back; see Host. */
  borrowScreen?: (leave: () => void, back: () => void) => () => void;
}

/**
 * The result of a command on stdout, in the format of the settings.
 *
 * With `--columns`, JSON, JSON lines and YAML hold an object of just these columns instead of the
 * service's own data. What a format needs is loaded when it is written.
 */
export function createOutput(options: OutputOptions): Output {
  const { settings, clock, plainOut, watchReader, stop } = options;
  const { format, header } = settings;
  const sink = createSink(() => options.stdout, { plain: plainOut, watchReader, stop });
  const isTerminal = () => plainOut === undefined && options.stdout.isTTY === true;

  /** What takes the secrets out of a row. */
  function safely<T>(view: View<T>): (row: T) => T {
    const secrets = view.secrets ?? [];
    return (row) => mask(row, secrets, settings.showSecrets);
  }

  /** The form of a row in the formats that have structure. */
  function structured<T>(view: View<T>): (row: T) => unknown {
    const safe = safely(view);
    if (settings.columns !== undefined) {
      const columns = chosenColumns(view, settings);
      return (row) => {
        const masked = safe(row);
        return Object.fromEntries(
          columns.map((column) => [column.id, column.value(masked) ?? null]),
        );
      };
    }
    return (row) => (view.json === undefined ? safe(row) : view.json(safe(row)));
  }

  let compiled: Promise<Query> | undefined;
  async function query(): Promise<Query | undefined> {
    if (settings.query === undefined) return undefined;
    const { compileQuery } = await import('./formats/query.ts');
    compiled ??= compileQuery(settings.query);
    return compiled;
  }

  async function writeFinding(find: Query, value: unknown): Promise<void> {
    const { findingText } = await import('./formats/query.ts');
    return sink.write(await findingText(find(value), format));
  }

  async function style(live = false) {
    const terminal = isTerminal();
    return {
      terminal,
      live,
      now: () => clock.now(),
      header,
      paint: await paintFor(options.colour),
      cells: terminal ? terminalWidth(options.stdout.columns, options.env.COLUMNS) : UNBOUNDED,
    };
  }

  async function sorted<T>(rows: Rows<T>, view: View<T>, live: boolean): Promise<Rows<T>> {
    const order = sortColumn(view, settings);
    if (order === undefined) return rows;
    if (live) throw stillComing();
    const { sortRows } = await import('./formats/sort.ts');
    if (isArray(rows)) return sortRows(rows, order);
    const all: T[] = [];
    await eachRow(rows, sink, (row) => void all.push(row));
    return sortRows(all, order);
  }

  function list<T>(rows: Rows<T>, view: View<T>, how: ListOptions = {}): Promise<void> {
    const write = () => writeList(rows, view, how);
    return how.live === true ? sink.whileWatched(write) : write();
  }

  async function writeList<T>(given: Rows<T>, view: View<T>, how: ListOptions): Promise<void> {
    const live = how.live === true;
    const coming: Coming = {
      live,
      onFlush(flush) {
        how.onFlush?.(async () => {
          await flush();
          return !sink.ended;
        });
      },
    };
    const columns = chosenColumns(view, settings);
    const rows = await sorted(given, view, live);
    const find = await query();
    if (find !== undefined) {
      if (live) throw notWhole();
      const all: unknown[] = [];
      const form = structured(view);
      await eachRow(rows, sink, (row) => void all.push(form(row)));
      return writeFinding(find, all);
    }
    switch (format) {
      case 'table': {
        const { writeTable } = await import('./table/table.ts');
        const count = await writeTable(
          rows,
          columns,
          sink,
          await style(live),
          coming,
          safely(view),
        );
        // Whoever watched for a while knows that nothing came.
        if (count === 0 && !live && !sink.ended) options.note(view.empty);
        return;
      }
      case 'json': {
        const { writeJsonArray } = await import('./formats/json.ts');
        return writeJsonArray(rows, structured(view), sink, coming);
      }
      case 'yaml': {
        const { writeYamlList } = await import('./formats/yaml.ts');
        return writeYamlList(rows, structured(view), sink, coming);
      }
      default: {
        const { writeLines } = await import('./formats/lines.ts');
        if (format === 'jsonl') {
          const { unescapedLine } = await import('./formats/json.ts');
          const form = structured(view);
          const line = (row: T) => unescapedLine(form(row));
          return writeLines(rows, line, sink, '', coming, escapeWritten);
        }
        const { before, line } = await lines(view, format);
        return writeLines(rows, line, sink, before, coming);
      }
    }
  }

  /** The formats in which a row is a piece of text of its own. */
  async function lines<T>(
    view: View<T>,
    name: 'jsonl' | 'csv' | 'tsv' | 'id',
  ): Promise<{ before: string; line(row: T): string }> {
    if (name === 'jsonl') {
      const { jsonLine } = await import('./formats/json.ts');
      const form = structured(view);
      return { before: '', line: (row) => jsonLine(form(row)) };
    }
    if (name === 'id') {
      return {
        before: '',
        line: (row) => {
          const id = view.id(row);
          return id === null ? '' : `${clean(id)}\n`;
        },
      };
    }
    const { csv, tsv } = await import('./formats/separated.ts');
    const separated = name === 'csv' ? csv : tsv;
    const columns = chosenColumns(view, settings);
    const safe = safely(view);
    const written = separated.rows(columns);
    return {
      before: header ? separated.head(columns) : '',
      line: (row) => written(safe(row)),
    };
  }

  async function item<T>(value: T, view: View<T>): Promise<void> {
    const columns = chosenColumns(view, settings);
    sortColumn(view, settings);
    const find = await query();
    if (find !== undefined) return writeFinding(find, structured(view)(value));
    switch (format) {
      case 'table': {
        const { columnsText, detailsText } = await import('./table/details.ts');
        const safe = safely(view)(value);
        const bySections = settings.columns === undefined ? view.sections : undefined;
        return sink.write(
          bySections === undefined
            ? columnsText(safe, columns, await style())
            : detailsText(safe, bySections, await style()),
        );
      }
      case 'json': {
        const { jsonText } = await import('./formats/json.ts');
        return sink.write(jsonText(structured(view)(value)));
      }
      case 'yaml': {
        const { loadYaml } = await import('./formats/yaml.ts');
        return sink.write((await loadYaml())(structured(view)(value)));
      }
      default: {
        const { before, line } = await lines(view, format);
        return sink.write(before + line(value));
      }
    }
  }

  async function changes<T>(
    readings: AsyncIterable<readonly T[]>,
    view: View<T>,
    { one = false }: { one?: boolean } = {},
  ): Promise<void> {
    const columns = chosenColumns(view, settings);
    if (sortColumn(view, settings) !== undefined) throw stillComing();
    const find = await query();
    const form = structured(view);
    const { changedRows, changedTexts, changesOf } = await import('./live/changes.ts');
    const { writeLines } = await import('./formats/lines.ts');
    if (find !== undefined) {
      const { findingText } = await import('./formats/query.ts');
      const found = changedTexts(readings, (rows) => {
        const forms = rows.map(form);
        return findingText(find(one ? forms[0] : forms), format);
      });
      return sink.whileWatched(() => writeLines(found, (text) => text, sink));
    }
    const id = (row: T) => view.id(row);
    if (format === 'json' || format === 'jsonl') {
      const { jsonLine } = await import('./formats/json.ts');
      const line = (change: Change<T>) =>
        jsonLine('row' in change ? form(change.row) : goneForm(change.removed));
      const changed = changesOf(readings, { id, form });
      return sink.whileWatched(() => writeLines(changed, line, sink));
    }
    const safe = safely(view);
    const cells = (row: T) => {
      const masked = safe(row);
      return columns.map((column) => column.value(masked) ?? null);
    };
    return list(changedRows(readings, { id, form: cells }), view, { live: true });
  }

  async function live(): Promise<Live | undefined> {
    if (format !== 'table') return undefined;
    const { canRedraw, createLive } = await import('./live/live.ts');
    if (!isTerminal() || !canRedraw(options.stdout, options.env)) return undefined;
    const { stdout, colour, borrowScreen } = options;
    return createLive({
      stdout,
      sink,
      colour,
      render,
      ...(borrowScreen === undefined ? {} : { borrowScreen }),
    });
  }

  /** What is printed on a terminal of that many columns, as text. */
  async function render(
    write: (out: Output) => Promise<void>,
    columns: number | undefined,
  ): Promise<string> {
    const { createPage } = await import('./live/page.ts');
    const page = createPage(columns);
    const note = (text: string) => void page.stream.write(`${clean(text)}\n`);
    const { plainOut: _none, watchReader: _neither, ...others } = options;
    await write(createOutput({ ...others, stdout: page.stream, note }));
    return page.text();
  }

  async function screen(blocks: readonly Block[], now?: number): Promise<void> {
    const { screenText } = await import('./table/screen.ts');
    const shown = await style();
    const drawn = shown.terminal && options.env.TERM !== 'dumb';
    const told = () => now ?? shown.now();
    return sink.write(screenText(blocks, { ...shown, now: told, bars: drawn }));
  }

  return {
    format,
    get terminal() {
      return isTerminal();
    },
    get unread() {
      return sink.ended;
    },
    people: format === 'table' && settings.columns === undefined && settings.sort === undefined,
    screen,
    async prepare() {
      await query();
      // What writes it is at hand before anything is rented.
      if (format === 'yaml') await (await import('./formats/yaml.ts')).loadYaml();
      if (format === 'csv' || format === 'tsv') await import('./formats/separated.ts');
    },
    list,
    changes,
    live,
    item,
    text: (text) => sink.write(text),
    value: (text) => sink.write(`${isTerminal() ? clean(text) : text}\n`),
  };
}

function stillComing() {
  return usageError('--sort: rows that are still coming cannot be sorted');
}

function notWhole() {
  return usageError('--query: rows that are still coming are no list', 'try -o jsonl | jq');
}

function goneForm(id: string) {
  return { id, removed: true };
}

/** Nothing is cut where no line ends: in a pipe, and on a terminal that does not tell its width. */
const UNBOUNDED = Number.POSITIVE_INFINITY;

/** Some terminals (a container's, an editor's) tell their width in COLUMNS alone. */
function terminalWidth(columns: number | undefined, told: string | undefined): number {
  if (columns !== undefined && columns > 0) return columns;
  return /^[1-9][0-9]{0,4}$/.test(told ?? '') ? Number(told) : UNBOUNDED;
}
