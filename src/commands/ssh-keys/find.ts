import type { SshKey } from '../../api/index.ts';
import { findOne } from '../../cli/lookup.ts';
import { refuseSecret } from '../../cli/no-secret.ts';

/**
 * The key that a text means: its id or a beginning of it, its name, or its fingerprint as the service
 * or `ssh-keygen -l` tells it. Throws when none fits (not found) or several do (usage).
 */
export async function findKey(typed: string, list: () => Promise<SshKey[]>): Promise<SshKey> {
  refuseSecret('KEY', typed);
  // Loaded here: the rule brings node:crypto, which no list and no help needs.
  const { publicKey } = await import('../../rules/public-key.ts');
  return findOne(typed, {
    flag: 'KEY',
    what: 'SSH key',
    list,
    also(key) {
      const parsed = publicKey(key.public_key ?? '');
      return parsed.ok
        ? [key.fingerprint, parsed.value.fingerprint, parsed.value.md5, `MD5:${parsed.value.md5}`]
        : [key.fingerprint];
    },
    hint: 'gpucloud ssh-keys list',
  });
}
