import type { Context } from '../../../context.ts';
import type { View } from '../../../output/output.ts';
import { shellLine } from '../../../output/shell-line.ts';

/** A program and its arguments. */
type Argv = readonly string[];

/** Prints a command instead of running it: a line to copy, or an array of words in JSON. */
export async function printCommand(argv: Argv, context: Context): Promise<void> {
  const { out, host, flags } = context;
  const line = (words: Argv) => shellLine(words, host.platform);
  if (out.format === 'table' && flags.columns === undefined) await out.text(`${line(argv)}\n`);
  else await out.item(argv, commandView(line));
}

/** Shows the whole command as one value in columns and row formats. */
export function commandView(line: (words: Argv) => string): View<Argv> {
  return {
    columns: [{ id: 'command', header: 'COMMAND', value: line }],
    id: line,
    empty: 'No command.',
  };
}
