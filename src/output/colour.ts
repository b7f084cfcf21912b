export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan';

/**
 * Colours of the fixed 256, each with a contrast of about 4 or more to both white and black. The first
 * sixteen are the terminal's own: yellow on a white ground, or blue on a black one, can't be read in
 * many of them.
 */
export const TONES = { green: 28, yellow: 130, red: 160, cyan: 30 } as const;

export type Paint = (colour: Colour | undefined, text: string) => string;

export const unpainted: Paint = (_colour, text) => text;

/** chalk costs several milliseconds to load, so that only what paints brings it in. */
export async function paintFor(colour: boolean): Promise<Paint> {
  if (!colour) return unpainted;
  const { Chalk } = await import('chalk');
  // Whether to paint has been decided; chalk would ask the process's own environment again.
  const chalk = new Chalk({ level: 2 });
  return (name, text) => {
    if (name === undefined) return text;
    return name === 'dim' || name === 'bold' ? chalk[name](text) : chalk.ansi256(TONES[name])(text);
  };
}

/** A warning is written at once and cannot wait until chalk is there. */
export const YELLOW_WARNING = `\u001b[38;5;${TONES.yellow}mwarning:\u001b[39m`;

/**
 * Whether this very stream gets colours: the flag, NO_COLOR (any value but an empty one), then
 * FORCE_COLOR (0 and false mean no), then TERM=dumb, then whether the stream is a terminal.
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
