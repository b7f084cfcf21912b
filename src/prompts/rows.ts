import { clamp, padding, width } from '../output/width.ts';
import type { Choice } from './prompts.ts';

/** An endless text must not push all other columns off the screen. */
const WIDEST_CELL = 32;

/** The choices as lines of aligned columns, none longer than `room` cells. */
export function rowsOf(choices: readonly Choice<unknown>[], room: number): string[] {
  const rows = choices.map(({ name, about = [] }) =>
    about.length === 0 ? [name] : [name, ...about].map((text) => clamp(text, WIDEST_CELL)),
  );
  // An entry without columns (`Another, by its ID`) widens none.
  const tabular = rows.filter((row) => row.length > 1);
  const widest = (at: number) => Math.max(0, ...tabular.map((row) => width(row[at] ?? '')));
  return rows.map((row) => {
    const cells = row.map((text, at) => text + padding(text, widest(at)));
    return clamp(cells.join('  ').trimEnd(), room);
  });
}

/** Whether a line contains each typed word. */
export function matching(term: string): (line: string) => boolean {
  const words = term.toLowerCase().split(/\s+/).filter(Boolean);
  return (line) => words.every((word) => line.toLowerCase().includes(word));
}
