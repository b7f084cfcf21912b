import { width } from '../width.ts';

/** The codes that chalk writes: colours and weights, none that move a cursor. */
const STYLE = /\u001b\[[0-9;]*m/g;
const RESET = '\u001b[0m';

/**
 * Folds a coloured line to at most `cells` cells, after a space if possible. A redraw needs the row
 * of each line, so the terminal must not wrap one itself. A colour continues on the next line.
 */
export function fold(line: string, cells: number): string[] {
  if (width(line.replace(STYLE, '')) <= cells) return [line];
  const folded: string[] = [];
  let text = '';
  let used = 0;
  let styles = '';
  const end = (from = text.length) => {
    const left = text.slice(from);
    const ended = text.slice(0, from);
    folded.push(styles === '' ? ended : `${ended}${RESET}`);
    text = `${styles}${left}`;
    used = width(left.replace(STYLE, ''));
  };
  /** After the last space, if that leaves the line at least half full. */
  const breakPoint = () => {
    const at = text.lastIndexOf(' ') + 1;
    return width(text.slice(0, at).replace(STYLE, '')) * 2 >= cells ? at : text.length;
  };
  let at = 0;
  for (const style of [...line.matchAll(STYLE), undefined]) {
    for (const point of line.slice(at, style?.index)) {
      const more = width(point);
      while (used > 0 && used + more > cells) end(breakPoint());
      text += point;
      used += more;
    }
    if (style === undefined) break;
    text += style[0];
    styles += style[0];
    at = style.index + style[0].length;
  }
  end();
  return folded;
}
