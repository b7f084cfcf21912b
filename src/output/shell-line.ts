import { hasUnseen } from './sanitise.ts';
import { width } from './width.ts';

/** Quotes a command for the user's shell (PowerShell on Windows). */
export function shellLine(words: readonly string[], platform = 'linux'): string {
  return words.map((word) => shellWord(word, platform)).join(' ');
}

/** A command of gpucloud to paste. It names a profile that a flag chose: another has another account. */
export function gpucloudLine(words: readonly string[], profile: string | undefined): string {
  const chosen = profile === undefined ? [] : ['--profile', profile];
  return shellLine(['gpucloud', ...chosen, ...words]);
}

const INDENT = '  ';

/**
 * A command in lines of a terminal, ready to paste: each line but the last ends with a backslash. A
 * flag and its value stay on one line. One line if the width is unknown.
 */
export function commandLines(
  pieces: readonly (readonly string[])[],
  columns: number | undefined,
): string[] {
  const room = columns ? columns - INDENT.length - 1 : Number.POSITIVE_INFINITY;
  const lines: string[] = [];
  for (const piece of pieces) {
    const text = shellLine(piece);
    const line = lines.at(-1);
    if (line !== undefined && width(`${line} ${text} \\`) <= room) {
      lines.splice(-1, 1, `${line} ${text}`);
    } else {
      if (line !== undefined) lines.splice(-1, 1, `${line} \\`);
      lines.push(line === undefined ? text : `${INDENT}${text}`);
    }
  }
  return lines;
}

function shellWord(word: string, platform: string): string {
  // A tilde means the home folder only at the start of a word.
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(word)) return word;
  if (platform === 'win32') return `'${word.replaceAll("'", "''")}'`;
  // Characters that would be cleaned away on the screen are escaped instead.
  return hasUnseen(word) ? ansiQuoted(word) : `'${word.replaceAll("'", "'\\''")}'`;
}

/** `$'…'` of bash, zsh and ksh, with everything but plain ASCII and visible letters escaped. */
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
