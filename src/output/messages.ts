import { clean } from '../rules/clean.ts';
import { withoutKeys } from '../rules/secrets.ts';
import type { Clock } from '../system/clock.ts';
import { YELLOW_WARNING } from './colour.ts';
import { canSpin, createProgress, type Terminal } from './live/spinner.ts';
import type { Held, Messages, Progress } from './output.ts';
import { cleanLines } from './sanitise.ts';
import { withProfile } from './shell-line.ts';
import { lacksRoubleSign, withoutRoubleSign } from './table/rouble.ts';
import { terminalColumns, wrapped } from './width.ts';

export interface MessagesOptions {
  /** Opens the stream at its first use. */
  readonly stderr: Terminal;
  /** The value of TERM; without a value, the terminal counts as capable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** The profile from a flag; messages add it to suggested commands. */
  readonly profile?: string | undefined;
  readonly colour: boolean;
  /** Shows no spinner, even in a terminal, since `--debug` also writes to stderr. */
  readonly quietProgress?: boolean;
  /** Both the result and stderr are JSON: prints warnings as objects, and leaves out notes. */
  readonly json?: boolean;
  /** `--quiet`: no notes and no progress. */
  readonly quiet?: boolean;
  /** Gets the notes and progress that are not printed. */
  readonly onNote?: ((text: string) => void) | undefined;
}

/** Milliseconds between two lines of progress without a spinner. */
const LINE_EVERY = 60_000;

/** Ends a message that another sentence follows. */
export function withStop(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/**
 * Prints a command's messages on stderr. Never throws: an unread message must not stop an
 * operation.
 */
export function createMessages(options: MessagesOptions): Messages {
  let held: Set<string> | undefined;
  let spin: ReturnType<typeof createProgress> | undefined;

  let stream: Terminal | undefined;
  function opened(): Terminal {
    if (stream === undefined) {
      stream = options.stderr;
      // Without a listener, a closed stderr would crash the process in the middle of an operation.
      stream.on('error', () => undefined);
    }
    return stream;
  }

  function line(text: string): void {
    if (held !== undefined) {
      held.add(text);
      return;
    }
    const stderr = opened();
    if (stderr.writable) stderr.write(`${text}\n`);
  }

  /** A view that holds lines back wraps them itself. */
  function prose(text: string, hang = 0): void {
    if (held !== undefined) line(text);
    else line(wrapped(text, terminalColumns(opened(), options.env ?? {}), hang));
  }

  function progress(text: string): Progress {
    if (isSilent || options.quietProgress === true) {
      unprinted(text);
      return { update: unprinted, done: () => undefined };
    }
    const stderr = opened();
    if (!canSpin(stderr, options.env ?? {})) return minuteLines();
    spin ??= createProgress(stderr, options.clock);
    return spin(text);
  }

  /** Prints progress at intervals, so that a script's log shows that a long wait continues. */
  function minuteLines(): Progress {
    let shownAt = options.clock.monotonic();
    return {
      update(text) {
        if (options.clock.monotonic() - shownAt < LINE_EVERY) return;
        shownAt = options.clock.monotonic();
        note(text);
      },
      done: () => undefined,
    };
  }

  function hold(): Held {
    // Hold lines only for a terminal: a file gets each line at once.
    const lines = new Set<string>();
    if (opened().isTTY === true) held = lines;
    return {
      get lines() {
        return [...lines];
      },
      release() {
        held = undefined;
        for (const text of lines) prose(text);
        lines.clear();
      },
    };
  }

  const shown = (text: string) => {
    const own = withoutKeys(clean(withProfile(text, options.profile)));
    return lacksRoubleSign(options.env ?? {}) ? withoutRoubleSign(own) : own;
  };
  const isSilent = options.json === true || options.quiet === true;
  const unprinted = (text: string) => options.onNote?.(shown(text));
  const note = isSilent ? unprinted : (text: string) => prose(shown(text));
  if (options.json === true) {
    return {
      note,
      relay: () => undefined,
      warn: (code, text) => line(JSON.stringify({ warning: { code, message: shown(text) } })),
      debug: (text) => line(debugLine(text)),
      progress,
      hold,
    };
  }
  return {
    note,
    relay: (text) => line(withoutKeys(cleanLines(text.replace(/\r?\n$/, '')))),
    debug: (text) => prose(clean(text), 2),
    warn: (_code, text) =>
      prose(`${options.colour ? YELLOW_WARNING : 'warning:'} ${shown(text)}`, 'warning: '.length),
    progress,
    hold,
  };
}

/** Formats a `--debug` line as JSON. */
export function debugLine(text: string): string {
  return JSON.stringify({ debug: clean(text) });
}
