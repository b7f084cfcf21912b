import { createHash } from 'node:crypto';
import { holdsPrivateKey } from './private-key.ts';
import { broken, kept, type Verdict } from './rule.ts';

/** An OpenSSH public key: RSA, Ed25519 or ECDSA (spec: POST /ssh-keys). */
export interface PublicKey {
  /** `ssh-ed25519` and the like. */
  readonly type: string;
  /** The words after the key; '' when there are none. */
  readonly comment: string;
  /** `TYPE BASE64 [COMMENT]` with single spaces: the form in which it is sent. */
  readonly line: string;
  /** `SHA256:…`, as `ssh-keygen -l` writes it. */
  readonly fingerprint: string;
  /** `aa:bb:…`, as older programs write it. */
  readonly md5: string;
}

/** The body of a kind of key: judges what follows the type in the blob. */
const BODIES: Readonly<Record<string, (blob: Reader) => string | undefined>> = {
  'ssh-rsa': rsaBody,
  'ssh-ed25519': ed25519Body,
  'ecdsa-sha2-nistp256': (blob) => ecdsaBody(blob, 'nistp256', 32),
  'ecdsa-sha2-nistp384': (blob) => ecdsaBody(blob, 'nistp384', 48),
  'ecdsa-sha2-nistp521': (blob) => ecdsaBody(blob, 'nistp521', 66),
};

/** Kinds that OpenSSH knows and the document does not name. */
const FOREIGN = /^(ssh-dss|sk-[a-z0-9@.-]+|[a-z0-9-]+-cert-v0[01]@openssh\.com)$/;

const CUT_SHORT = 'the key is cut short';
const NO_LINE =
  'this is not an OpenSSH public key, which is one line: a type such as ssh-ed25519, the key in base64, a comment';

/** Shorter moduli can be broken, and no server of today takes them. */
const RSA_BITS = { least: 1024, most: 16_384 };

/**
 * Reads the content of a `.pub` file: one key, with empty lines and `#` lines around it allowed.
 *
 * No rule repeats a part of the text, since people give the wrong file: only names of kinds of keys
 * that are known here are said.
 */
export function publicKey(text: string): Verdict<PublicKey> {
  if (holdsPrivateKey(text)) {
    return broken('this is a private key, which stays on this computer: give the public one');
  }
  if (text.includes('\0')) {
    return broken('this is no plain text; a public key is one line of ASCII or UTF-8');
  }
  if (/BEGIN (SSH2 |RSA )?PUBLIC KEY/.test(text)) {
    return broken(
      'this public key is not in the OpenSSH form: "ssh-keygen -i" converts it (with -m PKCS8 or -m PEM for one in PEM)',
    );
  }
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line, ...others] = lines;
  if (line === undefined) return broken('there is no key in it');
  if (others.length > 0) {
    return broken(
      others.some((other) => kindOf(other) !== undefined)
        ? 'there are several keys in it, and one is added at a time'
        : 'there are several lines in it, and a public key is one line',
    );
  }
  return publicKeyLine(line);
}

function publicKeyLine(line: string): Verdict<PublicKey> {
  const [type = '', base64 = '', ...words] = line.split(/[ \t]+/);
  const body = Object.hasOwn(BODIES, type) ? BODIES[type] : undefined;
  if (body === undefined) return broken(wrongStart(type, line));
  if (base64 === '') return broken('the key is missing after its type');
  const blob = decoded(base64);
  if (blob === undefined) {
    return broken(
      /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
        ? `${CUT_SHORT}: its base64 has no whole end`
        : 'the key is not in base64',
    );
  }
  const comment = words.join(' ');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(comment)) {
    return broken('the comment holds control characters');
  }
  const fault = blobFault(type, new Reader(blob), body);
  return fault === undefined
    ? kept({
        type,
        comment,
        line: [type, base64, ...words].join(' '),
        fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
        md5: (createHash('md5').update(blob).digest('hex').match(/../g) ?? []).join(':'),
      })
    : broken(fault);
}

function wrongStart(type: string, line: string): string {
  if (FOREIGN.test(type)) {
    const name = type === 'ssh-dss' ? 'DSA (ssh-dss)' : type;
    return `${name} is not among the documented formats, which are RSA, Ed25519 and ECDSA`;
  }
  return kindOf(line) === undefined
    ? NO_LINE
    : 'something stands before the type of the key: options belong into authorized_keys, not here';
}

