import { paragraph } from '../../output/width.ts';
import type { Prompts } from '../../prompts/prompts.ts';
import { shown } from '../../prompts/words.ts';

export interface Row {
  readonly label: string;
  readonly text: string;
}

/** So wide that no line is hard to read, however wide the terminal is. */
const WIDEST = 100;
const USUAL = 80;
/** Narrower than this, breaking makes more lines than sense. */
const NARROWEST = 20;

/** Labels and texts in two columns, each text folded within its own. */
export function tellRows(
  rows: readonly Row[],
  prompts: Prompts,
  columns: number | undefined,
): void {
  const edge = Math.max(...rows.map(({ label }) => label.length)) + 4;
  const room = Math.max(Math.min(columns || USUAL, WIDEST) - edge - 1, NARROWEST);
  for (const { label, text } of rows) {
    for (const [at, line] of paragraph(shown(text), room).entries()) {
      prompts.tell(`  ${(at === 0 ? label : '').padEnd(edge - 2)}${line}`);
    }
  }
}
