import headless from '@xterm/headless';

/** The screen of a terminal. */
export interface Screen {
  write(text: string, drawn?: () => void): void;
  /** Returns the current screen, without trailing blanks and empty lines. */
  shown(): string;
  /** Returns the screen and everything that scrolled away above it. */
  all(): string;
  /** Returns the screen with wrapped lines joined. */
  unbroken(): string;
  /** Returns the cursor's line. */
  line(): string;
  /** Returns the cursor's position on the screen, from 0. */
  cursor(): { readonly x: number; readonly y: number };
  /** Receives the terminal's reply when a program queries the terminal. */
  onReply(listener: (text: string) => void): void;
  resize(columns: number, rows: number): void;
  dispose(): void;
}

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** Set this for output without a pty, which would turn a line feed into a new line. */
  readonly convertEol?: boolean;
}

export function createScreen({ columns, rows, convertEol = false }: ScreenOptions): Screen {
  const terminal = new headless.Terminal({
    cols: columns,
    rows,
    scrollback: 2000,
    allowProposedApi: true,
    convertEol,
  });
  const buffer = () => terminal.buffer.active;
  // Skip cells beyond the edge, left from a longer line: they are invisible.
  const row = (at: number) =>
    buffer().getLine(at)?.translateToString(false, 0, terminal.cols) ?? '';

  function lines(from: number): string {
    return Array.from({ length: buffer().length - from }, (_, at) => row(from + at).trimEnd())
      .join('\n')
      .trimEnd();
  }

  function unbroken(): string {
    let text = '';
    for (let at = 0; at < buffer().length; at += 1) {
      const isBroken = buffer().getLine(at + 1)?.isWrapped === true;
      text += isBroken ? row(at) : `${row(at).trimEnd()}\n`;
    }
    return text.trimEnd();
  }

  return {
    write: (text, drawn) => terminal.write(text, drawn),
    shown: () => lines(buffer().baseY),
    all: () => lines(0),
    unbroken,
    line: () => row(buffer().baseY + buffer().cursorY).trimEnd(),
    cursor: () => ({ x: buffer().cursorX, y: buffer().cursorY }),
    onReply: (listener) => {
      terminal.onData(listener);
    },
    resize: (width, height) => terminal.resize(width, height),
    dispose: () => terminal.dispose(),
  };
}
