import { Writable } from 'node:stream';
import { wrapAnsi } from 'fast-wrap-ansi';
import { clean } from '../../rules/clean.ts';
import { type Paint, paintFor } from '../colour.ts';
import type { Foot, Live, Output } from '../output.ts';
import type { Sink } from '../sink.ts';
import { clamp } from '../width.ts';

type LiveTerminal = Writable & { isTTY?: boolean; columns?: number; rows?: number };

/** Whether the terminal can redraw a frame: it can move its cursor, and its size is known. */
export function canRedraw(
  stream: LiveTerminal,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb' && isSized(stream);
}

function isSized({ columns = 0, rows = 0 }: LiveTerminal): boolean {
  return columns > 0 && rows > 0;
}

interface LiveOptions {
  readonly stdout: LiveTerminal;
  readonly sink: Sink;
  readonly colour: boolean;
  /** Returns the output of `write` on a terminal with that many columns. */
  render(write: (out: Output) => Promise<void>, columns: number | undefined): Promise<string>;
  readonly borrowScreen: ((leave: () => void, back: () => void) => () => void) | undefined;
}

const ESC = '\u001b[';
/** An alternate screen, as `less` has: leaving it restores the terminal's earlier content. */
const ENTER = `${ESC}?1049h`;
const LEAVE = `${ESC}?1049l`;
/**
 * Synchronized output: terminals that support these codes show everything between them at once.
 * Other terminals ignore the codes.
 */
const BEGIN = `${ESC}?2026h`;
const COMMIT = `${ESC}?2026l`;
/**
 * Turns off line wrapping: a character that the terminal draws wider than expected must not break a
 * line.
 */
const NO_WRAP = `${ESC}?7l`;
const WRAP = `${ESC}?7h`;
const CLEAR_LINE = `${ESC}2K`;
const CLEAR_BELOW = `${ESC}J`;

/**
 * Redraws a view in place, on an alternate screen. A frame is one write of the changed lines. The
 * cursor stays visible, since a killed program could not show it again.
 */
export function createLive({ stdout, sink, colour, render, borrowScreen }: LiveOptions): Live {
  let view: LiveView | undefined;
  let over = false;
  const screen = createScreen(stdout, sink);
  const refresh = oneAtATime(async () => {
    if (view === undefined || over || !isSized(stdout)) return;
    const body = await render(view.write, stdout.columns);
    const paint = await paintFor(colour);
    // The terminal may have been resized while the frame was rendered.
    const { columns = 0, rows = 0 } = stdout;
    if (over || columns === 0 || rows === 0) return;
    await screen.show(frame(body, view.foot(), { columns, rows, paint }));
  });
  const onResize = () => {
    screen.forget();
    refresh().catch(() => undefined);
  };
  stdout.on('resize', onResize);
  const giveBack = borrowScreen?.(screen.leave, onResize);

  return {
    get ended() {
      return sink.ended;
    },
    draw(write, foot) {
      view = { write, foot };
      return refresh();
    },
    refresh,
    async end() {
      if (over) return;
      over = true;
      stdout.off('resize', onResize);
      giveBack?.();
      if (!screen.entered || view === undefined || sink.ended) return;
      let last = '';
      try {
        const paint = await paintFor(colour);
        last = await render(view.write, stdout.columns);
        const below = view.foot().map((line) => `${footText(line, paint)}\n`);
        if (below.length > 0) last += `\n${below.join('')}`;
      } finally {
        await sink.write(`${LEAVE}${last}`);
      }
    },
  };
}

interface LiveView {
  write(out: Output): Promise<void>;
  foot(): readonly Foot[];
}

/** The alternate screen, and what it shows. */
function createScreen(stdout: LiveTerminal, sink: Sink) {
  let entered = false;
  /** The lines on the screen; undefined if unknown, for example after a resize. */
  let shown: readonly string[] | undefined;
  return {
    get entered() {
      return entered;
    },
    forget() {
      shown = undefined;
    },
    leave() {
      if (entered) stdout.write(LEAVE);
      entered = false;
    },
    async show(lines: readonly string[]): Promise<void> {
      const changes = entered ? difference(shown, lines) : ENTER + difference(undefined, lines);
      if (changes === '') return;
      entered = true;
      shown = lines;
      await sink.write(`${BEGIN}${NO_WRAP}${changes}${WRAP}${COMMIT}`);
    },
  };
}

/** Returns a function that runs `work`, and runs it again if called during a run. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  return () => {
    again = true;
    running ??= (async () => {
      try {
        while (again) {
          again = false;
          await work();
        }
      } finally {
        running = undefined;
      }
    })();
    return running;
  };
}

interface Room {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

/**
 * Returns the lines of a frame, at least one fewer than the screen has, since the cursor is below
 * them.
 */
function frame(body: string, foot: readonly Foot[], { columns, rows, paint }: Room): string[] {
  const below = foot.flatMap((line) => fold(footText(line, paint), columns));
  const lines = body
    .trimEnd()
    .split('\n')
    .flatMap((line) => fold(line, columns));
  const most = Math.max(1, rows - 1);
  const gap = below.length > 0 && lines.length + below.length < most ? [''] : [];
  const room = Math.max(1, most - below.length - gap.length);
  const kept = lines.length <= room ? lines : shortened(lines, room, columns);
  return [...kept, ...gap, ...below].slice(0, most);
}

/** Wraps a line for the terminal: a redraw needs each line's row. */
export function fold(line: string, columns: number): string[] {
  return wrapAnsi(line, columns, { hard: true, trim: false }).split('\n');
}

function shortened(lines: readonly string[], room: number, columns: number): string[] {
  const kept = lines.slice(0, Math.max(0, room - 1));
  const hidden = lines.length - kept.length;
  // At least two: the last line of the room shows the count.
  const count = `… ${hidden} more lines below the screen`;
  return [...kept, clamp(count, columns)];
}

function footText({ text, colour }: Foot, paint: Paint): string {
  return paint(colour, clean(text));
}

/** Returns the codes that turn one frame into the other; '' if the frames are equal. */
function difference(before: readonly string[] | undefined, after: readonly string[]): string {
  const changed = after.flatMap((line, at) =>
    before?.[at] === line ? [] : [`${position(at)}${CLEAR_LINE}${line}`],
  );
  const rest =
    before === undefined || before.length > after.length
      ? `${position(after.length)}${CLEAR_BELOW}`
      : '';
  if (changed.length === 0 && rest === '') return '';
  return `${changed.join('')}${rest}${position(after.length)}`;
}

/** Returns the code that moves to the beginning of a line, counted from 0. */
function position(line: number): string {
  return `${ESC}${line + 1};1H`;
}

/** Acts as a terminal that stores its output as text. */
export function createPage(columns = 0) {
  const parts: string[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      parts.push(String(chunk));
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: true as const, columns }),
    text: () => parts.join(''),
  };
}
