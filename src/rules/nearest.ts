/** The names, those that are spelled most like the word first; equals keep their order. */
export function nearestFirst(word: string, names: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  return names
    .map((name) => ({ name, steps: distance(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps)
    .map(({ name }) => name);
}

/** How many letters must be put in, taken out or changed to make one word of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [above, letter] of [...from].entries()) {
    const next = [above + 1];
    for (const [left, other] of [...to].entries()) {
      const changed = (row[left] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[left + 1] ?? 0) + 1, (next[left] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * The name that was most likely meant; undefined where none is near: a third of the letters may be
 * wrong, and one that begins with what was typed is near too.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const [first] = nearestFirst(word, names);
  if (first === undefined || wanted === '') return undefined;
  const allowed = Math.max(1, Math.floor(Math.max(wanted.length, first.length) / 3));
  if (distance(wanted, first.toLowerCase()) <= allowed) return first;
  return wanted.length < 3
    ? undefined
    : names.find((name) => name.toLowerCase().startsWith(wanted));
}
