import type { Writable } from 'node:stream';
import type { Clock } from '../clock.ts';
import { usageError } from '../errors.ts';
import { clean } from '../rules/clean.ts';
import { paintFor } from './colour.ts';
import { type Writer, writeLines } from './formats/batch.ts';
import { jsonLinesWriter, jsonWriter } from './formats/json.ts';
import { compileQuery, findingText, type Query } from './formats/query.ts';
import { csvWriter, tsvWriter } from './formats/separated.ts';
import { loadYamlWriter } from './formats/yaml.ts';
import { type Forms, formsOf } from './forms.ts';
import { writeChanges } from './live/changes.ts';
import { canRedraw, createLive, createPage } from './live/live.ts';
import { wrappedMarkdown } from './markdown.ts';
import type { Block, Format, ListOptions, Live, Output, OutputSettings, View } from './output.ts';
import { eachRow, isArray, type Rows } from './rows.ts';
import { cleanLines } from './sanitise.ts';
import { withProfile } from './shell-line.ts';
import { createSink, type SyncWrite } from './sink.ts';
import { sortRows } from './sort.ts';
import { columnsText, detailsText, sectionOf } from './table/details.ts';
import { lacksRoubleSign, withoutRoubleSign } from './table/rouble.ts';
import { screenText } from './table/screen.ts';
import { writeTable } from './table/table.ts';
import { terminalColumns } from './width.ts';

export { RED_ERROR, wantsColour } from './colour.ts';
export { checkColumns, parseFormat } from './forms.ts';
export { mask } from './mask.ts';
export { createMessages, type MessagesOptions } from './messages.ts';
export { cleanLines, escapeUnseen, hasUnseen } from './sanitise.ts';
export { terminalColumns, wrapped } from './width.ts';

interface OutputOptions {
  /** Opens the stream at its first use. */
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** Writes to non-TTY stdout without creating a stream; see Host. */
  readonly syncWrite?: SyncWrite;
  /** Aborts the wait for a reader that has stopped reading. */
  readonly stop?: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly settings: OutputSettings;
  readonly colour: boolean;
  /** The profile from a flag; suggested commands include it. */
  readonly profile?: string | undefined;
  note(text: string): void;
  /** Calls a live view when it must restore the screen; see Host. */
  borrowScreen?: (leave: () => void, back: () => void) => () => void;
}

/**
 * Prints a command's result on stdout in the chosen format. Loads the format's code at the first
 * write.
 */
