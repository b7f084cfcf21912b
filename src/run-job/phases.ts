import type { Context } from '../context.ts';
import type { Progress } from '../output/output.ts';
import type { FileList } from './copy/files.ts';

/** Shows the progress of a job: one changing line in a terminal, otherwise a line per phase. */
export interface Phases {
  begin(what: 'Renting' | 'Starting' | 'Connecting' | 'Running' | 'Terminating'): void;
  begin(what: 'Copying', files: FileList): void;
  begin(what: 'Fetching', path: string): void;
  /** Bytes copied so far. */
  bytes(count: number): void;
  /** Leaves the line to the command's output. */
  clear(): void;
}

export function createPhases(name: string, { err, host }: Context): Phases {
  let shown: Progress | undefined;
  let text = '';
  let total: number | undefined;
  function clear(): void {
    shown?.done();
    shown = undefined;
  }
  return {
    begin(what: string, about?: FileList | string) {
      clear();
      total = typeof about === 'object' ? about.bytes : undefined;
      text = textOf(what, name, about);
      if (host.stderr.isTTY === true) shown = err.progress(text);
      else err.note(text);
    },
    bytes(count) {
      if (total !== undefined && total > 0) {
        shown?.update(`${text}  ${bar(Math.min(1, count / total))}`);
      } else {
        shown?.update(`${text}  ${sizeText(count)}`);
      }
    },
    clear,
  };
}

function textOf(what: string, name: string, about: FileList | string | undefined): string {
  if (typeof about === 'string') return `${what} ${about}`;
  if (about !== undefined) return `${what} ${filesText(about)}`;
  return `${what} ${name}`;
}

/** `1,204 files (83 MB)` */
export function filesText({ count, bytes }: Pick<FileList, 'count' | 'bytes'>): string {
  const files = count === 1 ? '1 file' : `${count.toLocaleString('en-US')} files`;
  return `${files} (${sizeText(bytes)})`;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

export function sizeText(bytes: number): string {
  let at = 0;
  let size = bytes;
  while (size >= 1000 && at < UNITS.length - 1) {
    size /= 1000;
    at += 1;
  }
  const digits = at === 0 || size >= 10 ? 0 : 1;
  return `${size.toFixed(digits)} ${UNITS[at]}`;
}

const CELLS = 20;

function bar(share: number): string {
  const full = Math.round(share * CELLS);
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${Math.floor(share * 100)} %`;
}
