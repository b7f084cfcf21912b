import { createHash } from 'node:crypto';
import { broken, kept, type Verdict } from './rule.ts';
import { holdsPrivateKey } from './secrets.ts';

/** An OpenSSH public key: RSA, Ed25519 or ECDSA (API document: POST /ssh-keys). */
export interface PublicKey {
  /** The key type, such as `ssh-ed25519`. */
  readonly type: string;
  /** The comment after the key; '' for none. */
  readonly comment: string;
  /** The form to send: `TYPE BASE64 [COMMENT]` with single spaces. */
  readonly line: string;
  /** `SHA256:…`, as `ssh-keygen -l` writes it. */
  readonly fingerprint: string;
}

/** Number of fields of each key type, including the type (RFC 4253, 8709 and 5656). */
const FIELDS: Readonly<Record<string, number>> = {
  'ssh-rsa': 3,
  'ssh-ed25519': 2,
  'ecdsa-sha2-nistp256': 3,
  'ecdsa-sha2-nistp384': 3,
  'ecdsa-sha2-nistp521': 3,
};

const CUT_SHORT = 'the key is incomplete or damaged';

/**
 * Reads the content of a `.pub` file: one key; empty lines and `#` lines around it are allowed. No
 * rule repeats the text, since it may be the wrong file.
 */
export function publicKey(text: string): Verdict<PublicKey> {
  if (holdsPrivateKey(text)) {
    return broken('this is a private key, which must stay on this computer; use the public one');
  }
  const lines = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [line, ...others] = lines;
  if (line === undefined) return broken('it contains no key');
  if (others.length > 0) {
    return broken('it has several lines; a public key is one line');
  }
  const [type = '', base64 = '', ...words] = line.split(/[ \t]+/);
  if (!Object.hasOwn(FIELDS, type)) {
    return broken(
      `this is not an OpenSSH public key, which is one line: a type, the key in base64, a comment. The type is one of ${Object.keys(FIELDS).join(', ')}`,
    );
  }
  const comment = words.join(' ');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(comment)) {
    return broken('the comment holds control characters');
  }
  const blob = Buffer.from(base64, 'base64');
  if (blob.toString('base64') !== base64 || !isWhole(type, blob)) return broken(CUT_SHORT);
  const hash = createHash('sha256').update(blob).digest('base64').replace(/=+/, '');
  return kept({
    type,
    comment,
    line: [type, base64, ...words].join(' '),
    fingerprint: `SHA256:${hash}`,
  });
}

/**
 * Whether the key has exactly the fields of its type. Four bytes before each field hold its length
 * (RFC 4251, 5), and the first field is the type.
 */
function isWhole(type: string, blob: Buffer): boolean {
  const fields: Buffer[] = [];
  let end = 0;
  while (end + 4 <= blob.length) {
    const start = end + 4;
    end = start + blob.readUInt32BE(end);
    fields.push(blob.subarray(start, end));
  }
  return (
    end === blob.length && fields.length === FIELDS[type] && fields[0]?.toString('latin1') === type
  );
}

/** Whether two lines hold the same key: equal `TYPE BASE64`, regardless of the comments. */
export function sameKey(one: string, other: string): boolean {
  return typeAndBlob(one) === typeAndBlob(other);
}

function typeAndBlob(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ');
}
