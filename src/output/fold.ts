import { width } from './width.ts';

/** What chalk writes: colours and weights, nothing that moves a cursor. */
const STYLE = /\u001b\[[0-9;]*m/g;
const RESET = '\u001b[0m';

/**
 * A painted line as lines of at most `cells` cells each, so that a terminal never breaks one by
 * itself: what is redrawn in place has to know where each line stands. A colour that is on where a
 * line is broken goes on in the next.
 */
export function fold(line: string, cells: number): string[] {
  if (width(line.replace(STYLE, '')) <= cells) return [line];
  const folded: string[] = [];
  let text = '';
  let used = 0;
  let styles = '';
  const end = () => {
    folded.push(styles === '' ? text : `${text}${RESET}`);
    text = styles;
    used = 0;
  };
  let at = 0;
  for (const style of [...line.matchAll(STYLE), undefined]) {
    for (const point of line.slice(at, style?.index)) {
      const more = width(point);
      if (used > 0 && used + more > cells) end();
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
