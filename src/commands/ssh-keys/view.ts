import type { SshKey } from '../../api/index.ts';
import { field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';

export const sshKeyView: View<SshKey> = {
  columns: [
    field('name', 'NAME'),
    field('id', 'ID'),
    { id: 'type', header: 'TYPE', value: typeOf, spared: true },
    field('fingerprint', 'FINGERPRINT', { spared: true }),
    field('is_default', 'DEFAULT', { kind: 'yes' }),
    field('created_at', 'ADDED', { kind: 'time' }),
    field('updated_at', 'UPDATED', { kind: 'time', hidden: true }),
    field('public_key', 'PUBLIC KEY', { hidden: true }),
  ],
  id: (k) => k.id,
  empty: `The account has no SSH keys. Add one: ${gpucloud('ssh-keys', 'add', 'FILE')}`,
};

/** Returns the first word of a key: `ssh-ed25519`. */
function typeOf({ public_key }: SshKey): string | undefined {
  return public_key?.trim().split(/\s/, 1)[0];
}
