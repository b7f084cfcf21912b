import type { Journal, KnownInstance, Sighting } from './contract.ts';
import type { Store } from './journal.ts';
import { sweep } from './leftovers.ts';
import { type KeptMachine, writeMachine } from './machines.ts';
import { machineIdOf, machineOf, tidy, uncertainOf } from './open-requests.ts';
import type { MachineRecord, Origin, Snapshot } from './record.ts';
import type { RequestRecord } from './request-file.ts';
import { settledRequests } from './requests.ts';

/** Milliseconds after which a reading is written down although it showed nothing new. */
const FRESH = 10 * 60_000;

/** Machines as they were last seen, and what was asked for beside them. */
export function known(
  journal: Store,
): Pick<Journal, 'read' | 'instance' | 'unknown' | 'made' | 'observe' | 'track' | 'untrack'> {
  const { now, find, mainOwner, writing } = journal;
  let isUnwritable = false;
  /** What the last look found, of a command that now reads these very machines from the service. */
  const looked = new Map<string, KeptMachine>();

  /** The answer of a start or stop tells the status alone; the rest is remembered. */
  function snapshotOf(sighting: Sighting, kept: KeptMachine | undefined): Snapshot {
    const before = kept?.record.last;
    return {
      id: sighting.id,
      name: cut(sighting.name) ?? before?.name ?? kept?.record.name ?? sighting.id,
      status: cut(sighting.status) ?? '',
      price_per_hour: cut(sighting.price_per_hour) ?? before?.price_per_hour ?? null,
      offer_name: cut(sighting.offer_name) ?? before?.offer_name ?? null,
      created_at: cut(sighting.created_at) ?? before?.created_at ?? null,
      seen_at: now(),
    };
  }

  function newMachine(last: Snapshot, origin: Origin): MachineRecord {
    return bareMachine(last.id, last.name, origin, last.created_at ?? now());
  }

  function bareMachine(id: string, name: string, origin: Origin, known_at: string): MachineRecord {
    const { service, account = null } = journal.settings.scope;
    const first_seen_at = now();
    return {
      version: 1,
      id,
      name,
      origin,
      known_at,
      first_seen_at,
      service,
      account,
      request: null,
    };
  }

  return {
    async read({ archived = false } = {}) {
      // The requests first: whoever tidies one up meanwhile has written its machine before.
      const open = await journal.requests();
      const kept = await journal.machines(archived ? ['machines', 'archive'] : ['machines']);
      const known = new Map(kept.map((machine) => [machine.record.id, knownMachine(machine)]));
      looked.clear();
      for (const machine of kept) looked.set(machine.record.id, machine);
      for (const request of open) {
        const id = machineIdOf(request);
        if (id !== undefined) {
          const elsewhere = known.has(id) || archived ? undefined : await find(id);
          if (elsewhere === undefined) {
            const record = machineOf(request, id);
            const bare = knownMachine({ path: '', owner: '', place: 'machines', record });
            known.set(id, { ...bare, ...known.get(id), request: request.intent.uid });
          }
        }
        await tidy(request, journal);
      }
      if (archived) {
        // Reading all of it is rare, and takes its time anyway.
        for (const owner of await journal.owners()) {
          await sweep(owner, journal.settings.clock.now());
        }
      }
      return { instances: [...known.values()], ...uncertainOf(open) };
    },

    async instance(id) {
      const kept = await find(id);
      looked.clear();
      if (kept !== undefined) looked.set(id, kept);
      return kept === undefined || kept.isSpoilt === true ? undefined : knownMachine(kept);
    },

    async unknown() {
      return uncertainOf(await journal.requests()).unknown;
    },

    async made(operation) {
      const ids = new Set<string>();
      const take = ({ intent, outcome }: RequestRecord) => {
        const isIts = intent.operation === operation && outcome?.kind === 'rented';
        if (isIts && outcome.id !== undefined) ids.add(outcome.id);
      };
      for (const request of await journal.requests()) take(request);
      await journal.reading(async () => {
        for (const owner of await journal.owners()) {
          for await (const record of settledRequests(owner)) take(record);
        }
      });
      return ids;
    },

    async observe(sighting, origin, request) {
      const justLooked = looked.get(sighting.id);
      looked.delete(sighting.id);
      if (justLooked !== undefined && origin === 'read' && request === undefined) {
        const { last: before } = justLooked.record;
        if (isOldNews(before, snapshotOf(sighting, justLooked))) return false;
      }
      const kept = await find(sighting.id);
      const before = kept?.record.last;
      const last = snapshotOf(sighting, kept);
      const { untracked_at, ...record } = kept?.record ?? newMachine(last, origin);
      const wanted = origin === 'track' && untracked_at !== undefined;
      if (kept === undefined || wanted || !isOldNews(before, last)) {
        const next: MachineRecord = {
          ...record,
          name: last.name,
          last,
          request: request ?? record.request,
          ...(untracked_at === undefined || wanted ? {} : { untracked_at }),
        };
        const isPassing = origin === 'read' || origin === 'drive';
        if (isPassing && isUnwritable) return false;
        try {
          await writing(async () => writeMachine(kept?.owner ?? (await mainOwner()), next, kept));
        } catch (error) {
          isUnwritable = true;
          throw error;
        }
      }
      return kept === undefined || wanted;
    },

    async track(id) {
      const kept = await find(id);
      if (kept !== undefined && kept.record.untracked_at === undefined) {
        return false;
      }
      const { untracked_at: _was, ...record } = kept?.record ?? bareMachine(id, id, 'track', now());
      await writing(async () => writeMachine(kept?.owner ?? (await mainOwner()), record, kept));
      return true;
    },

    async untrack(id) {
      const kept = await find(id);
      if (kept !== undefined && kept.record.untracked_at === undefined) {
        const record = { ...kept.record, untracked_at: now() };
        await writing(() => writeMachine(kept.owner, record, kept));
      }
    },
  };
}

/** A text of the service may be of any length, and a file of a machine may not. */
function cut(text: string | null | undefined): string | undefined {
  return text?.slice(0, 1000);
}

function knownMachine({ record, place }: KeptMachine): KnownInstance {
  return {
    id: record.id,
    name: record.name,
    origin: record.origin,
    last: record.last,
    asked_at: record.known_at,
    request: record.request,
    archived: place === 'archive',
    untracked: record.untracked_at !== undefined,
  };
}

/** Whether a sighting tells nothing new, and the last one is not old either. */
function isOldNews(before: Snapshot | undefined, after: Snapshot): boolean {
  return (
    before !== undefined &&
    JSON.stringify({ ...before, seen_at: '' }) === JSON.stringify({ ...after, seen_at: '' }) &&
    Date.parse(after.seen_at) - Date.parse(before.seen_at) < FRESH
  );
}
