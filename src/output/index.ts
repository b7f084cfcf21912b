import type { Writable } from 'node:stream';
import { usageError } from '../errors.ts';
import { lazy } from '../lazy.ts';
import { clean } from '../rules/clean.ts';
import type { Clock } from '../system/clock.ts';
import { paintFor } from './colour.ts';
import { type Writer, writeLines } from './formats/batch.ts';
import { jsonLinesWriter, jsonWriter } from './formats/json.ts';
import { compileQuery, findingText, type Query } from './formats/query.ts';
import { csvWriter, tsvWriter } from './formats/separated.ts';
import { loadYamlWriter } from './formats/yaml.ts';
import { type Forms, formsOf, sortRows } from './forms.ts';
import { writeChanges } from './live/changes.ts';
import { canRedraw, createLive, createPage } from './live/live.ts';
import type { Block, Format, ListOptions, Live, Output, OutputSettings, View } from './output.ts';
import { eachRow, isArray, type Rows } from './rows.ts';
import { cleanLines } from './sanitise.ts';
import { withProfile } from './shell-line.ts';
import { createSink, type Sink, type SyncWrite } from './sink.ts';
import { columnsText, detailsText, sectionOf } from './table/details.ts';
import { lacksRoubleSign, withoutRoubleSign } from './table/rouble.ts';
import { screenText } from './table/screen.ts';
import { writeTable } from './table/table.ts';
import { terminalColumns, wrappedMarkdown } from './width.ts';

export { RED_ERROR, wantsColour } from './colour.ts';
export { checkColumns, parseFormat } from './forms.ts';
export { hideIn, mask } from './mask.ts';
export { createMessages, type MessagesOptions } from './messages.ts';
export { cleanLines, escapeUnseen, hasUnseen } from './sanitise.ts';
export { terminalColumns, wrapped } from './width.ts';

interface OutputOptions {
  /** Opens the stream at its first use. */
  readonly stdout: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** Writes to non-TTY stdout without creating a stream; see Host. */
  readonly syncWrite?: SyncWrite | undefined;
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
  borrowScreen?: ((leave: () => void, back: () => void) => () => void) | undefined;
}

/**
 * Prints a command's result on stdout in the chosen format. Loads the format's code at the first
 * write.
 */
export function createOutput(options: OutputOptions): Output {
  const { format, columns, sort } = options.settings;
  const target = targetOf(options);
  const { sink, isTerminal } = target;
  return {
    format,
    get terminal() {
      return isTerminal();
    },
    get unread() {
      return sink.ended;
    },
    people: format === 'table' && columns === undefined && sort === undefined,
    async prepare() {
      await target.query();
      // Loads the writer before anything is rented.
      if (format !== 'table') await loadWriter(format);
    },
    list: (rows, view, how = {}) => writeList(rows, view, how, target),
    item: (value, view) => writeItem(value, view, target),
    changes: (readings, view, { one = false } = {}) => watchList(readings, view, one, target),
    live: async () => openLive(target),
    screen: (blocks, now) => writeScreen(blocks, now, target),
    text: (text) => sink.write(cleanLines(text)),
    async markdown(text) {
      return sink.write(wrappedMarkdown(cleanLines(text), (await styleFor(target)).cells));
    },
    exact: (text) => sink.write(isTerminal() ? cleanLines(text) : text),
  };
}

/** Where and how one Output writes. */
interface Target {
  readonly options: OutputOptions;
  readonly sink: Sink;
  isTerminal(): boolean;
  /** Compiles the expression of `--query` once; undefined without one. */
  query(): Promise<Query | undefined>;
}

function targetOf(options: OutputOptions): Target {
  // Don't destructure `stdout`: reading the property opens the stream.
  const { settings, syncWrite, stop } = options;
  return {
    options,
    sink: createSink(() => options.stdout, { plain: syncWrite, stop }),
    isTerminal: () => syncWrite === undefined && options.stdout.isTTY === true,
    query: lazy(async () =>
      settings.query === undefined ? undefined : compileQuery(settings.query, settings.queryLimits),
    ),
  };
}

async function writeList<T>(
  given: Rows<T>,
  view: View<T>,
  how: ListOptions,
  target: Target,
): Promise<void> {
  const { options, sink } = target;
  const { settings } = options;
  const format = formatFor(view, settings);
  const [only] = how.one === true && isArray(given) && given.length === 1 ? given : [];
  if (only !== undefined && format !== 'table') {
    return writeItem(only, view, target);
  }
  const forms = formsOf(view, settings);
  const find = await target.query();
  let rows = given;
  const all = async <R>(form: (row: T) => R): Promise<R[]> => {
    const taken: R[] = [];
    await eachRow(rows, sink, (row) => void taken.push(form(row)));
    return taken;
  };
  if (forms.order !== undefined) {
    rows = sortRows(isArray(rows) ? rows : await all((row) => row), forms.order);
  }
  if (find !== undefined) return writeFinding(find(await all(forms.data)), target);
  if (format !== 'table') return (await loadWriter(format))(forms).list(rows, sink, how);
  const count = await writeTable(rows, forms, sink, await styleFor(target, how.live), how);
  // A live view has already shown that there are no rows.
  if (count === 0 && how.live !== true && !sink.ended) options.note(view.empty);
}

