import type { JobOutput } from './output.ts';
import type { Printer } from './printer.ts';
import type { Offsets } from './remote/follow.ts';

/** The output of a job that this process follows: kept on this computer, then printed. */
export interface Received {
  /** The offset of the next byte to receive of each output. */
  readonly offsets: Offsets;
  readonly receive: Printer['receive'];
  /** Prints results to a stream, after the command's output. */
  readonly output: JobOutput;
  /** Whether all output of the command was received. */
  isWhole: boolean;
  /**
   * Waits briefly, so that a message does not appear in the middle of the output, and stores the
   * printed position.
   */
  settle(): Promise<void>;
  /** Waits for the reader, once the job has ended. Throws the reason of an interrupt. */
  finish(): Promise<void>;
}
