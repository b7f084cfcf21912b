/** Remembers at least the last `least` texts, and at most twice as many, however many come. */
export interface Memory {
  /** Whether a text is not remembered; from now on it is. */
  isNew(text: string): boolean;
}

/**
 * Two generations: to drop the oldest of one large set one by one would take quadratic time.
 *
 * A text of the length of a UUID is kept as its bytes, in room that is taken once. A text that is
 * kept, out of each of a million rows, would live just long enough to be moved among what stays for
 * long, where V8 lets some 20 MiB of them gather before it looks.
 */
export function createMemory(least: number): Memory {
  let young = createGeneration(least);
  let old = createGeneration(least);
  const words = new Int32Array(WORDS);

  function isNewText(text: string): boolean {
    if (old.texts.has(text) || young.texts.has(text)) return false;
    young.texts.add(text);
    return true;
  }

  /** Of the text whose bytes stand in `words`. */
  function isNewId(): boolean {
    const hash = mixed(words);
    if (placeOf(old.places, words, hash) >= 0) return false;
    const free = placeOf(young.places, words, hash);
    if (free >= 0) return false;
    young.places.set(words, -1 - free);
    return true;
  }

  return {
    isNew(text) {
      const isId = text.length === LENGTH && packed(text, words) && words[0] !== FREE;
      if (!(isId ? isNewId() : isNewText(text))) return false;
      young.size += 1;
      if (young.size >= least) {
        [young, old] = [old, young];
        clear(young);
      }
      return true;
    },
  };
}

/** Of a UUID. */
const LENGTH = 36;
const WORDS = LENGTH / 4;
const ASCII = 0x7f;
/** The first word of a place that nothing has been put to; no id begins with four of NUL. */
const FREE = 0;

interface Generation {
  size: number;
  readonly texts: Set<string>;
  /** Ids of the usual length, each in the first free place from that of its hash on. */
  readonly places: Int32Array;
}

function createGeneration(most: number): Generation {
  // A power of two, and a third of it free at least, so that a search soon ends at a free place.
  const places = 2 ** Math.ceil(Math.log2(most * 1.5 + 1));
  return { size: 0, texts: new Set(), places: new Int32Array(places * WORDS) };
}

function clear(generation: Generation): void {
  generation.size = 0;
  generation.texts.clear();
  generation.places.fill(FREE);
}

/** Where an id stands, or else the free place where it belongs, as -1 - place. */
function placeOf(places: Int32Array, id: Int32Array, hash: number): number {
  const end = places.length;
  let at = (hash & (end / WORDS - 1)) * WORDS;
  for (;;) {
    const first = places[at];
    if (first === FREE) return -1 - at;
    if (first === id[0] && isSame(places, at, id)) return at;
    at += WORDS;
    if (at === end) at = 0;
  }
}

function isSame(places: Int32Array, at: number, id: Int32Array): boolean {
  for (let word = 1; word < WORDS; word += 1) {
    if (places[at + word] !== id[word]) return false;
  }
  return true;
}

/** Four characters a word; answers whether all are ASCII, so that no other text has the same words. */
function packed(text: string, into: Int32Array): boolean {
  let all = 0;
  for (let word = 0; word < WORDS; word += 1) {
    const at = word * 4;
    const one = text.charCodeAt(at);
    const two = text.charCodeAt(at + 1);
    const three = text.charCodeAt(at + 2);
    const four = text.charCodeAt(at + 3);
    all |= one | two | three | four;
    into[word] = one | (two << 8) | (three << 16) | (four << 24);
  }
  return all <= ASCII;
}

/** Spreads ids that count up as well as those at random. */
function mixed(id: Int32Array): number {
  let hash = 0;
  for (let word = 0; word < WORDS; word += 1) {
    hash = Math.imul(hash ^ (hash >>> 15) ^ (id[word] ?? 0), 0x9e3779b1);
  }
  return hash ^ (hash >>> 16);
}
