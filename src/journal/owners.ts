import { join } from 'node:path';
import type { Journal, Stranger } from './contract.ts';
import { exists } from './folder.ts';
import { asOfNow } from './in-flight.ts';
import type { Store } from './journal.ts';
import { type KeptMachine, machinesIn } from './machines.ts';
import { uncertainOf } from './open-requests.ts';
import { anySettled, openRequests } from './requests.ts';
import {
  accountOfKey,
  knownAccount,
  linkAccount,
  linkFolder,
  otherFolders,
  ownersOfKey,
} from './scope.ts';

/** The ids; the machines of late are those that the service is likeliest to know. */
function newestFirst(machines: readonly KeptMachine[]): string[] {
  return machines
    .map(({ record }) => record)
    .sort((a, b) => Date.parse(b.known_at) - Date.parse(a.known_at) || 0)
    .map(({ id }) => id);
}

/** Whose the things of the journal are. */
export function owners(
  journal: Store,
): Pick<Journal, 'isAccountKnown' | 'learnAccount' | 'strangers' | 'adopt' | 'owner' | 'isOwn'> {
  const { folder, scope } = journal.settings;
  const { now, own, reading, writing } = journal;
  const quiet = () => undefined;

  async function owner(): Promise<{ service: string; account: string | null }> {
    const account = scope.account ?? (await reading(() => knownAccount(folder, scope))) ?? null;
    return { service: scope.service, account };
  }

  /** A folder that is not the owner's, with what tells whose it is. */
  async function lookInto(name: string) {
    const path = join(folder, name);
    const open = asOfNow(await openRequests(path, quiet), journal.settings);
    const machines = await machinesIn(path, 'machines', quiet);
    const whole = open.filter(({ isSpoilt }) => isSpoilt !== true);
    const settled = whole.length + machines.length === 0 ? await anySettled(path) : undefined;
    const records = [...whole, ...(settled === undefined ? [] : [settled])].map(
      ({ intent }) => intent,
    );
    const [first] = [...records, ...machines.map(({ record }) => record)];
    return { open, machines, service: first?.service, account: first?.account };
  }

  const told = new Set<string>();
  /** One that can't be read keeps nobody from the others. */
  async function lookOrTell(name: string) {
    try {
      return await lookInto(name);
    } catch (error) {
      if (!told.has(name)) {
        const words = error instanceof Error ? error.message : String(error);
        journal.settings.warn?.(
          `A part of the journal of rented machines can't be read, and may hold some of this account: ${words}`,
        );
      }
      told.add(name);
      return undefined;
    }
  }

  return {
    isAccountKnown: async () => (await own()).accountKnown,

    async learnAccount(account, { whereUsed = false } = {}) {
      if (whereUsed && !exists(await journal.mainOwner())) {
        return;
      }
      await writing(() => linkAccount(folder, scope, account, now()));
      journal.forgetOwners();
    },

    strangers: () =>
      reading(async () => {
        const strangers: Stranger[] = [];
        const { accountKnown } = await own();
        for (const { name, isLinked } of await otherFolders(folder, await own())) {
          // What a link names is another account's, where this account is known.
          if (isLinked && accountKnown) continue;
          const seen = await lookOrTell(name);
          const isHere = seen === undefined || seen.service === scope.service;
          // So is what says itself whose it is, as all that was asked for with a profile does.
          const isElsewhere = isLinked || seen?.account != null;
          if (!isHere || (isElsewhere && accountKnown)) continue;
          strangers.push({
            folder: name,
            isLinked: isElsewhere,
            machines: newestFirst(seen?.machines ?? []),
            unknown: seen === undefined ? [] : uncertainOf(seen.open).unknown,
          });
        }
        return strangers;
      }),

    async adopt(stranger) {
      await writing(async () => linkFolder(folder, await own(), stranger.folder, now()));
      journal.forgetOwners();
    },

    owner,

    async isOwn({ account, key }) {
      const mine = (await owner()).account;
      if (account !== null) return mine === null ? undefined : account === mine;
      if (key == null) return undefined;
      if (scope.apiKey !== undefined && key === accountOfKey(scope.apiKey)) return true;
      const its = await reading(() => ownersOfKey(folder, scope.service, key));
      if (its.length === 0) return undefined;
      const { main, accountKnown } = await own();
      return accountKnown ? its.includes(main) : undefined;
    },
  };
}
