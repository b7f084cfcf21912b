import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { publicKey, sameKey } from '../../src/rules/public-key.ts';
import { holdsPrivateKey } from '../../src/rules/secrets.ts';
import { needs } from '../support/needs.ts';
import { blobOf, lineOf, sshPublicKey, TYPES } from '../support/ssh-key.ts';

/** A new key of each type. */
const KEYS = Object.fromEntries(TYPES.map((type) => [type, sshPublicKey(type)]));

function key(type: string): string {
  const line = KEYS[type];
  if (line === undefined) throw new Error(`no key of the type ${type}`);
  return line;
}

function ruleFor(text: string): string {
  const verdict = publicKey(text);
  return verdict.ok ? 'kept' : verdict.rule;
}

function keptKey(text: string) {
  const verdict = publicKey(text);
  if (!verdict.ok) throw new Error(verdict.rule);
  return verdict.value;
}

/** Encodes a field with its length prefix. */
function field(bytes: Buffer | string): Buffer {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

describe('a valid key', () => {
  test.each(TYPES)('normalizes the line and comment of a %s key', (type) => {
    const line = key(type);
    expect(keptKey(`\n# mine\n  ${line} \t me@home,   my laptop \r\n`)).toEqual({
      type,
      comment: 'me@home, my laptop',
      line: `${line} me@home, my laptop`,
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
    });
    expect(keptKey(`\uFEFF${line}`).comment).toBe('');
    expect(keptKey(`${line} a\uFEFFb`).comment).toBe('a\uFEFFb');
  });

  test('computes the same fingerprint as ssh-keygen', needs('ssh-keygen'), () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucloud-keys-'));
    const shapes: [string, string[]][] = [
      ['ed25519', []],
      ['rsa', ['-b', '2048']],
      ['ecdsa', ['-b', '256']],
      ['ecdsa', ['-b', '384']],
      ['ecdsa', ['-b', '521']],
    ];
    try {
      for (const [at, [type, bits]] of shapes.entries()) {
        const file = join(folder, `key${at}`);
        execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-C', 'a b', '-f', file]);
        const read = keptKey(readFileSync(`${file}.pub`, 'utf8'));
        const told = (hash: string) =>
          execFileSync('ssh-keygen', ['-l', '-E', hash, '-f', `${file}.pub`]).toString();
        expect(told('sha256').split(' ')[1]).toBe(read.fingerprint);
        expect(read.comment).toBe('a b');
        expect(ruleFor(readFileSync(file, 'utf8'))).toContain('private key');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an invalid key', () => {
  const ed25519 = () => key('ssh-ed25519');

  test.each([
    ['', 'it contains no key'],
    ['# nothing here\n\n', 'it contains no key'],
    ['hello world', 'not an OpenSSH public key'],
    ['ssh-ed25519', 'incomplete'],
    ['ssh-ed25519 me@home', 'incomplete'],
    ['constructor AAAA', 'not an OpenSSH public key'],
    ['s\0s\0h\0-\0r\0s\0a\0', 'not an OpenSSH public key'],
    ['---- BEGIN SSH2 PUBLIC KEY ----\nAAAA', 'several lines'],
    ['-----BEGIN PUBLIC KEY-----\nAAAA', 'several lines'],
    ['ssh-dss AAAA', 'The type is one of ssh-rsa, ssh-ed25519, ecdsa-sha2-nistp256'],
    ['sk-ssh-ed25519@openssh.com AAAA', 'not an OpenSSH public key'],
    ['ssh-ed25519-cert-v01@openssh.com AAAA', 'not an OpenSSH public key'],
  ])('rejects %j as a public key and reports the broken rule', (text, rule) => {
    expect(ruleFor(text)).toContain(rule);
  });

  test('rejects several keys, a broken line, options and control characters', () => {
    expect(ruleFor(`${ed25519()}\n${key('ssh-rsa')}`)).toContain('several lines');
    expect(ruleFor(ed25519().replace(/.{20}$/, '\n$&'))).toContain('several lines');
    expect(ruleFor(`no-pty,command="id" ${ed25519()}`)).toContain('not an OpenSSH public key');
    expect(ruleFor(`${ed25519()} a\u001b[2Jb`)).toContain('control characters');
  });

  test.each([
    ['ssh-rsa', [], 'incomplete'],
    ['ssh-rsa', [field(Buffer.of(3))], 'incomplete'],
    ['ssh-ed25519', [field(Buffer.alloc(32)), Buffer.of(0)], 'damaged'],
    ['ssh-ed25519', [field(Buffer.alloc(32)), field('more')], 'damaged'],
    ['ecdsa-sha2-nistp256', [field('nistp256')], 'incomplete'],
  ])('rejects a %s key with a malformed blob', (type, parts, rule) => {
    expect(ruleFor(lineOf(type, Buffer.concat([field(type), ...parts])))).toContain(rule);
  });

  test("rejects a key blob whose type differs from the line's", () => {
    expect(ruleFor(ed25519().replace('ssh-ed25519', 'ssh-rsa'))).toContain('damaged');
    expect(ruleFor(lineOf('ssh-rsa', field('hunter2-secret')))).toContain('damaged');
  });
});

describe('a private key', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const body = Buffer.from('openssh-key-v1\0none and what follows').toString('base64');
  const forms = [
    pkcs8,
    pkcs1,
    privateKey
      .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
      .toString(),
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${body}\n-----END OPENSSH PRIVATE KEY-----`,
    body,
    `ssh-ed25519 ${body}`,
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nabc',
    'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none',
    'Encryption: none\nPrivate-Lines: 1\n',
    'SSH PRIVATE KEY FILE FORMAT 1.1\n',
    `${key('ssh-ed25519')}\n${pkcs8}`,
  ];

  test.each(forms.map((form, at) => [at, form] as const))(
    'rejects private key format %i without repeating the key',
    (_at, form) => {
      expect(holdsPrivateKey(form)).toBe(true);
      // As in UTF-16.
      expect(holdsPrivateKey([...form].join('\0'))).toBe(true);
      expect(ruleFor(form)).toBe(
        'this is a private key, which must stay on this computer; use the public one',
      );
    },
  );

  test('accepts a public key with a comment that looks like a private key', () => {
    for (const type of TYPES) expect(holdsPrivateKey(`${key(type)} PRIVATE KEY`)).toBe(false);
  });
});

describe('hostile text', () => {
  test.each(TYPES)('rejects a truncated %s key', (type) => {
    const line = key(type);
    for (let length = 0; length < line.length; length += 1) {
      expect(publicKey(line.slice(0, length)).ok, `${length} characters`).toBe(false);
    }
    const blob = blobOf(line);
    for (let length = 0; length < blob.length; length += 1) {
      expect(ruleFor(lineOf(type, blob.subarray(0, length))), `${length} bytes`).toMatch(
        /incomplete/,
      );
    }
  });
});

describe('sameKey', () => {
  test('compares public keys without their comments', () => {
    const line = key('ssh-ed25519');
    expect(sameKey(`${line} a`, ` ${line}\tb\n`)).toBe(true);
    expect(sameKey(line, key('ssh-rsa'))).toBe(false);
  });
});
