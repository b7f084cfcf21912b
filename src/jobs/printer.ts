import { CliError } from '../errors.ts';
import type { KeptOutput } from './kept.ts';
import type { JobOutput } from './output.ts';
import type { Offsets } from './remote/follow.ts';
import { orAborted } from './remote/within.ts';

/**
 * The most bytes of an output that may wait for their reader while the command runs, so that an
 * endless output does not fill this computer's disk.
 */
const MOST_WAITING = 1024 * 1024 * 1024;

/** Prints what is kept of a command's output, at the pace of its reader. */
export interface Printer {
  /** The offset of the next byte to print of each output. */
  readonly printed: Readonly<Offsets>;
  /** Keeps bytes of the command. Waits for a reader only if this computer can't keep them. */
  receive(from: 'out' | 'err', bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Prints bytes of another source after all output of the command. */
  printAfter: JobOutput['print'];
  /** Resolves once everything is printed. Throws the signal's reason. */
  finish(signal: AbortSignal): Promise<void>;
}

interface Printing {
  readonly kept: KeptOutput;
  /** The offset of the first byte to print of each output. */
  readonly start: Offsets;
  print: JobOutput['print'];
  /** Reports that {@link Printer.printed} has changed. */
  onPrinted(): void;
  /** Reports once that this computer can't keep the output. */
  onFault(fault: Error): void;
  /** Returns, after a while, whether the command has exited: then its output is finite. */
  hasExited(signal: AbortSignal): Promise<boolean>;
}

export function createPrinter(
  { kept, start, print, onPrinted, onFault, hasExited }: Printing,
  mostWaiting = MOST_WAITING,
): Printer {
  const printed = { ...start };
  const turns = { out: Promise.resolve(), err: Promise.resolve() };
  const isBusy = { out: false, err: false };
  let isFaulty = false;
  /** Calls back after each step of an output. */
  const waiting = new Set<() => void>();

  function moved(from: 'out' | 'err', count: number): void {
    printed[from] += count;
    kept.dropBefore(from, printed[from]);
    onPrinted();
    for (const look of waiting) look();
  }
  async function copy(from: 'out' | 'err'): Promise<void> {
    isBusy[from] = true;
    try {
      while (printed[from] < kept.end[from]) {
        const bytes = kept.read(from, printed[from]);
        if (bytes.length === 0)
          throw new CliError('storage', 'The kept output has become shorter.');
        await print(from, bytes);
        moved(from, bytes.length);
      }
    } finally {
      // Synchronously after the last check, so that no new byte is missed.
      isBusy[from] = false;
    }
  }
  function wake(from: 'out' | 'err'): void {
    if (isBusy[from]) return;
    turns[from] = copy(from);
    // `finish` throws the error.
    turns[from].catch(() => undefined);
  }
  for (const from of ['out', 'err'] as const) wake(from);

  let isOver = false;
  let asked: Promise<boolean> | undefined;
  /** Waits for the reader, but no longer than the command runs: the instance bills. */
  async function room(from: 'out' | 'err', signal: AbortSignal): Promise<void> {
    while (!isOver && !signal.aborted && kept.end[from] - printed[from] > mostWaiting) {
      // An interrupt ends the look, and the wait.
      asked ??= hasExited(signal)
        .catch(() => false)
        .finally(() => {
          asked = undefined;
        });
      let look = () => {};
      const step = new Promise<void>((resolve) => {
        look = resolve;
      });
      waiting.add(look);
      isOver = await Promise.race([asked, step.then(() => false)]);
      waiting.delete(look);
    }
  }
  return {
    printed,
    async receive(from, bytes, signal) {
      const count = isFaulty ? 0 : kept.append(from, bytes);
      if (count > 0) wake(from);
      if (count === bytes.length) return orAborted(room(from, signal), signal);
      if (!isFaulty && kept.fault !== undefined) onFault(kept.fault);
      isFaulty = true;
      await orAborted(turns[from], signal);
      const rest = bytes.subarray(count);
      await orAborted(print(from, rest), signal);
      moved(from, rest.length);
    },
    async printAfter(from, bytes) {
      await turns[from];
      await print(from, bytes);
    },
    async finish(signal) {
      await orAborted(Promise.all([turns.out, turns.err]), signal);
    },
  };
}
