import { type CliError, usageError } from '../errors.ts';
import type { Rule, Verdict } from '../rules/rule.ts';
import { holdsPrivateKey } from '../rules/secrets.ts';

/** Maximum characters of a value in an error: enough to recognize it, on one line. */
const SHOWN = 80;

/**
 * Returns a valid value of a flag or argument. Otherwise throws a usage error with the flag, the
 * value and the rule.
 */
export function checked<T>(flag: string, text: string, rule: Rule<T>): T {
  const verdict: Verdict<T> = rule(text);
  if (!verdict.ok) {
    throw brokenRule(flag, text, verdict.rule);
  }
  return verdict.value;
}

/** Returns a validator for prompts. It returns the broken rule, or undefined for valid text. */
export function brokenBy(rule: Rule<unknown>): (text: string) => string | undefined {
  return (text) => {
    const verdict = rule(text);
    return verdict.ok ? undefined : verdict.rule;
  };
}

/** Checks a value without showing it in the error, since it may be a secret. */
export function checkedSecret<T>(flag: string, text: string, rule: Rule<T>): T {
  const verdict: Verdict<T> = rule(text);
  if (!verdict.ok) {
    throw usageError(`${flag}: ${verdict.rule} (value hidden)`);
  }
  return verdict.value;
}

export function brokenRule(flag: string, text: string, rule: string, hint?: string): CliError {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return usageError(`${flag} "${shown}": ${rule}`, hint);
}

/**
 * Checks an address. The error hides a user name, query or fragment, which may contain a password
 * or token.
 */
export function checkedAddress<T>(flag: string, text: string, rule: Rule<T>): T {
  return /[@?#]/.test(text) ? checkedSecret(flag, text, rule) : checked(flag, text, rule);
}

/** Returns a commander parser for a flag with a rule. */
export function ruled<T>(flag: string, rule: Rule<T>): (text: string) => T {
  return (text) => checked(flag, text, rule);
}

/** Returns a commander parser for a repeatable flag with a rule. */
export function ruledEach<T>(flag: string, rule: Rule<T>): (text: string, before?: T[]) => T[] {
  return repeated((text: string, before: T[] = []) => [...before, checked(flag, text, rule)]);
}

/** Returns a commander parser for a repeatable flag without a rule. */
export const each = repeated((text: string, before: string[] = []) => [...before, text]);

/** Marks a parser as repeatable, for the command reference. */
export function repeated<P extends object>(parser: P): P {
  return Object.assign(parser, { repeats: true });
}

export function isRepeated(parser: unknown): boolean {
  return typeof parser === 'function' && 'repeats' in parser;
}

/** Marks the parser of a flag that has no effect without another: `--interval` without `--watch`. */
export function needing<P extends object>(needs: string, parser: P): P {
  return Object.assign(parser, { needs });
}

export function neededBy(parser: unknown): unknown {
  return typeof parser === 'function' && 'needs' in parser ? parser.needs : undefined;
}

/** Returns a parser that accepts one of several words; completion reads the words from it. */
export function oneOf<const T extends string>(
  flag: string,
  words: readonly T[],
): OfWords<(text: string) => T> {
  return ofWords(words, (text) => {
    const word = words.find((known) => known === text);
    if (word === undefined) {
      throw brokenRule(flag, text, `must be one of ${words.join(', ')}`);
    }
    return word;
  });
}

type OfWords<P> = P & { readonly words: readonly string[] };

/** A parser with its accepted words. */
export function ofWords<P extends object>(words: readonly string[], parser: P): OfWords<P> {
  return Object.assign(parser, { words });
}

export function wordsOf(parser: unknown): readonly string[] | undefined {
  return typeof parser === 'function' && 'words' in parser
    ? (parser as OfWords<object>).words
    : undefined;
}

/**
 * Returns the name from the argument or `--name`. Throws a usage error if both are given and
 * differ.
 */
export function oneName(
  what: string,
  argument: string | undefined,
  flag: string | undefined,
): string | undefined {
  if (argument !== undefined && flag !== undefined && argument !== flag) {
    throw usageError(`${what} "${argument}" and --name "${flag}" differ; use one`);
  }
  return argument ?? flag;
}

/** Splits texts at commas, as in `--columns a,b`. */
export function commaList(flag: string): (text: string) => string[] {
  return (text) => {
    const items = text.split(',').map((item) => item.trim());
    if (items.includes('')) {
      throw brokenRule(flag, text, 'must be a comma-separated list without empty items');
    }
    return items;
  };
}

/**
 * Rejects the word `#`. A shell that knows no comments at its prompt, such as zsh by default, passes
 * them on: `run -f job.yaml # run it` would rent an instance to run `#`. For a value, use `--name=#`.
 */
export function refuseComment(words: readonly string[]): void {
  if (!words.includes('#')) return;
  throw usageError(
    '"#": the shell passed a comment on as arguments',
    'nothing was done; leave the comment out, or make zsh ignore comments: setopt interactive_comments',
  );
}

/**
 * Rejects an argument that is itself an API key or a private SSH key. The argument is neither sent
 * nor shown. The error warns that the shell's history and other programs have already seen it.
 */
export function refuseSecret(flag: string, text: string): void {
  const what = /svc_sk_[A-Za-z0-9]/.test(text)
    ? 'an API key'
    : holdsPrivateKey(text)
      ? 'a private key'
      : undefined;
  if (what !== undefined) {
    throw usageError(
      `${flag}: this is ${what}; other programs and the shell's history can see the command line (value hidden)`,
      'nothing was sent; replace the key if others can read that history',
    );
  }
}
