import { resourceId } from '../rules/ids.ts';

export interface Salvaged {
  /** The id of the new machine, where the document says that it stands. */
  readonly id: string | undefined;
  /** The name of what the id belongs to, where it is told. */
  readonly name: string | undefined;
  /** Ids that stand elsewhere: one of them may be the machine, which only a reading can tell. */
  readonly candidates: readonly string[];
}

/** More would not fit into the journal, and says nothing any more. */
const MOST_CANDIDATES = 3;

/**
 * Finds the id of a new machine in the raw text of an answer, before anything else of it is
 * checked: a machine whose id is lost bills unseen, however broken the rest of its answer is.
 *
 * The id stands under `data.id` (API document: POST /instances, 201). The text may be cut at any
 * byte, and something else may stand before or after it; of several, the last in the first JSON that
 * has one counts, as in any JSON reader. An id that is no text, or can't stand in a path, is none.
 */
export function salvage(text: string): Salvaged {
  const found = valuesIn(text.slice(startOf(text)));
  const first = found.find(({ path }) => path === 'data.id');
  const last = (path: string) =>
    found.findLast((one) => one.path === path && one.root === first?.root)?.value;
  const id = last('data.id');
  const others = new Set(found.filter(({ path }) => path !== NAME).map(({ value }) => value));
  if (id !== undefined) others.delete(id);
  return { id, name: last(NAME), candidates: [...others].slice(0, MOST_CANDIDATES) };
}

/**
 * Where the JSON begins. A stray quotation mark before it would turn strings and what stands
 * between them round, and something else's id could seem to be the machine's.
 */
function startOf(text: string): number {
  if (/^\s*[{[]/.test(text)) {
    return 0;
  }
  const envelope = text.search(/\{\s*"(?:status|code|data)"\s*:/);
  return envelope < 0 ? Math.max(0, text.indexOf('{')) : envelope;
}

interface Found {
  readonly value: string;
  /** Dotted; an item of a list is a step `[]`. */
  readonly path: string;
  /** Which of several JSON documents in the text. */
  readonly root: number;
}

const NAME = 'data.name';

/** Where a machine's own id could stand: not those of its offer, image or keys. */
const PLACES = new Set([
  'data.id',
  'id',
  'data.[].id',
  'data.instance.id',
  'instance.id',
  'data.data.id',
]);

/** Steps of the longest of them. */
const DEEPEST = 3;

interface Level {
  readonly kind: '{' | '[';
  /** The key whose value comes next or is being read. */
  key: string | undefined;
}

/** No reader of JSON: it goes on behind whatever is wrong, and ends where a text was cut. */
function valuesIn(text: string): Found[] {
  const found: Found[] = [];
  const levels: Level[] = [];
  let root = 0;
  let last: string | undefined;
  for (const token of tokensOf(text)) {
    const level = levels.at(-1);
    if (token.kind === 'text' || token.kind === 'number') {
      const { value } = token;
      const isNear = levels.length <= DEEPEST && level?.kind === '{' && level.key !== undefined;
      if (isNear && value !== undefined) {
        const path = pathOf(levels);
        if (path === NAME && token.kind === 'text') {
          found.push({ value, path, root });
        } else if (PLACES.has(path) && resourceId(value).ok) {
          // A number is not what the document promises, so it is a candidate at most.
          found.push({ value, path: token.kind === 'text' ? path : `${path}#`, root });
        }
      }
      last = value;
      continue;
    }
    switch (token.kind) {
      case '{':
      case '[':
        if (level === undefined) root += 1;
        levels.push({ kind: token.kind, key: undefined });
        break;
      case ':':
        if (level?.kind === '{') level.key = last;
        break;
      case ',':
        if (level !== undefined) level.key = undefined;
        break;
      default:
        levels.pop();
    }
    last = undefined;
  }
  return found;
}

type Token =
  | { readonly kind: '{' | '}' | '[' | ']' | ':' | ',' }
  /** undefined for a text whose escapes are none. */
  | { readonly kind: 'text'; readonly value: string | undefined }
  | { readonly kind: 'number'; readonly value: string };

/**
 * Closed strings, numbers, and the signs that JSON is built of; one look at each character, however
 * odd the text is. A string that is not closed ends it: behind it nothing is certain.
 */
function* tokensOf(text: string): Generator<Token> {
  let at = 0;
  while (at < text.length) {
    const sign = text.charAt(at);
    if (sign === '"') {
      const end = endOfString(text, at + 1);
      if (end === undefined) return;
      yield { kind: 'text', value: unescaped(text.slice(at + 1, end)) };
      at = end + 1;
    } else if (/[-0-9]/.test(sign)) {
      const end = endOfNumber(text, at + 1);
      const value = text.slice(at, end);
      const isWhole = /[\s,}\]]/.test(text.charAt(end));
      if (isWhole && /^-?\d+(\.\d+)?$/.test(value)) yield { kind: 'number', value };
      at = end;
    } else {
      if (isSign(sign)) yield { kind: sign };
      at += 1;
    }
  }
}

function isSign(sign: string): sign is '{' | '}' | '[' | ']' | ':' | ',' {
  return '{}[]:,'.includes(sign);
}

function endOfString(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '"') return at;
    if (sign === '\\') at += 1;
  }
  return undefined;
}

function endOfNumber(text: string, from: number): number {
  let at = from;
  while (/[0-9.]/.test(text.charAt(at))) at += 1;
  return at;
}

function pathOf(levels: readonly Level[]): string {
  return levels.map(({ kind, key }) => (kind === '[' ? '[]' : (key ?? ''))).join('.');
}

function unescaped(inner: string): string | undefined {
  if (!inner.includes('\\')) return inner;
  try {
    return JSON.parse(`"${inner}"`);
  } catch {
    return undefined;
  }
}
