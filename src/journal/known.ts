import type { Known, KnownInstance, Observation } from './contract.ts';
import {
  isOldNews,
  type KeptInstance,
  knownInstance,
  newInstance,
  snapshotOf,
  writeInstance,
} from './instances.ts';
import type { InstanceRecord, Origin } from './record.ts';
import type { Store } from './store.ts';

/** Known instances, as last seen. */
export function known(store: Store) {
  const { accounts, reading, writing, find, now } = store;
  /** Instances of the last read; a command that lists instances observes each one right after it. */
  const seen = new Map<string, KeptInstance>();
  let isUnwritable = false;

  return {
    /** `archived` includes terminated and untracked instances. */
    async read({ archived = false } = {}): Promise<Known> {
      return reading(async () => {
        // Read requests first: a process that settles one in between has already written its instance.
        const open = await store.openRequests();
        const kept = await store.instances(archived ? ['instances', 'archive'] : ['instances']);
        const deadlines = await store.deadlines();
        seen.clear();
        for (const one of kept) if (!seen.has(one.record.id)) seen.set(one.record.id, one);
        return {
          instances: [...seen.values()].map((one) =>
            knownInstance(one, deadlines.get(one.record.id)?.deadline),
          ),
          unknown: open.filter(({ isInFlight }) => !isInFlight),
          inFlight: open.filter(({ isInFlight }) => isInFlight),
        };
      });
    },

    /** Returns one instance, archived or not, without reading the others. */
    instance: (id: string): Promise<KnownInstance | undefined> =>
      reading(async () => {
        const kept = find(id);
        if (kept !== undefined) seen.set(id, kept);
        if (kept === undefined || kept.isTorn) return undefined;
        return knownInstance(kept, (await store.deadlines()).get(id)?.deadline);
      }),

    /** Stores an observation of an instance. Returns true if the instance is new here. */
    async observe(observation: Observation, origin: Origin): Promise<boolean> {
      const { id } = observation;
      const just = seen.get(id);
      seen.delete(id);
      const seen_at = now();
      if (just !== undefined && origin === 'read') {
        if (isOldNews(just.record.last, snapshotOf(observation, just.record, seen_at)))
          return false;
      }
      const kept = await reading(() => find(id));
      const last = snapshotOf(observation, kept?.record, seen_at);
      const record = kept?.record ?? newInstance(id, origin, seen_at);
      const isWanted = origin === 'track' && record.untracked_at !== undefined;
      const isAccepted = origin === 'track' && isForeign(record);
      const isAdded = kept === undefined || isWanted;
      const isPassing = origin === 'read' || origin === 'drive';
      if (isPassing && (isUnwritable || accounts.account() === undefined)) {
        // Without an account there is no folder for a new instance. A known one keeps its folder.
        if (kept === undefined || isUnwritable) return false;
      }
      if (isAdded || isAccepted || kept.isTorn || !isOldNews(record.last, last)) {
        const next = { ...record, name: last.name, last, ...(isAccepted ? { origin } : {}) };
        try {
          await writing(() =>
            writeInstance(
              accounts.main() ?? kept?.folder ?? store.main(),
              wanted(next, isWanted),
              kept,
            ),
          );
        } catch (error) {
          isUnwritable = true;
          throw error;
        }
      }
      return isAdded;
    },

    /** Adds an ID that was never observed. Returns true if it is new here. */
    track: (id: string) =>
      writing(async () => {
        const kept = find(id);
        const isKnown = kept !== undefined && kept.record.untracked_at === undefined;
        if (isKnown && !isForeign(kept.record)) return false;
        const record = kept?.record ?? newInstance(id, 'track', now());
        await writeInstance(store.main(), wanted({ ...record, origin: 'track' }, true), kept);
        return !isKnown;
      }),

    /** Archives an instance with everything known about it. */
    untrack: (id: string) =>
      writing(async () => {
        const kept = find(id);
        if (kept === undefined || kept.record.untracked_at !== undefined) return;
        await writeInstance(kept.folder, { ...kept.record, untracked_at: now() }, kept);
      }),
  };
}

function wanted({ untracked_at, ...record }: InstanceRecord, isWanted: boolean): InstanceRecord {
  return untracked_at === undefined || isWanted ? record : { ...record, untracked_at };
}

/** Neither rented nor tracked here: a command read it, or a drive named it. */
function isForeign({ origin }: InstanceRecord): boolean {
  return origin === 'read' || origin === 'drive';
}
