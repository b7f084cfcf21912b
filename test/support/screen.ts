import headless from '@xterm/headless';

/** The screen of a terminal. */
export interface Screen {
  write(text: string, drawn?: () => void): void;
  /** The screen now, without trailing blanks and empty lines. */
  shown(): string;
  /** The screen, with everything that scrolled away above it. */
  all(): string;
  /** The screen with wrapped lines joined. */
  unbroken(): string;
  /** The line of the cursor. */
  line(): string;
  /** The position of the cursor on the screen, from 0. */
  cursor(): { readonly x: number; readonly y: number };
  /** Called with the terminal's reply when a program queries it. */
  onReply(listener: (text: string) => void): void;
  resize(columns: number, rows: number): void;
  dispose(): void;
}

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** Set for output that does not come from a pty, where nothing turns a line feed into a new line. */
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
  // Cells beyond the edge, left from a longer line, are invisible.
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
