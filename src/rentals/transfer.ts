import { join } from 'node:path';
import type { Rentals } from './contract.ts';
import { exists } from './folder.ts';
import type { Journal } from './journal.ts';
import { writeMachine } from './machines.ts';
import { isCertain, machineIdOf, machineOf, tidy } from './open-requests.ts';
import type { MachineRecord } from './record.ts';
import { importRequest, rewriteRequest } from './requests.ts';

/** The journal on its way to another computer. */
export function transfer(
  journal: Journal,
  { owner }: Pick<Rentals, 'owner'>,
): Pick<Rentals, 'export' | 'import'> {
  const { now, find, writing } = journal;
  return {
    async export() {
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
        machines: [...owned.values()],
        requests: open
          .filter(({ outcome }) => !isCertain(outcome))
          .map(({ intent, outcome }) => ({
            intent,
            ...(outcome === undefined ? {} : { outcome }),
          })),
      };
    },

    async import(exported) {
      const counts = { machines: 0, requests: 0, known: 0 };
      const main = await journal.mainOwner();
      const open = new Map(
        (await journal.requests()).map((request) => [request.intent.uid, request]),
      );
      for (const record of exported.machines) {
        const kept = await find(record.id);
        const isNews = kept === undefined || seenAt(record) > seenAt(kept.record);
        counts[isNews ? 'machines' : 'known'] += 1;
        if (isNews) {
          const next =
            kept === undefined
              ? { ...record, origin: 'import' as const }
              : mergedMachine(kept.record, record);
          await writing(() => writeMachine(kept?.owner ?? main, next, kept));
        }
        const request = record.request === null ? undefined : open.get(record.request);
        if (request !== undefined && !isCertain(request.outcome)) {
          const outcome = journal.outcome('rented', {
            id: record.id,
            reason: 'told by an import',
          });
          await writing(() => rewriteRequest(request, outcome));
          await tidy({ ...request, outcome }, journal);
        }
      }
      for (const { intent, outcome } of exported.requests) {
        const isKnown =
          open.has(intent.uid) ||
          exported.machines.some(({ request }) => request === intent.uid) ||
          (await isSettled(await journal.owners(), intent.uid));
        counts[isKnown ? 'known' : 'requests'] += 1;
        if (!isKnown) {
          await writing(() => importRequest(main, { intent, outcome }));
        }
      }
      return counts;
    },
  };
}

/** Newer knowledge of a machine, which does not undo what its user decided here. */
function mergedMachine(here: MachineRecord, there: MachineRecord): MachineRecord {
  return {
    ...here,
    name: there.name,
    request: here.request ?? there.request,
    ...(there.last === undefined ? {} : { last: there.last }),
  };
}

function seenAt({ last }: MachineRecord): string {
  return last?.seen_at ?? '';
}

async function isSettled(owners: readonly string[], uid: string): Promise<boolean> {
  const looks = await Promise.all(
    owners.map((owner) => exists(join(owner, 'settled', `${uid}.json`))),
  );
  return looks.includes(true);
}
