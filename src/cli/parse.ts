import { type CliError, usageError } from '../errors.ts';
import { holdsPrivateKey } from '../rules/private-key.ts';
import type { Rule, Verdict } from '../rules/rule.ts';

/** Long enough to recognise a value in an error, short enough to stay one line. */
const SHOWN = 80;

/**
 * The value of a flag or argument that must follow a rule; otherwise the usage error that names
 * the flag, the value and the rule.
 */
export function checked<T>(flag: string, text: string, rule: Rule<T>): T {
  const verdict: Verdict<T> = rule(text);
  if (!verdict.ok) {
    throw brokenRule(flag, text, verdict.rule);
  }
  return verdict.value;
}

/** The check of a prompt: the rule that a text breaks, or undefined. */
export function brokenBy(rule: Rule<unknown>): (text: string) => string | undefined {
  return (text) => {
    const verdict = rule(text);
    return verdict.ok ? undefined : verdict.rule;
  };
}

/** The same for a value that may be a secret: the error does not repeat it. */
export function checkedSecret<T>(flag: string, text: string, rule: Rule<T>): T {
  const verdict: Verdict<T> = rule(text);
  if (!verdict.ok) {
    throw usageError(`${flag}: ${verdict.rule} (the value is not shown)`);
  }
  return verdict.value;
}

export function brokenRule(flag: string, text: string, rule: string, hint?: string): CliError {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  return usageError(`${flag} "${shown}": ${rule}`, hint);
}

/** An address with a user name, a query or a fragment may hold a password or a token. */
export function checkedAddress<T>(flag: string, text: string, rule: Rule<T>): T {
  return /[@?#]/.test(text) ? checkedSecret(flag, text, rule) : checked(flag, text, rule);
}

/** A commander parser for a flag with a rule. */
export function ruled<T>(flag: string, rule: Rule<T>): (text: string) => T {
  return (text) => checked(flag, text, rule);
}

/** The same for a flag that may be given several times. */
export function ruledEach<T>(flag: string, rule: Rule<T>): (text: string, before?: T[]) => T[] {
  return repeated((text: string, before: T[] = []) => [...before, checked(flag, text, rule)]);
}

/** A commander parser for a flag that may be given several times, whatever it holds. */
export const each = repeated((text: string, before: string[] = []) => [...before, text]);

/** Marks a parser that adds to what was given before, which the reference tells of its flag. */
export function repeated<P extends object>(parser: P): P {
  return Object.assign(parser, { repeats: true });
}

export function isRepeated(parser: unknown): boolean {
  return typeof parser === 'function' && 'repeats' in parser;
}

/** A flag that takes one of some words, which completion finds in the parser itself. */
export function oneOf<const T extends string>(
  flag: string,
  words: readonly T[],
): OfWords<(text: string) => T> {
  return ofWords(words, (text) => {
    const word = words.find((known) => known === text);
    if (word === undefined) {
      throw brokenRule(flag, text, `it is one of ${words.join(', ')}`);
    }
    return word;
  });
}

type OfWords<P> = P & { readonly words: readonly string[] };

/** A parser with the words that it is for. */
export function ofWords<P extends object>(words: readonly string[], parser: P): OfWords<P> {
  return Object.assign(parser, { words });
}

export function wordsOf(parser: unknown): readonly string[] | undefined {
  return typeof parser === 'function' && 'words' in parser
    ? (parser as OfWords<object>).words
    : undefined;
}

/** Texts separated by commas, as `--columns a,b`. */
export function commaList(flag: string): (text: string) => string[] {
  return (text) => {
    const items = text.split(',').map((item) => item.trim());
    if (items.includes('')) {
      throw brokenRule(flag, text, 'it is a list separated by commas, with no empty item');
    }
    return items;
  };
}

/**
 * Refuses a value of the command line that is a secret itself: a key of the service, or a private
 * SSH key. The shell's history and other programs have seen it by then, so that is said; it is
 * neither sent nor repeated.
 */
export function refuseSecret(flag: string, text: string): void {
  const what =
    text.includes('svc_sk_') && /svc_sk_[A-Za-z0-9]/.test(text)
      ? 'an API key'
      : holdsPrivateKey(text)
        ? 'a private key'
        : undefined;
  if (what !== undefined) {
    throw usageError(
      `${flag}: this is ${what}, which does not belong on a command line, where other programs and the shell's history see it (the value is not shown)`,
      'nothing was sent; replace the key if others can read that history',
    );
  }
}
