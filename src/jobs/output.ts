import { leavingOf } from '../context/interrupts.ts';
import type { Context } from '../context.ts';
import { type CliError, ensureCliError } from '../errors.ts';
import { createSink } from '../output/sink.ts';

/** Writes the command's output to gpucloud's own stdout and stderr, byte for byte. */
export interface JobOutput {
  print(from: 'out' | 'err', bytes: Uint8Array): Promise<void>;
  /**
   * Starts a new line in the terminal if the command left one unfinished. A message of gpucloud
   * would otherwise continue or erase that line. `isEchoed`: the terminal shows ^C at the cursor.
   */
  endLine(isEchoed?: boolean): void;
  /** Whether stdout accepts no more output. Only a write detects that. */
  readonly isClosed: boolean;
  /** Why the rest of the output could not be written. The command continues. */
  readonly lost: CliError | undefined;
}

const LINE_FEED = 10;

/** `stop` stops the wait for a reader that doesn't read. */
export function createJobOutput({ host }: Context, stop: AbortSignal): JobOutput {
  const sinks = {
    out: createSink(() => host.stdout, { stop }),
    err: createSink(() => host.stderr, { stop }),
  };
  const terminals = { out: host.stdout.isTTY === true, err: host.stderr.isTTY === true };
  let isOpen = false;
  let lost: CliError | undefined;
  return {
    async print(from, bytes) {
      if (terminals[from]) isOpen = bytes.at(-1) !== LINE_FEED;
      try {
        await sinks[from].write(bytes);
      } catch (error) {
        stop.throwIfAborted();
        ensureCliError(error);
        lost ??= error;
      }
    },
    endLine(isEchoed = false) {
      if (isOpen || isEchoed) beginLine({ host });
      isOpen = false;
    },
    get isClosed() {
      return sinks.out.ended;
    },
    get lost() {
      return lost;
    },
  };
}

/** Starts a new line in the terminal if a command left one unfinished, and resets its colour. */
export function beginLine({ host: { stderr } }: Pick<Context, 'host'>): void {
  if (stderr.isTTY === true) stderr.write('\u001b[0m\n');
}

/** Prints a line of JSON to stderr, like every message of `run` itself. */
export async function printJson(value: unknown, { host, interrupts }: Context): Promise<void> {
  const stop = leavingOf(interrupts);
  await createSink(() => host.stderr, { stop }).write(`${JSON.stringify(value)}\n`);
}
