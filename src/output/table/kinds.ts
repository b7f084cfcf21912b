import { clean } from '../../rules/clean.ts';
import { roublesText } from '../../rules/money.ts';
import { GONE, UNKNOWN } from '../../rules/statuses.ts';
import type { Colour } from '../colour.ts';
import type { Cell, Kind } from '../output.ts';
import { instant, local, localTime, relative } from '../time.ts';
import { NO_CELL, type Shown } from './layout.ts';
import { withoutRoubleSign } from './rouble.ts';

/**
 * Who reads a table or details. A person at a terminal sees `1,089.90 ₽` and `3 min ago`. In a pipe
 * or a file, amounts are bare decimals, and times are local: an age would soon be wrong.
 */
export interface Reader {
  readonly terminal: boolean;
  /** Milliseconds since 1970. */
  now(): number;
  /** The text stays on the screen while time passes, so "now" would soon be wrong. */
  readonly live?: boolean;
  /** Print `RUB` instead of the rouble sign. */
  readonly ascii?: boolean;
}

const GIB = 1024 ** 3;

/** Formats a cell for people; '' for no value. Always one clean line. */
export function cellText(value: Cell, kind: Kind | undefined, reader: Reader): string {
  const time = kind === 'time' && typeof value === 'string' ? instant(value) : undefined;
  if (time !== undefined) {
    const isAge = reader.terminal && reader.live !== true;
    return isAge ? relative(time, reader.now()) : localTime(time);
  }
  return clean(plainText(value, kind, reader));
}

/**
 * Formats a table cell. Returns a dash for no value: an empty cell would shift the fields of awk.
 */
export function shownCell(value: Cell, kind: Kind | undefined, reader: Reader): Shown {
  const text = cellText(value, kind, reader);
  if (text === '') return NO_CELL;
  const isLoad = (kind === 'load' || kind === 'bar') && typeof value === 'number';
  const colour = isLoad ? loadColour(value) : kindColour(text, kind);
  return { text, colour, numeric: typeof value === 'number' && kind !== 'bar' };
}

/** Whether a table shows texts of this kind unchanged (once clean) and without colour. */
export function isShownRaw(kind: Kind | undefined, { terminal }: Reader): boolean {
  switch (kind) {
    case undefined:
    case 'text':
      return true;
    case 'money':
      return !terminal;
    default:
      return false;
  }
}

/** Formats a value for details. They have room, so times are both local and relative. */
export function detailText(value: Cell, kind: Kind | undefined, reader: Reader): string {
  const time = kind === 'time' && typeof value === 'string' ? instant(value) : undefined;
  if (time !== undefined) {
    return reader.terminal ? `${local(time)} (${relative(time, reader.now())})` : local(time);
  }
  return plainText(value, kind, reader);
}

function plainText(value: Cell, kind: Kind | undefined, reader: Reader): string {
  const text = textOfKind(value, kind, reader);
  return reader.ascii === true ? withoutRoubleSign(text) : text;
}

function textOfKind(value: Cell, kind: Kind | undefined, reader: Reader): string {
  const text = rawText(value);
  if (text === '') return text;
  switch (kind) {
    case 'money':
      return reader.terminal ? roublesText(text) : text;
    case 'bytes':
      return gibibytes(text);
    case 'gigabytes':
      return /^[0-9.]+$/.test(text) ? `${text} GB` : text;
    case 'load':
      return reader.terminal ? `${text} %` : text;
    case 'bar':
      // A space keeps an empty bar from becoming a dash.
      return barOf(Number(text) / 100, BAR_CELLS) || ' ';
    case 'mark':
      return text === 'true' ? '*' : '';
    case 'yes':
      return text === 'true' ? 'yes' : text === 'false' ? 'no' : text;
    default:
      return text;
  }
}

/**
 * Returns the value itself as text: the decimal string, the ISO time, true or false; '' for null.
 */
export function rawText(value: Cell): string {
  if (value === null || value === undefined) return '';
  // The service may send an object in place of the documented text.
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Prints two decimals, but never shows a tiny size as zero. */
function gibibytes(text: string): string {
  if (!/^[0-9]+$/.test(text)) return text;
  const size = Number(text) / GIB;
  return size > 0 && size < 0.01 ? '<0.01 GiB' : `${size.toFixed(2)} GiB`;
}

export function isNumeric(kind: Kind | undefined): boolean {
  return kind === 'money' || kind === 'bytes' || kind === 'gigabytes' || kind === 'load';
}

/** Whether a value is never cut: a part of it would mislead. */
export function isWhole(kind: Kind | undefined): boolean {
  return kind === 'status' || kind === 'time' || kind === 'blocks';
}

/** Bar width in a table. */
const BAR_CELLS = 10;
const EIGHTHS = '▏▎▍▌▋▊▉';

/** Draws to an eighth of a cell, so that the smallest amount is visible. */
export function barOf(share: number, room: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * room * 8);
  const seen = share > 0 ? Math.max(1, eighths) : 0;
  return '█'.repeat(Math.floor(seen / 8)) + EIGHTHS.charAt((seen % 8) - 1);
}

/** In percent: the lowest good load, and the highest load that counts as waste. */
const [GOOD, HARDLY] = [80, 5];

function loadColour(percent: number): Colour | undefined {
  if (percent > GOOD) return 'green';
  return percent < HARDLY ? 'yellow' : undefined;
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  ACTIVE: 'green',
  AVAILABLE: 'green',
  IN_USE: 'green',
  COMPLETED: 'green',
  ERROR: 'red',
  FAILED: 'red',
  SUSPENDED: 'red',
  [UNKNOWN]: 'red',
  [GONE]: 'red',
  STOPPED: 'dim',
  TERMINATED: 'dim',
  DELETED: 'dim',
  CANCELLED: 'dim',
  EXPIRED: 'dim',
};

/** Event severities of the API document (Events). Other types are routine. */
const SEVERITY_COLOURS: ReadonlyMap<string, Colour> = new Map([
  ['ERROR', 'red'],
  ['WARNING', 'yellow'],
]);

/** Returns the colour of a documented status; none for a status that the service adds later. */
export function statusColour(word: string): Colour | undefined {
  if (Object.hasOwn(STATUS_COLOURS, word)) return STATUS_COLOURS[word];
  return /^[A-Z]+ING$/.test(word) ? 'yellow' : undefined;
}

/** Returns the colour of a `doctor` check's first word. */
export function checkColour(mark: string): Colour {
  return mark === 'pass' ? 'green' : mark === 'WARN' ? 'yellow' : 'red';
}

export function kindColour(text: string, kind: Kind | undefined): Colour | undefined {
  if (kind === 'severity') return SEVERITY_COLOURS.get(text);
  return kind === 'status' ? statusColour(text) : undefined;
}
