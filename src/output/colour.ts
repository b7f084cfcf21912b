import type { Writable } from 'node:stream';

export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan';

/** Puts a colour on a text, or leaves it as it is where colours are not wanted. */
export type Paint = (colour: Colour | undefined, text: string) => string;

export const plain: Paint = (_colour, text) => text;

/** chalk costs several milliseconds to load, so that only what paints brings it in. */
export async function paintFor(colour: boolean): Promise<Paint> {
  if (!colour) return plain;
  const { Chalk } = await import('chalk');
  // Whether to paint has been decided; chalk would ask the process's own environment again.
  const chalk = new Chalk({ level: 1 });
  return (name, text) => (name === undefined ? text : chalk[name](text));
}

/** A warning is written at once and cannot wait until chalk is there. */
export const YELLOW_WARNING = '\u001b[33mwarning:\u001b[39m';

/**
 * Whether this very stream gets colours: the flag, NO_COLOR (any value but an empty one), then
 * FORCE_COLOR (0 and false mean no), then TERM=dumb, then whether the stream is a terminal.
 */
export function wantsColour(
  stream: Writable & { isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
  flag: 'auto' | 'always' | 'never' | false | undefined,
): boolean {
  if (flag === 'always') return true;
  if (flag === 'never' || flag === false) return false;
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return !['0', 'false'].includes(env.FORCE_COLOR);
  return env.TERM !== 'dumb' && stream.isTTY === true;
}
