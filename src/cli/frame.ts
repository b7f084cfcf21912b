import type { Context, Host } from '../context.ts';
import type { AnyCommand } from './command.ts';

/** What the tree is hung into: it makes the Context of the verb that was chosen. */
export interface Frame {
  /** Reads the global flags of the command and its parents; made once per run. */
  context(command: AnyCommand): Context;
  /** A second tree with the verbs of every group in it; its help goes where that of the first goes. */
  wholeTree(): Promise<AnyCommand>;
  readonly again: Again;
}

/**
 * Runs another command line as if it had been typed, on the same host but for `changes`, and answers
 * its exit code; its words have been told then. For what shows commands, such as the tour.
 */
export type Again = (
  argv: readonly string[],
  changes: Partial<Pick<Host, 'env' | 'stdout' | 'stderr'>>,
) => Promise<number>;
