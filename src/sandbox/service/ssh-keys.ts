import { randomUUID } from 'node:crypto';
import { publicKey } from '../../rules/public-key.ts';
import { badRequest, conflict, Refusal } from '../refusal.ts';
import type { SshKey, State } from '../store/state.ts';
import { iso } from '../time.ts';

interface SshKeyWish {
  name: string;
  public_key: string;
  is_default?: boolean | undefined;
}

/** Adds a key (POST /ssh-keys). A new default key replaces the previous default. */
export function addSshKey(state: State, wish: SshKeyWish, now: number): SshKey {
  const verdict = publicKey(wish.public_key);
  if (!verdict.ok) throw badRequest(`public_key: ${verdict.rule}`);
  const { line, fingerprint } = verdict.value;
  if (state.sshKeys.some((key) => key.name === wish.name)) {
    throw conflict(`An SSH key named ${wish.name} already exists`);
  }
  if (state.sshKeys.some((key) => key.fingerprint === fingerprint)) {
    throw conflict('This public key is already registered');
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

/** Returns the keys, newest first (GET /ssh-keys). */
export function listSshKeys(state: State): SshKey[] {
  return [...state.sshKeys].reverse();
}

/** Deletes a key (DELETE /ssh-keys/{id}). Instances that have the key keep it. */
export function deleteSshKey(state: State, id: string): void {
  const at = state.sshKeys.findIndex((key) => key.id === id);
  if (at === -1) throw new Refusal(404, `SSH key ${id} not found`, 'B');
  state.sshKeys.splice(at, 1);
}

/** Returns a key as the service shows it (API document: SSH key). */
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
