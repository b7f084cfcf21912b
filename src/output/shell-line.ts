import { hasUnseen } from './sanitise.ts';
import { width } from './width.ts';

/** Quotes a command for the user's shell (PowerShell on Windows). */
export function shellLine(words: readonly string[], platform = 'linux'): string {
  return words.map((word) => shellWord(word, platform)).join(' ');
}

/**
 * Begins a suggested command, and marks the place for the profile. Unicode reserves U+FDD0 for a
 * program's own use.
 */
const COMMAND = 'gpucloud\uFDD0';

/**
 * Formats a gpucloud command for a hint, a note or a warning. The printer adds the profile unless
 * the command names one, since only the printer knows the profile that a flag chose.
 */
export function gpucloud(...words: readonly string[]): string {
  const hasProfile = words[0] === '--profile';
  return `${hasProfile ? 'gpucloud' : COMMAND} ${shellLine(words)}`;
}

/**
 * Adds the profile that a flag chose to the suggested commands in a text, since another profile may
 * have another account.
 */
export function withProfile(text: string, profile: string | undefined): string {
  const words = profile === undefined ? '' : ` ${shellLine(['--profile', profile])}`;
  return text.replaceAll(COMMAND, () => `gpucloud${words}`);
}

/** Formats a gpucloud command for the result, with the profile that a flag chose. */
export function gpucloudLine(words: readonly string[], profile: string | undefined): string {
  return withProfile(gpucloud(...words), profile);
}

const INDENT = '  ';

/**
 * Formats a command in lines of a terminal, ready to paste: each line but the last ends with a
 * backslash. Keeps a flag and its value on one line. Returns one line if the width is unknown.
 */
export function commandLines(
  pieces: readonly (readonly string[])[],
  columns: number | undefined,
): string[] {
  return continued(
    pieces.map((piece) => shellLine(piece)),
    columns,
  );
}

/** Matches a word of a command line, with its quotes. */
const WORD = /(?:'[^']*'|\\.|[^\s'])+/g;

/** Does the same with the text of a command, at any word. */
export function foldedCommand(text: string, columns: number): string[] {
  // An ANSI-quoted word may contain an escaped quote, so its end is unknown here.
  if (width(text) <= columns || text.includes("$'")) return [text];
  return continued(text.match(WORD) ?? [], columns);
}

function continued(parts: readonly string[], columns: number | undefined): string[] {
  const room = columns ? columns - INDENT.length - 1 : Number.POSITIVE_INFINITY;
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line !== undefined && width(`${line} ${part} \\`) <= room) {
      lines.splice(-1, 1, `${line} ${part}`);
    } else {
      if (line !== undefined) lines.splice(-1, 1, `${line} \\`);
      lines.push(line === undefined ? part : `${INDENT}${part}`);
    }
  }
  return lines;
}

function shellWord(word: string, platform: string): string {
  // A tilde means the home folder only at the beginning of a word.
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(word)) return word;
  if (platform === 'win32') return `'${word.replaceAll("'", "''")}'`;
  // Escapes characters that cleaning would remove.
  return hasUnseen(word) ? ansiQuoted(word) : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Quotes as `$'…'` for bash, zsh and ksh, and escapes everything but plain ASCII and visible
 * letters.
 */
function ansiQuoted(word: string): string {
  const escaped = [...word].map((character) => {
    if (character === '\\' || character === "'") return `\\${character}`;
    if (!hasUnseen(character)) return character;
    return [...Buffer.from(character, 'utf8')]
      .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
      .join('');
  });
  return `$'${escaped.join('')}'`;
}
