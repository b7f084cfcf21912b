// Which code a run needs shows in the words of its command line. They are compared with the words
// of the tree alone, so that no value that someone typed, be it a key, ever stands in a file.

declare const GPUCLOUD_GROUPS: string;
declare const GPUCLOUD_WORDS: string;

/** The group of commands that is used, '' for none: each group keeps its own code. */
export function chosenGroup(argv: readonly string[]): string {
  const groups = new Set(GPUCLOUD_GROUPS.split(' '));
  return argv.find((word) => groups.has(word)) ?? '';
}

/** The verbs, flags and formats among the words. */
export function knownWords(argv: readonly string[]): string[] {
  const words = new Set(GPUCLOUD_WORDS.split(' '));
  return ['run', ...argv.map((word) => word.replace(/=.*/s, '')).filter((word) => words.has(word))];
}
