import { clamp, width } from '../width.ts';
import type { Terminal } from './spinner.ts';

/** Several lines at the cursor that are redrawn when they change. */
export interface Board {
  /** Replaces the lines shown before; with none, removes the board. */
  show(lines: readonly BoardLine[]): void;
  /** Writes permanent lines above the board. */
  above(text: string): void;
}

interface BoardLine {
  readonly text: string;
  /** Its work is done, so it gives way if there is no room for all. */
  readonly over: boolean;
}

const ESC = '\u001b[';
const BEGIN = `${ESC}?2026h`;
const COMMIT = `${ESC}?2026l`;
const CLEAR_RIGHT = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

/**
 * The cursor stays below the board and visible, so the program can end at any time without spoiling
 * the terminal.
 */
export function createBoard(stderr: Terminal & { rows?: number }): Board {
  let drawn: readonly string[] = [];
  let drawnAt = 0;
  let wanted: readonly BoardLine[] = [];

  function fitting(): string[] {
    const { columns = 0, rows = 0 } = stderr;
    if (columns <= 0) return [];
    const room = rows > 0 ? Math.max(1, rows - 1) : wanted.length;
    const lines = wanted.length <= room ? wanted : withoutOver(wanted, room - 1);
    const hidden = wanted.length - lines.length;
    const more = hidden === 0 ? [] : [`… and ${hidden} more`];
    // The last cell stays free: after it, a terminal may already be on the next line.
    return [...lines.map(({ text }) => text), ...more].map((text) => clamp(text, columns - 1));
  }

  /** A terminal that became narrower has wrapped the lines that no longer fit. */
  function height(): number {
    const { columns = 0, rows = 0 } = stderr;
    if (columns <= 0) return drawn.length;
    const tall = drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)),
      0,
    );
    return rows > 0 ? Math.min(tall, rows - 1) : tall;
  }

  function redraw(before: string): void {
    const next = fitting();
    const up = height();
    const same = before === '' && drawnAt === stderr.columns;
    if (same && next.length === drawn.length && next.every((line, at) => line === drawn[at])) {
      return;
    }
    const lines = next.map((line, at) =>
      same && line === drawn[at] ? '\n' : `${line}${CLEAR_RIGHT}\n`,
    );
    const rest = same && next.length >= drawn.length ? '' : CLEAR_BELOW;
    const start = up === 0 ? '\r' : `\r${ESC}${up}A`;
    const kept = before === '' ? '' : `${CLEAR_BELOW}${before}`;
    stderr.write(`${BEGIN}${start}${kept}${lines.join('')}${rest}${COMMIT}`);
    drawn = next;
    drawnAt = stderr.columns ?? 0;
  }

  return {
    show(lines) {
      wanted = lines;
      redraw('');
    },
    above: (text) => redraw(text),
  };
}

/** The lines in progress come first, as many as fit; then the finished ones. */
function withoutOver(lines: readonly BoardLine[], room: number): readonly BoardLine[] {
  const going = lines.filter(({ over }) => !over).slice(0, room);
  const over = lines.filter((line) => line.over).slice(0, room - going.length);
  return lines.filter((line) => going.includes(line) || over.includes(line));
}
