// SHA-256 (FIPS 180-4) of a text, for the names of folders and the checks of lines. Nearly every
// command makes such names, from a hundred bytes, and the loading of node:crypto for that takes
// longer than all that is done with its files. Nothing here is secret from whoever can measure how
// long it takes: what may be is left to node:crypto.

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
// biome-ignore format: one number a line would be longer than all the rest
const ROUNDS = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
);

/** The same of the square roots of the first eight primes. */
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

/** Bytes. */
const BLOCK = 64;

/** The SHA-256 of a text in UTF-8, in hexadecimal: what node:crypto answers. */
export function sha256(text: string): string {
  const blocks = padded(Buffer.from(text));
  const state = Uint32Array.from(START);
  for (let at = 0; at < blocks.length; at += BLOCK) mix(state, blocks, at);
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** Whole blocks: the message, a one bit, zeros, and how many bits the message has, in 64. */
function padded(message: Uint8Array): Uint8Array {
  const blocks = new Uint8Array(Math.ceil((message.length + 9) / BLOCK) * BLOCK);
  blocks.set(message);
  blocks[message.length] = 0x80;
  // A text is far shorter than 2^53 bits, the most that a number holds.
  let bits = message.length * 8;
  for (let at = blocks.length - 1; bits > 0; at -= 1) {
    blocks[at] = bits % 256;
    bits = Math.floor(bits / 256);
  }
  return blocks;
}

/**
 * Takes up one block. An array of 32 bits cuts each sum to what the standard wants of it.
 *
 * Nothing is called in here: it runs once or twice in a process, too seldom to be optimised, and
 * calls would take most of the time. `(x >>> n) | (x << (32 - n))` is x, turned to the right: what
 * falls out comes in on the left.
 */
function mix(state: Uint32Array, blocks: Uint8Array, from: number): void {
  const words = new Int32Array(BLOCK);
  // The first byte is the highest.
  for (let at = 0; at < BLOCK; at += 1) {
    words[at >> 2] = ((words[at >> 2] ?? 0) << 8) | (blocks[from + at] ?? 0);
  }
  for (let at = 16; at < BLOCK; at += 1) {
    const late = words[at - 2] ?? 0;
    const early = words[at - 15] ?? 0;
    words[at] =
      (((late >>> 17) | (late << 15)) ^ ((late >>> 19) | (late << 13)) ^ (late >>> 10)) +
      (words[at - 7] ?? 0) +
      (((early >>> 7) | (early << 25)) ^ ((early >>> 18) | (early << 14)) ^ (early >>> 3)) +
      (words[at - 16] ?? 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let at = 0; at < BLOCK; at += 1) {
    const turned = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = (e & f) ^ (~e & g);
    const sum = (h + turned + choice + (ROUNDS[at] ?? 0) + (words[at] ?? 0)) | 0;
    const other = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const most = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + sum) | 0;
    d = c;
    c = b;
    b = a;
    a = (sum + other + most) | 0;
  }
  const parts = [a, b, c, d, e, f, g, h];
  for (let at = 0; at < parts.length; at += 1) state[at] = (state[at] ?? 0) + (parts[at] ?? 0);
}
