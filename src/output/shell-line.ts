import { hasUnseen } from './sanitise.ts';

/** A command as a line that the user's shell (on Windows, PowerShell) reads back as the same words. */
export function shellLine(words: readonly string[], platform = 'linux'): string {
  return words.map((word) => shellWord(word, platform)).join(' ');
}

function shellWord(word: string, platform: string): string {
  // A tilde is a home folder at the start of a word alone.
  if (/^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(word)) return word;
  if (platform === 'win32') return `'${word.replaceAll("'", "''")}'`;
  // What would be cleaned away on its way to the screen is spelled out instead.
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
