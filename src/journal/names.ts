import { createHash } from 'node:crypto';

/** In bytes. File systems allow 255, which leaves room for an extension. */
const LONGEST = 150;

/** Names that mean a device on Windows, with any ending. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * Returns a file name for any text. Different texts get different names, even on file systems that
 * ignore case. Only a to z, digits, `_`, `-` and inner dots stay; other bytes become `%` and two hex
 * digits. A long text ends in a hash.
 */
export function fileName(text: string): string {
  const plain = text.replace(/^\.|\.$|[^a-z0-9._-]/gu, (letter) =>
    [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  if (DEVICES.test(plain)) return `%${plain.charCodeAt(0).toString(16)}${plain.slice(1)}`;
  return plain.length <= LONGEST ? plain : `${plain.slice(0, LONGEST - 33)}+${hashOf(text)}`;
}

/** Returns the text behind a file name; for a long text only its beginning. */
export function nameIn(name: string): string {
  const plain = name.replace(/\+[0-9a-f]+$/, '').replace(/%.?$/, '');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** The service's folder: `api.example.com`, `http@127.0.0.1%3a8080`, `@sandbox`. */
export function serviceFolder(service: string): string {
  if (service === 'sandbox') return '@sandbox';
  const [, scheme = '', rest = service] = /^(https?):\/\/(.*)$/s.exec(service) ?? [];
  return `${scheme === 'http' ? 'http@' : ''}${fileName(rest)}`;
}

/** A hash that identifies a key without revealing it. */
export function fingerprint(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex').slice(0, 24);
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
