import type { Context } from '../context.ts';
import { type CliError, usageError } from '../errors.ts';
import { nearest, nearestFirst } from '../rules/nearest.ts';
import { brokenRule, commaList, repeated } from './parse.ts';

/** Returns a parser for one of the service's words, in any case. `rule` completes the error. */
export function wordOf(flag: string, rule: string) {
  return (text: string): string => {
    const word = capitals(text);
    if (!/^[A-Z_]{1,40}$/.test(word)) throw brokenRule(flag, text, rule);
    return word;
  };
}

/**
 * Returns a parser for `--type`: types separated by commas or in repeated flags. Accepts a word
 * unlike any documented type, since the service may add types.
 */
export function typesOf(documented: readonly string[]) {
  const each = commaList('--type');
  const parse = wordOf(
    '--type',
    `must be one or more of ${documented.join(', ').toLowerCase()}, separated by commas`,
  );
  const word = (text: string) => {
    const parsed = parse(text);
    if (!documented.includes(parsed) && meantBy(parsed, documented) !== undefined) {
      throw unknownWord('--type', 'type', parsed, documented);
    }
    return parsed;
  };
  return repeated((text: string, before: string[] = []): string[] => [
    ...new Set([...before, ...each(text).map(word)]),
  ]);
}

/** Converts to the document's spelling: `status-change` is STATUS_CHANGE. */
function capitals(word: string): string {
  return word.toUpperCase().replaceAll('-', '_');
}

/**
 * Rejects waiting for a status that is neither documented nor a known instance's last one. With a
 * mistyped status, the instance would bill until the wait times out.
 */
export async function ensureKnownStatus(
  flag: string,
  word: string,
  documented: readonly string[],
  what: string,
  context: Pick<Context, 'journal'>,
): Promise<void> {
  if (documented.includes(word)) return;
  const { instances } = await (await context.journal()).read({ archived: true });
  if (instances.some(({ last }) => last?.status === word)) return;
  throw unknownWord(flag, what, word, documented);
}

function unknownWord(
  flag: string,
  what: string,
  word: string,
  documented: readonly string[],
): CliError {
  const meant = meantBy(word, documented);
  const unknown = `Unknown ${what} "${word.toLowerCase()}".`;
  return meant === undefined
    ? usageError(unknown, `${flag} accepts ${documented.join(', ').toLowerCase()}`)
    : usageError(unknown, `did you mean ${meant.toLowerCase()}?`);
}

/** Maps status names of docker, kubectl and other clouds to documented ones. */
const FOREIGN: Readonly<Record<string, string>> = {
  RUNNING: 'ACTIVE',
  STARTED: 'ACTIVE',
  READY: 'ACTIVE',
  ON: 'ACTIVE',
  UP: 'ACTIVE',
  EXITED: 'STOPPED',
  SHUTDOWN: 'STOPPED',
  OFF: 'STOPPED',
  DOWN: 'STOPPED',
  DELETED: 'TERMINATED',
  DESTROYED: 'TERMINATED',
  REMOVED: 'TERMINATED',
};

/** Maximum number of letters in a typo. */
const SLIPS = 2;

function meantBy(word: string, documented: readonly string[]): string | undefined {
  const foreign = Object.hasOwn(FOREIGN, word) ? FOREIGN[word] : undefined;
  if (foreign !== undefined && documented.includes(foreign)) return foreign;
  const meant = nearest(word, nearestFirst(word, documented), SLIPS);
  return meant === undefined || isAnother(word, meant) ? undefined : meant;
}

/**
 * Whether a word is not a typo. Such a word contains a documented word and two more letters, or
 * only the end of a documented word: INACTIVE, RESTARTING, BOOTING.
 */
function isAnother(word: string, documented: string): boolean {
  return Math.abs(word.length - documented.length) < 2
    ? false
    : word.includes(documented) || documented.endsWith(word);
}

/** Notes undocumented types; the service may still accept them. */
export function noteUndocumented(
  types: readonly string[],
  documented: readonly string[],
  { err }: Context,
): void {
  const unknown = types.filter((word) => !documented.includes(word));
  if (unknown.length > 0) {
    err.note(`Sending an undocumented type: ${unknown.join(', ')}.`);
  }
}
