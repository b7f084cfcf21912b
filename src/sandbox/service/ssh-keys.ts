import { createHash, randomUUID } from 'node:crypto';
import { broken, kept, type Verdict } from '../../rules/rule.ts';
import { badRequest, conflict, Refusal } from '../refusal.ts';
import type { SshKey, State } from '../store/state.ts';
import { iso } from '../time.ts';

export interface SshKeyWish {
  name: string;
  public_key: string;
  is_default?: boolean | undefined;
}

/** POST /ssh-keys: a new default key takes the flag from the others. */
export function addSshKey(state: State, wish: SshKeyWish, now: number): SshKey {
  const verdict = publicKey(wish.public_key);
  if (!verdict.ok) throw badRequest(`public_key ${verdict.rule}`);
  const { line, fingerprint } = verdict.value;
  if (state.sshKeys.some((key) => key.name === wish.name)) {
    throw conflict(`An SSH key with the name ${wish.name} exists already`);
  }
  if (state.sshKeys.some((key) => key.fingerprint === fingerprint)) {
    throw conflict('This public key is registered already');
  }
  const isDefault = wish.is_default ?? false;
  if (isDefault) {
    for (const key of state.sshKeys.filter((one) => one.isDefault)) {
      key.isDefault = false;
      key.updatedAt = now;
    }
  }
  const key: SshKey = {
    id: randomUUID(),
    name: wish.name,
    publicKey: line,
    fingerprint,
    isDefault,
    createdAt: now,
    updatedAt: now,
  };
  state.sshKeys.push(key);
  return key;
}

/** GET /ssh-keys: newest first. */
export function listSshKeys(state: State): SshKey[] {
  return [...state.sshKeys].reverse();
}

/** DELETE /ssh-keys/{id}: machines that have the key keep it. */
export function deleteSshKey(state: State, id: string): void {
  const at = state.sshKeys.findIndex((key) => key.id === id);
  if (at === -1) throw new Refusal(404, `SSH key ${id} not found`, 'B');
  state.sshKeys.splice(at, 1);
}

/** Spec: SSH key. */
export function sshKeyView(key: SshKey): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    public_key: key.publicKey,
    fingerprint: key.fingerprint,
    is_default: key.isDefault,
    created_at: iso(key.createdAt),
    updated_at: iso(key.updatedAt),
  };
}

/** How many parts follow the type in the blob of each kind of key (RFC 4253, RFC 5656, RFC 8709). */
const PARTS: Readonly<Record<string, number>> = {
  'ssh-rsa': 2,
  'ssh-ed25519': 1,
  'ecdsa-sha2-nistp256': 2,
  'ecdsa-sha2-nistp384': 2,
  'ecdsa-sha2-nistp521': 2,
};
const ED25519_BYTES = 32;

export interface PublicKey {
  /** The line as it is stored: one line without blanks around it. */
  line: string;
  /** `SHA256:…` as `ssh-keygen -l` writes it. */
  fingerprint: string;
}

/** An OpenSSH public key: RSA, Ed25519 or ECDSA (spec: POST /ssh-keys). */
export function publicKey(text: string): Verdict<PublicKey> {
  const line = text.trim();
  const [type = '', encoded = ''] = line.split(/[ \t]+/);
  const parts = PARTS[type];
  if (parts === undefined || /[\r\n]/.test(line)) {
    return broken('must be one line with an RSA, Ed25519 or ECDSA key in the OpenSSH format');
  }
  const blob = Buffer.from(encoded, 'base64');
  const fields = blobFields(blob);
  if (encoded === '' || blob.toString('base64') !== encoded || fields === undefined) {
    return broken('must hold a whole key in base64');
  }
  const [inner, first] = fields;
  if (inner?.toString('latin1') !== type || fields.length !== parts + 1) {
    return broken('must hold a key of the type that it names');
  }
  if (type === 'ssh-ed25519' && first?.length !== ED25519_BYTES) {
    return broken('must hold an Ed25519 key of 32 bytes');
  }
  if (type.startsWith('ecdsa-') && first?.toString('latin1') !== type.slice('ecdsa-sha2-'.length)) {
    return broken('must hold a key on the curve that it names');
  }
  const hash = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
  return kept({ line, fingerprint: `SHA256:${hash}` });
}

/** The length-prefixed fields of a blob; undefined when they do not fill it exactly. */
function blobFields(blob: Buffer): Buffer[] | undefined {
  const fields: Buffer[] = [];
  let at = 0;
  while (at < blob.length) {
    if (at + 4 > blob.length) return undefined;
    const end = at + 4 + blob.readUInt32BE(at);
    if (end > blob.length) return undefined;
    fields.push(blob.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
