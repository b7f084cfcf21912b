import { resourceId } from '../rules/ids.ts';

export interface Salvaged {
  /** The id of the new machine, where the document says that it stands. */
  readonly id: string | undefined;
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
  const found = idsIn(text.slice(startOf(text)));
  const first = found.find(({ path }) => path === 'data.id');
  const id = found.findLast(({ path, root }) => path === 'data.id' && root === first?.root)?.id;
  const others = new Set(found.map((one) => one.id).filter((other) => other !== id));
  return { id, candidates: [...others].slice(0, MOST_CANDIDATES) };
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
  readonly id: string;
  /** Dotted; an item of a list is a step `[]`. */
  readonly path: string;
  /** Which of several JSON documents in the text. */
  readonly root: number;
}

/** Where a machine's own id could stand: not those of its offer, image or keys. */
const PLACES = new Set([
  'data.id',
  'id',
  'data.[].id',
  'data.instance.id',
  'instance.id',
  'data.data.id',
]);

/** Strings (closed ones only), numbers, and the signs that JSON is built of. */
const TOKEN = /"((?:[^"\\\u0000-\u001f]|\\.)*)"|-?\d+(?:\.\d+)?(?=[\s,}\]])|[{}[\]:,]/g;

interface Level {
  readonly kind: '{' | '[';
  /** In an object: the key whose value comes next. */
  key: string | undefined;
}

/** Walks the tokens of what may be JSON, and keeps the path. It is linear and never fails. */
function idsIn(text: string): Found[] {
  const found: Found[] = [];
  const levels: Level[] = [];
  let root = 0;
  let last: string | undefined;
  for (const match of text.matchAll(TOKEN)) {
    const [token] = match;
    const level = levels.at(-1);
    switch (token) {
      case '{':
      case '[':
        if (level === undefined) root += 1;
        levels.push({ kind: token, key: undefined });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ':':
        if (level?.kind === '{') level.key = last;
        break;
      case ',':
        if (level !== undefined) level.key = undefined;
        break;
      default: {
        const value = match[1] === undefined ? token : unescaped(match[1]);
        if (level?.kind === '{' && level.key !== undefined) {
          const path = pathOf(levels);
          const isText = match[1] !== undefined;
          if (PLACES.has(path) && value !== undefined && resourceId(value).ok) {
            // A number is not what the document promises, so it is a candidate at most.
            found.push({ id: value, path: isText ? path : `${path}#`, root });
          }
        }
        last = value;
        continue;
      }
    }
    last = undefined;
  }
  return found;
}

function pathOf(levels: readonly Level[]): string {
  return levels.map(({ kind, key }) => (kind === '[' ? '[]' : (key ?? ''))).join('.');
}

function unescaped(inner: string): string | undefined {
  try {
    return JSON.parse(`"${inner}"`);
  } catch {
    return undefined;
  }
}
