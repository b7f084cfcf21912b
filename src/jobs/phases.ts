import type { Context } from '../context.ts';
import type { PHASES } from '../json-results/jobs.ts';
import type { Progress } from '../output/output.ts';
import { spanText } from '../output/time.ts';
import { clamp, width } from '../output/width.ts';
import type { FileList, Overview, Sized } from './files/files.ts';

export type Phase = (typeof PHASES)[number];

/**
 * Shows the progress of a job: one changing line in a terminal, otherwise a line per phase and per
 * minute.
 */
export interface Phases {
  readonly current: Phase;
  /** `about`: the subject of the phase; by default the instance. */
  begin(phase: Phase, about?: string): void;
  /** Shows the bytes copied so far and, if the total is known, their share and the time left. */
  bytes(count: number, total?: number): void;
  /** Adds a detail to the line. */
  update(detail: string): void;
  /** Clears the line for the command's output. */
  clear(): void;
}

/** `isQuiet`: shows nothing, for a job that `reap` completes. */
export function createPhases(name: string, { err, host, clock }: Context, isQuiet = false): Phases {
  let current: Phase = 'renting';
  let shown: Progress | undefined;
  let text = '';
  /** The first bytes of the phase, and when they were seen. */
  let first: { readonly count: number; readonly time: number } | undefined;
  const isTerminal = host.stderr.isTTY === true;
  function clear(): void {
    shown?.done();
    shown = undefined;
  }
  function update(detail: string): void {
    shown?.update(`${text}  ${detail}`);
  }
  return {
    get current() {
      return current;
    },
    begin(phase, about = name) {
      clear();
      current = phase;
      const before = text;
      text = `${phase.charAt(0).toUpperCase()}${phase.slice(1)} ${about}`;
      first = undefined;
      if (isQuiet) return;
      shown = err.progress(text);
      if (!isTerminal && text !== before) err.note(text);
    },
    bytes(count, total = 0) {
      const time = clock.monotonic();
      // A new attempt begins at zero.
      if (first === undefined || count < first.count) first = { count, time };
      const seconds = (time - first.time) / 1000;
      const said = progressText({ count, total, seconds, since: first.count });
      const columns = isTerminal ? host.stderr.columns : undefined;
      shown?.update(columns ? copyLine(text, said, { count, total }, columns) : `${text}  ${said}`);
    },
    update,
    clear,
  };
}

const MOST_NAMED = 4;

/** Formats names as `train`, `train-1 to train-8`, `train-2 and train-5`, or `6 instances`. */
export function namesText(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const last = others.at(-1);
  if (last === undefined) return first;
  const number = (name: string) => Number(/\d+$/.exec(name)?.[0]);
  const isRow = names.every((name, at) => number(name) === number(first) + at);
  if (isRow && names.length > 2) return `${first} to ${last}`;
  if (names.length > MOST_NAMED) return `${names.length} instances`;
  return `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** Formats counts as `1,204 files (83 MB)`. */
export function filesText({ count, bytes }: Pick<FileList, 'count' | 'bytes'>): string {
  const files = count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`;
  return `${files} (${sizeText(bytes)})`;
}

/** Names the largest entries of the folder; null for at most one. */
export function largestText({ largest }: Overview): string | null {
  return largest.length > 1 ? sizedText(largest) : null;
}

/** Counts what `--sync` leaves out, and names the largest entries; null for nothing. */
export function leftOutText({ rules }: FileList, { leftOut }: Overview): string | null {
  const { largest, isPart } = leftOut;
  if (largest.length === 0) return null;
  const by = rules === undefined ? '--exclude' : `${rules} or --exclude`;
  return `${isPart ? 'at least ' : ''}${filesText(leftOut)} by ${by}: ${sizedText(largest)}`;
}

function sizedText(entries: readonly Sized[]): string {
  return entries.map(({ path, bytes }) => `${path} (${sizeText(bytes)})`).join(', ');
}

const UNITS = ['byte', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  let at = 0;
  let size = bytes;
  while (size >= 1000 && at < UNITS.length - 1) {
    size /= 1000;
    at += 1;
  }
  const digits = at === 0 || size >= 10 ? 0 : 1;
  const plural = at === 0 && bytes !== 1 ? 's' : '';
  return `${size.toFixed(digits)} ${UNITS[at]}${plural}`;
}

/** Bar widths in cells. A shorter bar shows too little. */
const [SHORT_BAR, LONG_BAR] = [8, 20];

/** Cells of a terminal line that the spinner needs. */
const SPINNER = 3;

/** Fits a copy's line into a terminal: leaves out the bar, then the subject of the phase. */
export function copyLine(
  text: string,
  said: string,
  { count, total }: Pick<Copied, 'count' | 'total'>,
  columns: number,
): string {
  const line = `${text}  ${said}`;
  const room = columns - SPINNER - width(line) - 1;
  if (total > 0 && room >= SHORT_BAR) {
    return `${text}  ${bar(count / total, Math.min(room, LONG_BAR))} ${said}`;
  }
  if (room >= -1) return line;
  return clamp(`${text.replace(/ .*/, '')}  ${said}`, columns - SPINNER);
}

function bar(share: number, cells: number): string {
  const full = Math.round(Math.min(1, share) * cells);
  return '█'.repeat(full) + '░'.repeat(cells - full);
}

/** Seconds before a speed says something. */
const SHORTEST = 3;

interface Copied {
  readonly count: number;
  /** 0 if unknown. The instance's estimate may be too low. */
  readonly total: number;
  /** Seconds since `since` bytes were copied. */
  readonly seconds: number;
  readonly since: number;
}

/** Formats progress as `33 % of 2.7 GB, 35 MB/s, 43s left`. */
export function progressText({ count, total, seconds, since }: Copied): string {
  const isKnown = total > 0 && count <= total;
  const parts = [
    isKnown ? `${Math.floor((count / total) * 100)} % of ${sizeText(total)}` : sizeText(count),
  ];
  const speed = seconds < SHORTEST ? 0 : (count - since) / seconds;
  if (speed > 0) parts.push(`${sizeText(speed)}/s`);
  if (speed > 0 && isKnown) parts.push(`${spanText((total - count) / speed)} left`);
  return parts.join(', ');
}
