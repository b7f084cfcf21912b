import { Writable } from 'node:stream';
import headless from '@xterm/headless';

/** A stream that is a terminal, with the screen that a person would see. */
export interface Emulator {
  readonly stream: Writable & { isTTY: true; columns: number; rows: number };
  /** The screen alone; what has scrolled away is in `all`. */
  screen(): Promise<string>;
  all(): Promise<string>;
  cursor(): Promise<{ x: number; y: number }>;
  resize(columns: number, rows: number): void;
  /** Each write, as it came. */
  readonly writes: readonly string[];
}

export function createEmulator(columns: number, rows: number): Emulator {
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    allowProposedApi: true,
    convertEol: true,
  });
  const writes: string[] = [];
  const stream = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        if (chunk !== '') writes.push(String(chunk));
        terminal.write(String(chunk), done);
      },
    }),
    { isTTY: true as const, columns, rows },
  );
  // Behind whatever the stream still holds back while the terminal is busy.
  const settled = () => new Promise<void>((resolve) => stream.write('', () => resolve()));
  function lines(from: number): string {
    const { active } = terminal.buffer;
    return Array.from(
      { length: active.length - from },
      // Cells behind the edge, of a line that was longer once, are not seen.
      (_, at) => active.getLine(from + at)?.translateToString(false, 0, terminal.cols) ?? '',
    )
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  }
  return {
    stream,
    writes,
    async screen() {
      await settled();
      return lines(terminal.buffer.active.baseY);
    },
    async all() {
      await settled();
      return lines(0);
    },
    async cursor() {
      await settled();
      const { cursorX: x, cursorY: y } = terminal.buffer.active;
      return { x, y };
    },
    resize(width, height) {
      terminal.resize(width, height);
      Object.assign(stream, { columns: width, rows: height });
      stream.emit('resize');
    },
  };
}