export function createOutput(options: OutputOptions): Output {
  // Don't destructure `stdout`: reading the property opens the stream.
  const { settings, clock, syncWrite, stop, env, colour, profile } = options;
  const { format, header } = settings;
  const sink = createSink(() => options.stdout, { plain: syncWrite, stop });
  const isTerminal = () => syncWrite === undefined && options.stdout.isTTY === true;

  let compiled: Promise<Query> | undefined;
  async function query(): Promise<Query | undefined> {
    if (settings.query === undefined) return undefined;
    compiled ??= compileQuery(settings.query);
    return compiled;
  }

  async function writeFinding(find: Query, value: unknown): Promise<void> {
    return sink.write(await findingText(find(value), format, settings));
  }

  async function style(live = false) {
    const terminal = isTerminal();
    return {
      terminal,
      live,
      now: () => clock.now(),
      ascii: lacksRoubleSign(env),
      profile,
      header,
      paint: await paintFor(colour),
      cells: (terminal && terminalColumns(options.stdout, env)) || UNBOUNDED,
    };
  }

  async function all<T, R>(rows: Rows<T>, form: (row: T) => R): Promise<R[]> {
    const taken: R[] = [];
    await eachRow(rows, sink, (row) => void taken.push(form(row)));
    return taken;
  }

  async function list<T>(given: Rows<T>, view: View<T>, how: ListOptions = {}): Promise<void> {
    const [only] = how.one === true && isArray(given) && given.length === 1 ? given : [];
    if (only !== undefined && (format !== 'table' || settings.query !== undefined)) {
      return item(only, view);
    }
    const forms = formsOf(view, settings);
    const find = await query();
    let rows = given;
    if (forms.order !== undefined) {
      rows = sortRows(isArray(rows) ? rows : await all(rows, (row) => row), forms.order);
    }
    if (find !== undefined) return writeFinding(find, await all(rows, forms.data));
    if (format !== 'table') return (await loadWriter(format))(forms).list(rows, sink, how);
    const count = await writeTable(rows, forms, sink, await style(how.live), how);
    // A live view has already shown that there are no rows.
    if (count === 0 && how.live !== true && !sink.ended) options.note(view.empty);
  }

  async function item<T>(value: T, view: View<T>): Promise<void> {
    const forms = formsOf(view, settings);
    const find = await query();
    if (find !== undefined) return writeFinding(find, forms.data(value));
    if (format !== 'table') return sink.write((await loadWriter(format))(forms).item(value));
    const safe = forms.safe(value);
    const { sections = [sectionOf(view.columns)] } = view;
    return sink.write(
      settings.columns === undefined
        ? detailsText(safe, sections, await style())
        : columnsText(safe, forms.columns, await style()),
    );
  }

  async function changes<T>(
    readings: AsyncIterable<readonly T[]>,
    view: View<T>,
    { one = false }: { one?: boolean } = {},
  ): Promise<void> {
    const forms = formsOf(view, settings);
    if (forms.order !== undefined) {
      throw usageError("--sort needs a complete list; it can't be used with --watch or --follow");
    }
    const rows = (changed: Rows<T>) => list(changed, view, { live: true });
    return writeChanges(readings, { forms, format, sink, query: await query(), one, rows });
  }

  async function live(): Promise<Live | undefined> {
    if (format !== 'table') return undefined;
    const { stdout } = options;
    if (!isTerminal() || !canRedraw(stdout, env)) return undefined;
    return createLive({ stdout, sink, colour, render, borrowScreen: options.borrowScreen });
  }

  async function render(
    write: (out: Output) => Promise<void>,
    columns: number | undefined,
  ): Promise<string> {
    const page = createPage(columns);
    const note = (text: string) => void page.stream.write(`${clean(withProfile(text, profile))}\n`);
    await write(createOutput({ stdout: page.stream, env, clock, settings, colour, profile, note }));
    return page.text();
  }

  async function screen(blocks: readonly Block[], now?: number): Promise<void> {
    const shown = await style();
    const bars = shown.terminal && env.TERM !== 'dumb';
    const texts: readonly Block[] = shown.ascii
      ? JSON.parse(withoutRoubleSign(JSON.stringify(blocks)))
      : blocks;
    return sink.write(await screenText(texts, { ...shown, now: () => now ?? shown.now(), bars }));
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
      // Loads the writer before anything is rented.
      if (format !== 'table') await loadWriter(format);
    },
    list,
    changes,
    live,
    item,
    text: (text) => sink.write(cleanLines(text)),
    async markdown(text) {
      return sink.write(wrappedMarkdown(cleanLines(text), (await style()).cells));
    },
    exact: (text) => sink.write(isTerminal() ? cleanLines(text) : text),
  };
}

/** Cuts nothing in a pipe, or on a terminal of unknown width. */
const UNBOUNDED = Number.POSITIVE_INFINITY;

/** Loads a format's code at its first use. */
async function loadWriter(format: Format): Promise<<T>(forms: Forms<T>) => Writer<T>> {
  switch (format) {
    case 'table':
    case 'json':
      return jsonWriter;
    case 'jsonl':
      return jsonLinesWriter;
    case 'yaml':
      return loadYamlWriter();
    case 'csv':
      return csvWriter;
    case 'tsv':
      return tsvWriter;
    case 'id':
      return idWriter;
  }
}

/** Skips rows without an ID. */
function idWriter<T>({ id }: Forms<T>): Writer<T> {
  const item = (row: T) => {
    const text = id(row);
    return text === null ? '' : `${clean(text)}\n`;
  };
  return { item, list: (rows, sink, coming) => writeLines(rows, item, sink, { coming }) };
}
