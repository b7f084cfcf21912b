export interface Forms<T> {
  /** null for a row that has no id: such rows are told apart by what they hold. */
  id(row: T): string | null;
  /** What is printed of a row; a row that prints the same has not changed. */
  form(row: T): unknown;
}

export type Change<T> = { readonly row: T } | { readonly removed: string };

/** What each reading changes against the one before, in the order of the reading. */
export async function* changesOf<T>(
  readings: AsyncIterable<readonly T[]>,
  { id, form }: Forms<T>,
): AsyncGenerator<Change<T>> {
  let before = new Map<string, Known>();
  for await (const rows of readings) {
    const now = new Map<string, Known>();
    for (const row of rows) {
      const text = JSON.stringify(form(row)) ?? '';
      const name = id(row);
      const key = name === null ? `row ${text}` : `id ${name}`;
      now.set(key, { text, name });
      if (before.get(key)?.text !== text) yield { row };
    }
    for (const [key, { name }] of before) {
      if (name !== null && !now.has(key)) yield { removed: name };
    }
    before = now;
  }
}

interface Known {
  readonly text: string;
  readonly name: string | null;
}

/** The rows alone, for formats in which a line has no place for anything else. */
export async function* changedRows<T>(
  readings: AsyncIterable<readonly T[]>,
  forms: Forms<T>,
): AsyncGenerator<T> {
  for await (const change of changesOf(readings, forms)) {
    if ('row' in change) yield change.row;
  }
}

/** The text of each reading that differs from the text before. */
export async function* changedTexts<T>(
  readings: AsyncIterable<T>,
  textOf: (reading: T) => Promise<string>,
): AsyncGenerator<string> {
  let before: string | undefined;
  for await (const reading of readings) {
    const text = await textOf(reading);
    if (text !== before) yield text;
    before = text;
  }
}
