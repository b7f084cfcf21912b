/** Sorts names by similarity to the word; equally similar names keep their order. */
export function nearestFirst(word: string, names: readonly string[]): string[] {
  const wanted = word.toLowerCase();
  return names
    .map((name) => ({ name, steps: distance(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps)
    .map(({ name }) => name);
}

/**
 * Returns the edit distance: how many letters to insert, delete, change or swap with a neighbour.
 */
function distance(from: string, to: string): number {
  const [letters, others] = [[...from], [...to]];
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: others.length + 1 }, (_, at) => at);
  for (const [above, letter] of letters.entries()) {
    const next = [above + 1];
    for (const [left, other] of others.entries()) {
      const changed = Number(row[left]) + (letter === other ? 0 : 1);
      const isSwapped =
        left > 0 && letter === others[left - 1] && other === letters[above - 1] && letter !== other;
      const swapped = isSwapped ? Number(before[left - 1]) + 1 : changed;
      next.push(Math.min(changed, swapped, Number(row[left + 1]) + 1, Number(next[left]) + 1));
    }
    [before, row] = [row, next];
  }
  return Number(row.at(-1));
}

/**
 * Returns the name that was probably meant; undefined if no name is close. Allows a third of the
 * letters to be wrong, up to `most`. A name that contains the typed word is also close, first of
 * all a name that begins with it.
 */
export function nearest(
  word: string,
  names: readonly string[],
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  const wanted = word.toLowerCase();
  const [first] = nearestFirst(word, names);
  if (first === undefined || wanted === '') return undefined;
  const third = Math.floor(Math.max(wanted.length, first.length) / 3);
  const allowed = Math.min(most, Math.max(1, third));
  if (distance(wanted, first.toLowerCase()) <= allowed) return first;
  if (wanted.length < 3) return undefined;
  const lower = (name: string) => name.toLowerCase();
  return (
    names.find((name) => lower(name).startsWith(wanted)) ??
    names.find((name) => lower(name).includes(wanted))
  );
}
