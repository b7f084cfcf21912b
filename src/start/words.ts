// Which code a run needs shows in the words of its command line. They are compared with the words
// of the tree alone, so that no value that someone typed, be it a key, ever stands in a file.

declare const GPUCLOUD_GROUPS: string;
declare const GPUCLOUD_WORDS: string;

const KNOWN: ReadonlySet<string> = new Set(GPUCLOUD_WORDS.split(' '));

/**
 * The command that is used, as `instances-get`, or as much of it as its words tell; '' for none.
 * Each command keeps its own code, so that no run reads what only others need.
 */
export function chosenCommand(argv: readonly string[]): string {
  const groups = new Set(GPUCLOUD_GROUPS.split(' '));
  const at = argv.findIndex((word) => groups.has(word));
  const [group = '', verb = ''] = at < 0 ? [] : argv.slice(at);
  return isKnown(verb) && !verb.startsWith('-') ? `${group}-${verb}` : group;
}

/** The verbs, flags and formats among the words. */
export function knownWords(argv: readonly string[]): string[] {
  return ['run', ...argv.map((word) => word.replace(/=.*/s, '')).filter(isKnown)];
}

function isKnown(word: string): boolean {
  return KNOWN.has(word);
}
