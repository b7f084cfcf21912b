import { join } from 'node:path';
import type { Scope } from './contract.ts';
import { exists, foldersIn, readText, writeRecord } from './files.ts';
import { fileName, fingerprint, serviceFolder } from './names.ts';
import { parseRecord } from './record.ts';

/** Whose keys are known, by fingerprint. */
const KEYS = '@keys';

/**
 * What an earlier version kept of a key whose account it never learned. It may be any account's of
 * the service, so each sees it.
 */
export const UNCLAIMED = '@unclaimed';

export type Accounts = ReturnType<typeof accountsOf>;

/** The folders of one service: one for each account. */
export function accountsOf(root: string, { service, apiKey, account: given }: Scope) {
  const own = join(root, serviceFolder(service));
  // Hashing loads node:crypto, which a profile that knows its account does without.
  const keyFile = () => apiKey && join(own, KEYS, `${fingerprint(apiKey)}.json`);
  let learned: string | undefined;

  /** The account's id, as far as it was learned; no request is made for it. */
  function account(): string | undefined {
    if (given !== undefined) return given;
    if (learned !== undefined) return learned;
    const file = keyFile();
    learned = file && parseRecord('key', readText(file))?.account;
    return learned;
  }

  return {
    account,
    async learn(id: string): Promise<void> {
      learned = id;
      const file = keyFile();
      if (file !== undefined && parseRecord('key', readText(file))?.account !== id) {
        await writeRecord(file, { version: 1, account: id });
      }
    },
    /** Where new things are written; undefined while the account is not known. */
    main(): string | undefined {
      const id = account();
      return id === undefined ? undefined : join(own, fileName(id));
    },
    /** What to read: the account's own folder, or every account's while it is not known. */
    folders(): string[] {
      const id = account();
      const names = id === undefined ? foldersIn(own) : [fileName(id), UNCLAIMED];
      return names
        .filter((name) => name !== KEYS)
        .map((name) => join(own, name))
        .filter(exists);
    },
  };
}
