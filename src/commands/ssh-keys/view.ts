import type { SshKey } from '../../api/index.ts';
import type { View } from '../../output/output.ts';

export const sshKeyView: View<SshKey> = {
  columns: [
    { id: 'name', header: 'NAME', value: (k) => k.name },
    { id: 'id', header: 'ID', value: (k) => k.id },
    { id: 'type', header: 'TYPE', value: typeOf },
    { id: 'fingerprint', header: 'FINGERPRINT', value: (k) => k.fingerprint },
    { id: 'is_default', header: 'DEFAULT', kind: 'yes', value: (k) => k.is_default },
    { id: 'created_at', header: 'ADDED', kind: 'time', value: (k) => k.created_at },
    { id: 'updated_at', header: 'UPDATED', kind: 'time', value: (k) => k.updated_at, hidden: true },
    { id: 'public_key', header: 'PUBLIC KEY', value: (k) => k.public_key, hidden: true },
  ],
  id: (k) => k.id,
  empty: 'The account has no SSH keys. Add one: gpucloud ssh-keys add FILE',
};

/** `ssh-ed25519`: the first word of the key. */
function typeOf({ public_key }: SshKey): string | undefined {
  return public_key?.trim().split(/\s/, 1)[0];
}
