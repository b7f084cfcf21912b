import headless from '@xterm/headless';

/** What a person sees of a terminal. */
export interface Screen {
  write(text: string, drawn?: () => void): void;
  /** The screen now, without blanks at the ends of lines and empty lines below. */
  shown(): string;
  /** The screen, and above it all that has scrolled away. */
  all(): string;
  /** The same, with the lines whole that the terminal itself broke. */
  unbroken(): string;
  /** The line of the cursor. */
  line(): string;
  /** The place of the cursor on the screen, counted from 0. */
  cursor(): { readonly x: number; readonly y: number };
  /** Calls back with what the terminal replies when a program asks it. */
  onReply(listener: (text: string) => void): void;
  resize(columns: number, rows: number): void;
  dispose(): void;
}

export interface ScreenOptions {
  readonly columns: number;
  readonly rows: number;
  /** Nothing translates a line feed into a new line, as the system does for a program on a pty. */
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
  // Cells behind the edge, of a line that was longer once, are not seen.
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
