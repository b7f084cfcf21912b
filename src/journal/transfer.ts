import { join } from 'node:path';
import { isTerminated } from '../rules/statuses.ts';
import type { Journal } from './contract.ts';
import { exists } from './folder.ts';
import type { Store } from './journal.ts';
import { writeMachine } from './machines.ts';
import { isCertain, machineIdOf, machineOf } from './open-requests.ts';
import type { MachineRecord, OutcomeRecord, Snapshot } from './record.ts';
import { importRequest } from './requests.ts';
import { accountOfKey } from './scope.ts';

/**
 * The journal on its way to another computer. What a file says was seen by somebody else, perhaps
 * long ago and under another clock, and may have been changed on its way: it adds, and never hides
 * or settles anything here. Only a reading does.
 */
export function transfer(
  journal: Store,
  { owner }: Pick<Journal, 'owner'>,
): Pick<Journal, 'export' | 'import'> {
  const { now, find, writing } = journal;
  return {
    async export() {
      const { apiKey } = journal.settings.scope;
      const kept = await journal.machines(['machines', 'archive']);
      const open = await journal.requests();
      const owned = new Map(kept.map(({ record }) => [record.id, record]));
      for (const request of open) {
        const id = machineIdOf(request);
        if (id !== undefined && !owned.has(id)) owned.set(id, machineOf(request, id));
      }
      return {
        kind: 'gpucloud-journal',
        version: 1,
        exported_at: now(),
        ...(await owner()),
        key: apiKey === undefined ? null : accountOfKey(apiKey),
        machines: [...owned.values()],
        requests: open
          .filter(({ outcome, isSpoilt }) => !isCertain(outcome) && isSpoilt !== true)
          .map(({ intent, outcome }) => ({
            intent,
            ...(outcome === undefined ? {} : { outcome }),
          })),
      };
    },

    async import({ machines, requests }) {
      const counts = { machines: 0, requests: 0, known: 0 };
      const main = await journal.mainOwner();
      for (const record of machines) {
        const kept = await find(record.id);
        const next = kept === undefined ? newcomer(record) : merged(kept.record, record);
        counts[next === undefined ? 'known' : 'machines'] += 1;
        if (next !== undefined) {
          await writing(() => writeMachine(kept?.owner ?? main, next, kept));
        }
      }
      const open = new Set((await journal.requests()).map(({ intent }) => intent.uid));
      for (const { intent, outcome } of requests) {
        const isKnown = open.has(intent.uid) || isSettled(await journal.owners(), intent.uid);
        counts[isKnown ? 'known' : 'requests'] += 1;
        if (!isKnown) {
          await writing(() => importRequest(main, { intent, outcome: hearsay(outcome) }));
        }
      }
      return counts;
    },
  };

  /** Whether its user there wants it in the list says nothing of the user here. */
  function newcomer({ id, name, known_at, request, last }: MachineRecord): MachineRecord {
    const { service, account = null } = journal.settings.scope;
    return {
      version: 1,
      id,
      name,
      origin: 'import',
      known_at,
      first_seen_at: now(),
      service,
      account,
      request,
      ...(last === undefined ? {} : { last: bounded(last, id) }),
    };
  }

  /** Newer knowledge of a machine, undefined where there is none; what was decided here stays. */
  function merged(here: MachineRecord, there: MachineRecord): MachineRecord | undefined {
    const request = here.request ?? there.request;
    const linked = request === here.request ? undefined : { ...here, request };
    if (there.last === undefined) return linked;
    const last = bounded(there.last, here.id);
    // That a machine is over takes it out of the list, so that it has to be read here.
    const hides = isTerminated(last.status) && !isTerminated(here.last?.status);
    if (hides || !isNewer(last, here.last)) return linked;
    // A machine keeps its name at the service, and by it commands find what they end.
    const name = here.name === here.id ? there.name : here.name;
    return { ...here, request, name, last: { ...last, name } };
  }

  /** A clock that is ahead makes nobody know better for longer. */
  function bounded(last: Snapshot, id: string): Snapshot {
    const isPast = Date.parse(last.seen_at) <= journal.settings.clock.now();
    return { ...last, id, seen_at: isPast ? last.seen_at : now() };
  }

  /** Ids that others say a machine has are worth a reading, and prove nothing. */
  function hearsay(outcome: OutcomeRecord | undefined): OutcomeRecord | undefined {
    if (outcome === undefined) return undefined;
    const ids = [...(outcome.id === undefined ? [] : [outcome.id]), ...(outcome.candidates ?? [])];
    return journal.outcome('unknown', { candidates: ids.slice(0, 3), reason: 'imported' });
  }
}

function isNewer(there: Snapshot, here: Snapshot | undefined): boolean {
  return here === undefined || Date.parse(there.seen_at) > Date.parse(here.seen_at);
}

function isSettled(owners: readonly string[], uid: string): boolean {
  return owners.some((owner) => exists(join(owner, 'settled', `${uid}.json`)));
}
