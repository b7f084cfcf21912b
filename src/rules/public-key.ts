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

/** How many fields a key of each kind has, its type among them (RFC 4253, 8709 and 5656). */
const FIELDS: Readonly<Record<string, number>> = {
  'ssh-rsa': 3,
  'ssh-ed25519': 2,
  'ecdsa-sha2-nistp256': 3,
  'ecdsa-sha2-nistp384': 3,
  'ecdsa-sha2-nistp521': 3,
};

/** Kinds that OpenSSH knows and the document does not name. */
const FOREIGN = /^(ssh-dss|sk-[a-z0-9@.-]+|[a-z0-9-]+-cert-v0[01]@openssh\.com)$/;

const CUT_SHORT = 'the key is cut short';
const NO_LINE =
  'this is not an OpenSSH public key, which is one line: a type such as ssh-ed25519, the key in base64, a comment';

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
  if (!Object.hasOwn(FIELDS, type)) return broken(wrongStart(type, line));
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
  const fault = blobFault(type, blob);
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
  return line.split(/[ \t]+/).find((word) => Object.hasOwn(FIELDS, word) || FOREIGN.test(word));
}

/** Node's own decoder takes nearly anything; a key is what it says only when nothing is left over. */
function decoded(base64: string): Buffer | undefined {
  const blob = Buffer.from(base64, 'base64');
  return blob.toString('base64') === base64 ? blob : undefined;
}

function blobFault(type: string, blob: Buffer): string | undefined {
  const [inner, ...others] = fieldsOf(blob);
  if (inner === undefined) return CUT_SHORT;
  const kind = inner.toString('latin1');
  if (kind !== type) {
    return Object.hasOwn(FIELDS, kind) || FOREIGN.test(kind)
      ? `the key is of the type ${kind}, and the line says ${type}`
      : `the base64 holds no key of the type ${type}`;
  }
  const length = [inner, ...others].reduce((sum, field) => sum + 4 + field.length, 0);
  const count = 1 + others.length;
  if (count < (FIELDS[type] ?? 0)) return CUT_SHORT;
  return count === FIELDS[type] && length === blob.length
    ? undefined
    : 'something is left over after the end of the key';
}

/** The whole fields of a blob, each with its length before it in four bytes (RFC 4251, 5). */
function fieldsOf(blob: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= blob.length; ) {
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) break;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/**
 * Whether a fingerprint that the service reported is that of a key. The document calls it a "key hash"
 * and gives no form: SHA-256 and MD5 are read in the usual ones, anything else can't be compared.
 */
export function compareFingerprint(
  key: PublicKey,
  reported: string | null | undefined,
): 'same' | 'different' | 'unreadable' {
  const text = (reported ?? '').trim();
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
