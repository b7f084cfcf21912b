/** Words as a line to be pasted into a shell, each quoted where it needs it. */
export function shellLine(words: readonly string[], platform: string): string {
  return words.map((word) => shellWord(word, platform)).join(' ');
}

function shellWord(word: string, platform: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(word)) {
    return word;
  }
  // On Windows it is for PowerShell.
  return platform === 'win32'
    ? `'${word.replaceAll("'", "''")}'`
    : `'${word.replaceAll("'", "'\\''")}'`;
}
