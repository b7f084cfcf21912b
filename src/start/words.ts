// Which code a run needs shows in the words of its command line. They are compared with the words
// of the tree alone, so that no value that someone typed, be it a key, ever stands in a file.

declare const GPUCLOUD_GROUPS: string;
declare const GPUCLOUD_WORDS: string;

/**
 * The command that is used, as `instances-get`, or as much of it as its words tell; '' for none.
 * Each command keeps its own code, so that no run reads what only others need.
 */
export function chosenCommand(argv: readonly string[]): string {
  // A profile may be called as a group is; the built-in one is.
  const at = argv.findIndex(
    (word, place) => isAmong(GPUCLOUD_GROUPS, word) && argv[place - 1] !== '--profile',
  );
  const [group = '', verb = ''] = at < 0 ? [] : argv.slice(at);
  return isKnown(verb) && !verb.startsWith('-') ? `${group}-${verb}` : group;
}

/** The verbs, flags and formats among the words. */
export function knownWords(argv: readonly string[]): string[] {
  return ['run', ...argv.map(withoutValue).filter(isKnown)];
}

/** Of `--output=json` the flag. */
function withoutValue(word: string): string {
  const end = word.indexOf('=');
  return end < 0 ? word : word.slice(0, end);
}

function isKnown(word: string): boolean {
  return isAmong(GPUCLOUD_WORDS, word);
}

/** A text is looked through much faster than a set of its words is made, for as few as are asked for. */
function isAmong(words: string, word: string): boolean {
  return !word.includes(' ') && ` ${words} `.includes(` ${word} `);
}
