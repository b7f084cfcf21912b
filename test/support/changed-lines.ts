/** Returns the lines that one text has and the other lacks, and the reverse. */
export function changedLines(usual: string, other: string) {
  const [before = [], after = []] = [usual, other].map((text) => text.split('\n'));
  return {
    gone: before.filter((line) => !after.includes(line)),
    added: after.filter((line) => !before.includes(line)),
  };
}

/** Writes changed lines as `diff` does. */
export function asDiff({ gone, added }: ReturnType<typeof changedLines>): string {
  return [...gone.map((line) => `  - ${line}\n`), ...added.map((line) => `  + ${line}\n`)].join('');
}
