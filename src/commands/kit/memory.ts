/** Remembers at least the last `least` texts, and at most twice as many, however many come. */
export interface Memory {
  /** Whether a text is not remembered; from now on it is. */
  isNew(text: string): boolean;
}

/**
 * Two generations: to drop the oldest of one large set one by one would take quadratic time.
 *
 * A UUID is kept as its 16 bytes, in room that is taken once. A text that is kept, out of each of a
 * million rows, would live just long enough to be moved among what stays for long, where V8 lets
 * some 20 MiB of them gather before it looks.
 */
export function createMemory(least: number): Memory {
  let young = createGeneration(least);
  let old = createGeneration(least);
  const uuid = new Int32Array(WORDS);
  return {
    isNew(text) {
      const key = isUuidInto(text, uuid) ? uuid : text;
      if (old.has(key) || !young.add(key)) return false;
      if (young.size >= least) {
        [young, old] = [old, young];
        young.clear();
      }
      return true;
    },
  };
}

interface Generation {
  readonly size: number;
  has(key: Key): boolean;
  /** Answers whether it was not there. */
  add(key: Key): boolean;
  clear(): void;
}

/** The four words of a UUID, or a text that is none. */
type Key = string | Int32Array;

const WORDS = 4;

function createGeneration(most: number): Generation {
  const texts = new Set<string>();
  // A power of two, and never more than half full, so that a search soon ends at a free place.
  const places = 2 ** Math.ceil(Math.log2(most * 2 + 1));
  const words = new Int32Array(places * WORDS);
  let uuids = 0;

  /** Where it is, or else the free place where it belongs, as -1 - place. */
  function find(key: Int32Array): number {
    const a = key[0] ?? 0;
    const b = key[1] ?? 0;
    const c = key[2] ?? 0;
    const d = key[3] ?? 0;
    let place = mixed(a, b, c, d) & (places - 1);
    for (;;) {
      const at = place * WORDS;
      const last = words[at + 3];
      if (last === d && words[at + 2] === c && words[at + 1] === b && words[at] === a) return place;
      const isFree = last === 0 && words[at + 2] === 0 && words[at + 1] === 0 && words[at] === 0;
      if (isFree) return -1 - place;
      place = (place + 1) & (places - 1);
    }
  }

  return {
    get size() {
      return texts.size + uuids;
    },
    has: (key) => (typeof key === 'string' ? texts.has(key) : uuids > 0 && find(key) >= 0),
    add(key) {
      if (typeof key === 'string') {
        const before = texts.size;
        return texts.add(key).size > before;
      }
      const place = find(key);
      if (place >= 0) return false;
      const at = (-1 - place) * WORDS;
      for (let word = 0; word < WORDS; word += 1) words[at + word] = key[word] ?? 0;
      uuids += 1;
      return true;
    },
    clear() {
      texts.clear();
      words.fill(0);
      uuids = 0;
    },
  };
}

const LENGTH = 36;
const DIGITS_OF_A_WORD = 8;

/**
 * Reads a UUID in its usual spelling, so that no other text has the same words; false for anything
 * else, and for the one of zeros alone, which is how a free place looks.
 */
function isUuidInto(text: string, words: Int32Array): boolean {
  if (text.length !== LENGTH) return false;
  let digits = 0;
  let word = 0;
  let any = 0;
  for (let at = 0; at < LENGTH; at += 1) {
    const code = text.charCodeAt(at);
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== 45) return false;
      continue;
    }
    const digit = code >= 97 && code <= 102 ? code - 87 : code - 48;
    if (digit < 0 || digit > 15 || (digit > 9 && code < 97)) return false;
    word = (word << 4) | digit;
    digits += 1;
    if (digits % DIGITS_OF_A_WORD === 0) {
      words[digits / DIGITS_OF_A_WORD - 1] = word;
      any |= word;
      word = 0;
    }
  }
  return any !== 0;
}

/** Spreads UUIDs that count up as well as those at random. */
function mixed(a: number, b: number, c: number, d: number): number {
  let hash = Math.imul(a ^ Math.imul(b, 0x9e3779b1), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ c, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 13) ^ d, 0x27d4eb2f);
  return hash ^ (hash >>> 16);
}
