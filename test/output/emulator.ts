import { clearLine, cursorTo, type Direction, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import { createScreen } from '../support/screen.ts';

/** A stream that acts as a terminal, with its screen. */
export interface Emulator {
  readonly stream: Writable & { isTTY: true; columns: number; rows: number };
  /** Returns the visible screen. `all` also includes lines that scrolled away. */
  screen(): Promise<string>;
  all(): Promise<string>;
  cursor(): Promise<{ x: number; y: number }>;
  resize(columns: number, rows: number): void;
  /** Every write, in order. */
  readonly writes: readonly string[];
}

export function createEmulator(columns: number, rows: number): Emulator {
  const screen = createScreen({ columns, rows, convertEol: true });
  const writes: string[] = [];
  const stream = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        if (chunk !== '') writes.push(String(chunk));
        screen.write(String(chunk), done);
      },
    }),
    { isTTY: true as const, columns, rows },
  );
  // The methods of a TTY that a spinner calls.
  Object.assign(stream, {
    cursorTo: (x: number) => cursorTo(stream, x),
    clearLine: (direction: Direction) => clearLine(stream, direction),
    moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
  });
  // Waits until the screen has processed all earlier writes.
  const settled = () => new Promise<void>((resolve) => stream.write('', () => resolve()));
  return {
    stream,
    writes,
    screen: () => settled().then(screen.shown),
    all: () => settled().then(screen.all),
    cursor: () => settled().then(screen.cursor),
    resize(width, height) {
      screen.resize(width, height);
      Object.assign(stream, { columns: width, rows: height });
      stream.emit('resize');
    },
  };
}
