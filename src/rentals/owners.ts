import { join } from 'node:path';
import type { Rentals, Stranger } from './contract.ts';
import { exists } from './folder.ts';
import type { Journal } from './journal.ts';
import { machinesIn } from './machines.ts';
import { uncertainOf } from './open-requests.ts';
import { anySettled, openRequests } from './requests.ts';
import { knownAccount, linkAccount, linkFolder, strangerFolders } from './scope.ts';

/** Whose the things of the journal are. */
export function owners(
  journal: Journal,
): Pick<Rentals, 'isAccountKnown' | 'learnAccount' | 'strangers' | 'adopt' | 'owner'> {
  const { folder, scope } = journal.settings;
  const { now, own, reading, writing } = journal;
  return {
    isAccountKnown: async () => (await own()).accountKnown,

    async learnAccount(account, { whereUsed = false } = {}) {
      if (whereUsed && !(await exists(await journal.mainOwner()))) {
        return;
      }
      await writing(() => linkAccount(folder, scope, account, now()));
      journal.forgetOwners();
    },

    async strangers() {
      const strangers: Stranger[] = [];
      for (const name of await strangerFolders(folder, await own())) {
        const owner = join(folder, name);
        const quiet = () => undefined;
        const open = await reading(() => openRequests(owner, quiet));
        const { intent } = open[0] ?? (await reading(() => anySettled(owner))) ?? {};
        if (intent?.service !== scope.service || intent.account !== null) continue;
        const kept = await reading(() => machinesIn(owner, 'machines', quiet));
        strangers.push({
          folder: name,
          machines: kept.map(({ record }) => record.id),
          unknown: (await uncertainOf(open, journal)).unknown.length,
        });
      }
      return strangers;
    },

    async adopt(stranger) {
      await writing(async () => linkFolder(folder, await own(), stranger.folder, now()));
      journal.forgetOwners();
    },

    async owner() {
      const account = scope.account ?? (await knownAccount(folder, scope)) ?? null;
      return { service: scope.service, account };
    },
  };
}
