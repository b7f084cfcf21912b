import { broken, kept, type Verdict } from './rule.ts';

/**
 * Splits a command into words, with quotes and backslashes as in a shell. The command runs without
 * a shell, so variables, globs and pipes are plain text.
 */
export function commandWords(text: string): Verdict<readonly string[]> {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  let escaped = false;
  for (const letter of text) {
    if (escaped) {
      word = (word ?? '') + letter;
      escaped = false;
    } else if (letter === '\\' && quote !== "'") {
      escaped = true;
    } else if (quote !== '') {
      if (letter === quote) quote = '';
      else word = (word ?? '') + letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== '') return broken(`it has an unclosed ${quote}`);
  if (escaped) return broken('it ends with a backslash');
  if (word !== undefined) words.push(word);
  return words[0] ? kept(words) : broken('must not be empty');
}
