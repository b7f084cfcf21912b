import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';

export const TYPES = [
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
] as const;
type Type = (typeof TYPES)[number];

/**
 * Returns an OpenSSH public key line without a comment, and discards its private key. The key is new,
 * except that all RSA keys are one.
 */
export function sshPublicKey(type: Type): string {
  const jwk = publicJwk(type);
  const bytes = (text: string | undefined) => Buffer.from(text ?? '', 'base64url');
  const parts = {
    'ssh-ed25519': () => [bytes(jwk.x)],
    'ssh-rsa': () => [positive(bytes(jwk.e)), positive(bytes(jwk.n))],
    'ecdsa-sha2-nistp256': () => point('nistp256'),
    'ecdsa-sha2-nistp384': () => point('nistp384'),
    'ecdsa-sha2-nistp521': () => point('nistp521'),
  };
  function point(curve: string) {
    return [Buffer.from(curve), Buffer.concat([Buffer.of(4), bytes(jwk.x), bytes(jwk.y)])];
  }
  return lineOf(type, Buffer.concat([Buffer.from(type), ...parts[type]()].flatMap(withLength)));
}

export function lineOf(type: string, blob: Buffer): string {
  return `${type} ${blob.toString('base64')}`;
}

export function blobOf(line: string): Buffer {
  return Buffer.from(line.split(' ')[1] ?? '', 'base64');
}

function publicJwk(type: Type): JsonWebKey {
  switch (type) {
    case 'ssh-ed25519':
      return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
    case 'ssh-rsa':
      return rsaJwk();
    default: {
      const namedCurve = `P-${type.slice(-3)}`;
      return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
    }
  }
}

let rsa: JsonWebKey | undefined;

/** An RSA key takes 0.2 seconds to make. */
function rsaJwk(): JsonWebKey {
  rsa ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  return rsa;
}

function positive(number: Buffer): Buffer {
  return (number[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), number]) : number;
}

function withLength(bytes: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return [length, bytes];
}
