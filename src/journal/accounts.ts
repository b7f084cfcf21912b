import { join } from 'node:path';
import type { Scope } from './contract.ts';
import { exists, foldersIn, readText, writeRecord } from './files.ts';
import { fileName, fingerprint, serviceFolder } from './names.ts';
import { parseRecord } from './record.ts';

/** Folder that maps key fingerprints to accounts. */
const KEYS = '@keys';

/** One service's folders, one per account. */
export function accountsOf(root: string, { service, apiKey, account: given }: Scope) {
  const own = join(root, serviceFolder(service));
  // Hashing loads node:crypto. A profile that knows its account doesn't need it.
  const keyFile = () => apiKey && join(own, KEYS, `${fingerprint(apiKey)}.json`);
  let learned: string | undefined;

  /** Returns the account ID if it is known here, without a request. */
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
    /** Folder for new records; undefined if the account is unknown. */
    main(): string | undefined {
      const id = account();
      return id === undefined ? undefined : join(own, fileName(id));
    },
    /** Folders to read: the account's own, or every account's if the account is unknown. */
    folders(): string[] {
      const id = account();
      const names = id === undefined ? foldersIn(own) : [fileName(id)];
      return names
        .filter((name) => name !== KEYS)
        .map((name) => join(own, name))
        .filter(exists);
    },
  };
}
