import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { cleanLines } from '../../output/index.ts';
import { trimLines } from '../../output/table/layout.ts';
import { padding, width } from '../../output/width.ts';

/**
 * Beyond these a readme is shown as it is. The parser takes quadratic time over marks that have no
 * partner: 60 KB of `_a*` would take two minutes.
 */
const LONGEST = 64 * 1024;
const MOST_MARKS = 4000;

/**
 * Markdown from outside as text that is laid out for reading: headings underlined, lists, tables
 * and code set off, lines of at most `columns` cells, no control sequence. The parser never sees a
 * control character, and what it can't cope with (a thousand nested quotes) stays as it was written.
 */
export function markdownText(markdown: string, columns: number): string {
  const source = cleanLines(markdown).trim();
  if (source.length > LONGEST || (source.match(/[*_~`<>[\]!]/g) ?? []).length > MOST_MARKS) {
    return source;
  }
  try {
    // Cleaned once more, since a character reference may stand for a control.
    return trimLines(cleanLines(blocks(lexer(source), columns).join('\n'))).trimEnd();
  } catch {
    return source;
  }
}

/** The lines of block after block, an empty line between them. */
function blocks(tokens: readonly Token[], columns: number): string[] {
  return tokens
    .map((token) => block(known(token), columns))
    .filter((lines) => lines.length > 0)
    .flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

/** Without extensions, which are not used here, the lexer makes these tokens alone. */
function known(token: Token): MarkedToken {
  return token as MarkedToken;
}

const UNDERLINES = ['=', '-'] as const;
const NARROWEST = 20;

function block(token: MarkedToken, columns: number): string[] {
  switch (token.type) {
    case 'heading': {
      const lines = wrapped(inline(token.tokens), columns);
      const longest = Math.max(0, ...lines.map(width));
      return [...lines, (UNDERLINES[token.depth - 1] ?? '.').repeat(longest)];
    }
    case 'paragraph':
      return wrapped(inline(token.tokens), columns);
    case 'text':
      return wrapped(inline([token]), columns);
    case 'code':
      return token.text.split('\n').map((line) => (line === '' ? '' : `    ${line}`));
    case 'blockquote':
      return blocks(token.tokens, within(columns, 2)).map((line) => `│ ${line}`);
    case 'list':
      return list(token, columns);
    case 'table':
      return table(token);
    case 'hr':
      return ['─'.repeat(Math.min(columns, 40))];
    case 'html':
      return wrapped(withoutTags(token.text), columns);
    case 'space':
    case 'def':
      return [];
    default:
      return wrapped(inline([token]), columns);
  }
}

function list(token: Tokens.List, columns: number): string[] {
  const first = token.start === '' ? 1 : token.start;
  return token.items.flatMap((item, at) => {
    const mark = token.ordered ? `${first + at}. ` : '• ';
    const box = item.task ? `[${item.checked === true ? 'x' : ' '}] ` : '';
    const room = within(columns, mark.length);
    const parts = item.tokens.filter((part) => part.type !== 'checkbox');
    const lines = item.loose ? blocks(parts, room) : parts.flatMap((p) => block(known(p), room));
    const apart = item.loose && at > 0 ? [''] : [];
    return [
      ...apart,
      ...(lines.length === 0 ? [''] : lines).map((line, row) =>
        row === 0 ? `${mark}${box}${line}` : `${' '.repeat(mark.length)}${line}`,
      ),
    ];
  });
}

function table({ header, rows }: Tokens.Table): string[] {
  const texts = [header, ...rows].map((row) =>
    row.map((cell) => inline(cell.tokens).replaceAll('\n', ' ')),
  );
  const widths = header.map((_, at) => Math.max(...texts.map((row) => width(row[at] ?? ''))));
  const lines = texts.map((row) =>
    row
      .map((text, at) => text + padding(text, widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [
    ...lines.slice(0, 1),
    widths.map((cells) => '-'.repeat(cells)).join('  '),
    ...lines.slice(1),
  ];
}

function inline(tokens: readonly Token[]): string {
  return tokens.map((token) => inlineText(known(token))).join('');
}

function inlineText(token: MarkedToken): string {
  switch (token.type) {
    case 'codespan':
      return `\`${token.text}\``;
    case 'link': {
      const text = inline(token.tokens);
      const plain = token.href.replace(/^mailto:/, '');
      return text === token.href || text === plain ? text : `${text} <${token.href}>`;
    }
    case 'image':
      return `[image: ${decoded(token.text)}] <${token.href}>`;
    case 'br':
      return '\n';
    case 'html':
      return /^<br\b/i.test(token.text) ? '\n' : '';
    case 'strong':
    case 'em':
    case 'del':
      return inline(token.tokens);
    case 'text':
      // A line break of the source is none of the text: only `br` is.
      return token.tokens === undefined
        ? decoded(token.text).replaceAll('\n', ' ')
        : inline(token.tokens);
    case 'escape':
      return token.text;
    default:
      return token.raw;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

/** The few character references that people write; any other stays as it is. */
function decoded(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (found) => ENTITIES[found] ?? found);
}

/** Comments and tags of a block of HTML say nothing on a terminal; the text between them may. */
function withoutTags(html: string): string {
  return decoded(html.replace(/<!--[\s\S]*?-->|<[^>]*>/g, ' '));
}

function within(columns: number, taken: number): number {
  return Math.max(NARROWEST, columns - taken);
}

/** Lines of at most so many cells, broken between words; a break that is meant stays. */
function wrapped(text: string, columns: number): string[] {
  const trimmed = text.trim();
  return trimmed === '' ? [] : trimmed.split(/ *\n/).flatMap((line) => wrappedLine(line, columns));
}

function wrappedLine(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && width(longer) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line];
}
