import type { Context } from '../context.ts';
import type { Progress } from '../output/output.ts';
import type { PHASES } from '../results/jobs.ts';
import type { FileList } from './copy/files.ts';

export type Phase = (typeof PHASES)[number];

/** Shows the progress of a job: one changing line in a terminal, otherwise a line per phase. */
export interface Phases {
  readonly current: Phase;
  /** `about`: the subject of the phase; by default the instance. */
  begin(phase: Phase, about?: string): void;
  /** Shows the bytes copied so far, with a bar if the total is known. */
  bytes(count: number, total?: number): void;
  /** Adds a detail to the line in a terminal. */
  update(detail: string): void;
  /** Clears the line for the command's output. */
  clear(): void;
}

/** `isQuiet`: shows nothing, for a job that `reap` completes. */
export function createPhases(name: string, { err, host }: Context, isQuiet = false): Phases {
  let current: Phase = 'renting';
  let shown: Progress | undefined;
  let text = '';
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
      text = `${phase.charAt(0).toUpperCase()}${phase.slice(1)} ${about}`;
      if (isQuiet) return;
      if (host.stderr.isTTY === true) shown = err.progress(text);
      else err.note(text);
    },
    bytes(count, total = 0) {
      update(total > 0 ? bar(Math.min(1, count / total)) : sizeText(count));
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
  const numbers = names.map((name) => Number(/\d+$/.exec(name)?.[0]));
  const isRow = numbers.every((number, at) => number === (numbers[0] ?? 0) + at);
  if (isRow && names.length > 2) return `${first} to ${last}`;
  if (names.length > MOST_NAMED) return `${names.length} instances`;
  return `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** Formats counts as `1,204 files (83 MB)`. */
export function filesText({ count, bytes }: Pick<FileList, 'count' | 'bytes'>): string {
  const files = count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`;
  return `${files} (${sizeText(bytes)})`;
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

const CELLS = 20;

function bar(share: number): string {
  const full = Math.round(share * CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${Math.floor(share * 100)} %`;
}