async function writeItem<T>(value: T, view: View<T>, target: Target): Promise<void> {
  const { options, sink } = target;
  const { settings } = options;
  const format = formatFor(view, settings);
  const forms = formsOf(view, settings);
  const find = await target.query();
  if (find !== undefined) return writeFinding(find(forms.data(value)), target);
  if (format !== 'table') return sink.write((await loadWriter(format))(forms).item(value));
  const safe = forms.safe(value);
  const style = await styleFor(target);
  const { sections = [sectionOf(view.columns)] } = view;
  return sink.write(
    settings.columns === undefined
      ? detailsText(safe, sections, style)
      : columnsText(safe, forms.columns, style),
  );
}

async function writeFinding(finding: unknown, { options, sink }: Target): Promise<void> {
  return sink.write(await findingText(finding, options.settings.format, options.settings));
}

async function watchList<T>(
  readings: AsyncIterable<readonly T[]>,
  view: View<T>,
  one: boolean,
  target: Target,
): Promise<void> {
  const { settings } = target.options;
  const forms = formsOf(view, settings);
  if (forms.order !== undefined) {
    throw usageError("--sort needs a complete list; it can't be used with --watch or --follow");
  }
  const rows = (changed: Rows<T>) => writeList(changed, view, { live: true }, target);
  const { sink } = target;
  const { format } = settings;
  return writeChanges(readings, { forms, format, sink, query: await target.query(), one, rows });
}

function openLive({ options, sink, isTerminal }: Target): Live | undefined {
  if (options.settings.format !== 'table') return undefined;
  const { stdout, env, colour, borrowScreen } = options;
  if (!isTerminal() || !canRedraw(stdout, env)) return undefined;
  return createLive({ stdout, sink, colour, render, borrowScreen });

  async function render(
    write: (out: Output) => Promise<void>,
    columns: number | undefined,
  ): Promise<string> {
    const { clock, settings, profile } = options;
    const page = createPage(columns);
    const note = (text: string) => void page.stream.write(`${clean(withProfile(text, profile))}\n`);
    await write(createOutput({ stdout: page.stream, env, clock, settings, colour, profile, note }));
    return page.text();
  }
}

async function writeScreen(
  blocks: readonly Block[],
  now: number | undefined,
  target: Target,
): Promise<void> {
  const style = await styleFor(target);
  const bars = style.terminal && target.options.env.TERM !== 'dumb';
  const texts: readonly Block[] = style.ascii
    ? JSON.parse(withoutRoubleSign(JSON.stringify(blocks)))
    : blocks;
  const text = await screenText(texts, { ...style, now: () => now ?? style.now(), bars });
  return target.sink.write(text);
}

async function styleFor({ options, isTerminal }: Target, live = false) {
  const { clock, env, profile, settings, colour } = options;
  const terminal = isTerminal();
  return {
    terminal,
    live,
    now: () => clock.now(),
    ascii: lacksRoubleSign(env),
    profile,
    header: settings.header,
    paint: await paintFor(colour),
    cells: (terminal && terminalColumns(options.stdout, env)) || UNBOUNDED,
  };
}

/** Cuts nothing in a pipe, or on a terminal of unknown width. */
const UNBOUNDED = Number.POSITIVE_INFINITY;

function formatFor<T>({ isDocument }: View<T>, { format }: OutputSettings): Format {
  return isDocument === true && format !== 'jsonl' ? 'json' : format;
}

type LoadedWriter = <T>(forms: Forms<T>) => Writer<T>;

async function loadWriter(format: Exclude<Format, 'table'>): Promise<LoadedWriter> {
  return format === 'yaml' ? loadYamlWriter() : WRITERS[format];
}

/** Skips rows without an ID. */
function idWriter<T>({ id }: Forms<T>): Writer<T> {
  const item = (row: T) => {
    const text = id(row);
    return text === null ? '' : `${clean(text)}\n`;
  };
  return { item, list: (rows, sink, coming) => writeLines(rows, item, sink, { coming }) };
}

const WRITERS: Readonly<Record<Exclude<Format, 'table' | 'yaml'>, LoadedWriter>> = {
  json: jsonWriter,
  jsonl: jsonLinesWriter,
  csv: csvWriter,
  tsv: tsvWriter,
  id: idWriter,
};