/** The first kind of key that stands as a word in a line. */
function kindOf(line: string): string | undefined {
  return line.split(/[ \t]+/).find((word) => Object.hasOwn(BODIES, word) || FOREIGN.test(word));
}

/** Node's own decoder takes nearly anything; a key is what it says only when nothing is left over. */
function decoded(base64: string): Buffer | undefined {
  const blob = Buffer.from(base64, 'base64');
  return blob.toString('base64') === base64 ? blob : undefined;
}

function blobFault(
  type: string,
  blob: Reader,
  body: (blob: Reader) => string | undefined,
): string | undefined {
  const inner = blob.field();
  if (inner === undefined) return CUT_SHORT;
  const kind = inner.toString('latin1');
  if (kind !== type) {
    return Object.hasOwn(BODIES, kind) || FOREIGN.test(kind)
      ? `the key is of the type ${kind}, and the line says ${type}`
      : `the base64 holds no key of the type ${type}`;
  }
  const fault = body(blob);
  if (fault !== undefined) return fault;
  return blob.atEnd ? undefined : 'something is left over after the end of the key';
}

/** RFC 4253, 6.6: the exponent and the modulus. */
function rsaBody(blob: Reader): string | undefined {
  const exponent = blob.field();
  const modulus = blob.field();
  if (exponent === undefined || modulus === undefined) return CUT_SHORT;
  const [e, n] = [bitsOf(exponent), bitsOf(modulus)];
  if (e === undefined || n === undefined || e < 2) return 'its RSA numbers are not valid';
  if (n < RSA_BITS.least) {
    return `an RSA key has at least ${RSA_BITS.least} bits, and this one has ${n}`;
  }
  return n > RSA_BITS.most
    ? `an RSA key has at most ${RSA_BITS.most} bits, and this one has ${n}`
    : undefined;
}

/** RFC 8709, 4: 32 bytes. */
function ed25519Body(blob: Reader): string | undefined {
  const point = blob.field();
  if (point === undefined) return CUT_SHORT;
  return point.length === 32
    ? undefined
    : `an Ed25519 key has 32 bytes, and this one has ${point.length}`;
}

/** RFC 5656, 3.1: the name of the curve and an uncompressed point, as OpenSSH writes it. */
function ecdsaBody(blob: Reader, curve: string, size: number): string | undefined {
  const name = blob.field();
  const point = blob.field();
  if (name === undefined || point === undefined) return CUT_SHORT;
  if (name.toString('latin1') !== curve) return `the key is on another curve than ${curve}`;
  return point.length === 1 + 2 * size && point[0] === 4
    ? undefined
    : `it holds no point of the curve ${curve}`;
}

/** How long a positive number is; undefined for one that is negative. */
function bitsOf(number: Buffer): number | undefined {
  if ((number[0] ?? 0) > 127) return undefined;
  const from = number.findIndex((byte) => byte !== 0);
  if (from < 0) return 0;
  return (number.length - from - 1) * 8 + (32 - Math.clz32(number[from] ?? 0));
}

/** The fields of a blob, each with its length before it in four bytes (RFC 4251, 5). */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** undefined when the bytes end before the field does. */
  field(): Buffer | undefined {
    const start = this.#at + 4;
    if (start > this.#bytes.length) return undefined;
    const end = start + this.#bytes.readUInt32BE(this.#at);
    if (end > this.#bytes.length) return undefined;
    this.#at = end;
    return this.#bytes.subarray(start, end);
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}

/**
 * Whether a fingerprint that the service told is that of a key. The document calls it a "key hash"
 * and gives no form: SHA-256 and MD5 are read in the usual ones, anything else can't be compared.
 */
export function compareFingerprint(
  key: PublicKey,
  told: string | null | undefined,
): 'same' | 'different' | 'unreadable' {
  const text = (told ?? '').trim();
  const sha256 = /^(?:SHA256:)?([A-Za-z0-9+/]{43})=?$/i.exec(text)?.[1];
  if (sha256 !== undefined) return `SHA256:${sha256}` === key.fingerprint ? 'same' : 'different';
  const hex = /^(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2}|[0-9a-f]{32})$/i.exec(text)?.[1];
  if (hex !== undefined) {
    const plain = hex.toLowerCase().replaceAll(':', '');
    return plain === key.md5.replaceAll(':', '') ? 'same' : 'different';
  }
  return 'unreadable';
}

/** `TYPE BASE64`, which makes two lines the same key, whatever their comments. */
export function sameKey(one: string, other: string): boolean {
  return typeAndBlob(one) === typeAndBlob(other);
}

function typeAndBlob(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ');
}
