import type { Api, SshKey } from '../api/index.ts';
import type { Context } from '../context.ts';
import { retryChange } from '../retry-change.ts';
import { type PublicKey, sameKey } from '../rules/public-key.ts';

export interface NewKey {
  readonly key: PublicKey;
  readonly name: string;
  readonly isDefault: boolean;
}

/** Adds a key to the account if it is missing. `isNew`: the key was missing. */
export async function addKey(
  { key, name, isDefault }: NewKey,
  context: Context,
  api: Api,
): Promise<{ stored: SshKey; isNew: boolean }> {
  const there = await registered(key, await api.sshKeys.list());
  if (there !== undefined) {
    const called = there.name ?? there.id;
    context.err.note(`This key is already in the account, as ${called} (${key.fingerprint}).`);
    return { stored: there, isNew: false };
  }
  const body = { name, public_key: key.line, ...(isDefault ? { is_default: true } : {}) };
  const stored = await retryChange(
    {
      send: () => api.sshKeys.add(body),
      read: async () => ({ shown: await registered(key, await api.sshKeys.list()) }),
    },
    context,
  );
  context.err.note(`✓ Added ${name} (${key.fingerprint})`);
  return { stored, isNew: true };
}

/** Finds the same key among those of the account. */
export async function registered(
  key: PublicKey,
  keys: readonly SshKey[],
): Promise<SshKey | undefined> {
  return keys.find(
    ({ public_key, fingerprint }) =>
      fingerprint === key.fingerprint || sameKey(public_key ?? '', key.line),
  );
}
