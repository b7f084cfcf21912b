import type { Context } from '../../context.ts';
import type { AnyCommand } from './command.ts';

/** What the tree is hung into: it makes the Context of the verb that was chosen. */
export interface Frame {
  /** Reads the global flags of the command and its parents; made once per run. */
  context(command: AnyCommand): Context;
  /** A second tree with the verbs of every group in it; its help goes where that of the first goes. */
  wholeTree(): Promise<AnyCommand>;
}
