const QUOTE = '"';
const BACKSLASH = 0x5c;

/**
 * Where the text of JSON that begins with the quote at `from` ends: the place of its other quote.
 * A text may be megabytes long, which is more than an expression of V8 has room to remember.
 */
export function endOfText(json: string, from: number): number {
  for (let at = from + 1; ; at += 1) {
    at = json.indexOf(QUOTE, at);
    if (at < 0) return json.length;
    if (!isEscaped(json, at)) return at;
  }
}

/** Of several backslashes before a sign, each second one is a sign itself. */
function isEscaped(json: string, at: number): boolean {
  let before = at - 1;
  while (json.charCodeAt(before) === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

/** Whole JSON, in which `change` has been given each piece that stands outside of its texts. */
export function changedBetweenTexts(json: string, change: (piece: string) => string): string {
  const pieces: string[] = [];
  // There may be millions of texts; what stays as it is stays in one piece.
  let kept = 0;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf(QUOTE, at);
    const end = quote < 0 ? json.length : quote;
    const piece = json.slice(at, end);
    const changed = change(piece);
    if (changed !== piece) {
      pieces.push(json.slice(kept, at), changed);
      kept = end;
    }
    at = quote < 0 ? end : endOfText(json, quote) + 1;
  }
  pieces.push(json.slice(kept));
  return pieces.join('');
}
