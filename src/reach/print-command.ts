import type { Context } from '../context.ts';
import type { View } from '../output/output.ts';
import { shellLine } from './quote.ts';

/** The words of a program, for `--print`. */
export type Argv = readonly string[];

/** Prints what would be run, so that it can be copied, or the words themselves in JSON. */
export async function printCommand(argv: Argv, context: Context): Promise<void> {
  const { out, host, flags } = context;
  const line = (words: Argv) => shellLine(words, host.platform);
  if (out.format === 'table' && flags.columns === undefined) {
    await out.value(line(argv));
    return;
  }
  await out.item(argv, commandView(line));
}

/** `--columns` and the formats of lines have the whole command as one value. */
export function commandView(line: (words: Argv) => string): View<Argv> {
  return {
    columns: [{ id: 'command', header: 'COMMAND', value: line }],
    id: line,
    empty: 'There is no command.',
  };
}
