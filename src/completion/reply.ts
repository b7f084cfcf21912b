import type { Shell } from './index.ts';
import type { Answer, Candidate } from './values.ts';

/** A question of a completion script. */
export interface Question {
  /** The words up to the cursor without `gpucloud` and without quotes. The last may be empty. */
  readonly words: readonly string[];
  /** Formats the answer as lines for the script. */
  reply(answer: Answer): string[];
}

/** Reads the arguments that a script passes. */
export function questionOf(shell: Shell, given: readonly string[]): Question {
  switch (shell) {
    case 'bash': {
      const [line = '', replaced = ''] = given;
      const typed = splitLine(line, '\\');
      const words = typed.words.slice(1);
      return { words, reply: (answer) => bashReply(answer, words.at(-1) ?? '', typed, replaced) };
    }
    case 'powershell': {
      // The script marks the end, since PowerShell may drop a quote or a blank there.
      const words = splitLine((given[0] ?? '').slice(0, -1), '`').words.slice(1);
      return { words, reply: (answer) => powershellReply(answer, words.at(-1) ?? '') };
    }
    case 'zsh':
      return { words: afterMark(given), reply: zshReply };
    case 'fish':
      return { words: afterMark(given), reply: fishReply };
  }
}

/** Removes the script's `--`. Scripts of earlier versions pass none. */
function afterMark(given: readonly string[]): readonly string[] {
  return given[0] === '--' && given.length > 1 ? given.slice(1) : given;
}

interface TypedLine {
  /** Without quotes. */
  readonly words: readonly string[];
  /** The last word with its quotes. */
  readonly raw: string;
  /** The quote that is open at the cursor; empty for none. */
  readonly quote: string;
}

/** Splits a line at blanks, as far as the names and flags of gpucloud need a shell's rules. */
function splitLine(line: string, escapes: string): TypedLine {
  const words: string[] = [];
  let [word, raw, quote] = ['', '', ''];
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? '';
    if (quote === '' && /\s/.test(letter)) {
      if (raw !== '') words.push(word);
      [word, raw] = ['', ''];
      continue;
    }
    raw += letter;
    if (letter === quote) quote = '';
    else if (quote === '' && (letter === '"' || letter === "'")) quote = letter;
    else if (letter === escapes && quote !== "'" && at + 1 < line.length) {
      at += 1;
      raw += line[at];
      word += line[at];
    } else word += letter;
  }
  return { words: [...words, word], raw, quote };
}

/** Bash filters nothing and inserts the text as it is, in place of `replaced`. */
function bashReply(answer: Answer, typed: string, { raw, quote }: TypedLine, replaced: string) {
  // A wrapper, such as bash-completion's for sudo, passes "=" or ":" as a word of its own.
  const part = /^[=:]$/.test(replaced) ? '' : replaced;
  const lead = raw.endsWith(part) ? raw.slice(0, raw.length - part.length) : '';
  const kept = splitLine(lead, '\\').words[0]?.length;
  const lines = beginning(answer, typed).map(({ value }) => {
    const text = value.slice(kept);
    return quote === '' ? text.replace(/[^\w./:=,@%+\p{L}\p{M}\p{N}-]/gu, '\\$&') : text;
  });
  // Without a value only files follow, and those end in a blank.
  return [lines.length === 0 && answer.files ? 'f' : marks(answer), ...lines];
}

function powershellReply(answer: Answer, typed: string) {
  return beginning(answer, typed).map(({ value, help }) => {
    const text = /^[\w.=:/+-]+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
    return `${text}\t${help || value}`;
  });
}

/** Zsh and fish select the values themselves, by their users' settings. */
function zshReply(answer: Answer) {
  const lines = answer.values.map((one) =>
    described(one)
      .map((text) => text.replace(/[\\:]/g, '\\$&'))
      .join(':'),
  );
  return [`${marks(answer)} ${answer.before}`, ...lines];
}

function fishReply(answer: Answer) {
  const lines = answer.values.map((one) => answer.before + described(one).join('\t'));
  return [`${marks(answer)} ${answer.before}`, ...lines];
}

function described({ value, help }: Candidate): string[] {
  return help === '' ? [value] : [value, help];
}

/** Returns the values that continue or replace the typed word, with the part that stays. */
function beginning({ before, values, replaces }: Answer, typed: string): Candidate[] {
  return values
    .map(({ value, help }) => ({ value: before + value, help }))
    .filter(({ value }) => replaces || value.startsWith(typed));
}

/** Writes the letters that scripts.ts explains. */
function marks({ files, continues, replaces }: Answer): string {
  const after = { list: 'nc', path: 'n', none: '' }[continues ?? 'none'];
  return `${files ? 'f' : '-'}${after}${replaces ? 'r' : ''}`;
}
