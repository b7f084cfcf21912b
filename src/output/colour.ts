export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan';

export type Paint = (colour: Colour | undefined, text: string) => string;

const unpainted: Paint = (_colour, text) => text;

/** Loads chalk only for coloured output, since loading is slow. */
export async function paintFor(colour: boolean): Promise<Paint> {
  if (!colour) return unpainted;
  const { Chalk } = await import('chalk');
  // Uses colour unconditionally: the caller has decided, and chalk would check the environment
  // again. Level 1 is the terminal theme's sixteen colours, which are readable on its background.
  const chalk = new Chalk({ level: 1 });
  return (name, text) => (name === undefined ? text : chalk[name](text));
}

/**
 * Labels coloured without chalk: messages are written immediately and can't wait for chalk to load.
 */
export const YELLOW_WARNING = '\u001b[33mwarning:\u001b[39m';
export const RED_ERROR = '\u001b[1;31merror:\u001b[22;39m';

/**
 * Whether this stream gets colours. In this order: the flag, NO_COLOR (any value except an empty
 * one), FORCE_COLOR (0 and false mean no), TERM=dumb, whether the stream is a terminal.
 */
export function wantsColour(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  flag: 'auto' | 'always' | 'never' | false | undefined,
): boolean {
  if (flag === 'always') return true;
  if (flag === 'never' || flag === false) return false;
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return env.TERM !== 'dumb' && stream.isTTY === true;
}
