import type { UnknownRequest } from './contract.ts';
import type { Store } from './journal.ts';
import { findMachineRecord, writeMachine } from './machines.ts';
import type { MachineRecord, OutcomeRecord } from './record.ts';
import { fileAway, type OpenRequest, rewriteRequest } from './requests.ts';

/** Whether a request needs nobody's attention any more. */
export function isCertain(outcome: OutcomeRecord | undefined): outcome is OutcomeRecord {
  return outcome !== undefined && outcome.kind !== 'unknown';
}

/** The id of the machine that a request made; undefined for one that made none, or another thing. */
export function machineIdOf({ intent, outcome }: OpenRequest): string | undefined {
  const isMachine = intent.operation === 'create' || intent.operation === 'reorder';
  return isMachine && outcome?.kind === 'rented' ? outcome.id : undefined;
}

/** Parts those of lost outcome from those whose process still waits for its answer. */
export function uncertainOf(open: readonly OpenRequest[]): {
  unknown: UnknownRequest[];
  inFlight: UnknownRequest[];
} {
  const parts = { unknown: [] as UnknownRequest[], inFlight: [] as UnknownRequest[] };
  for (const request of open) {
    if (isCertain(request.outcome)) continue;
    parts[request.isInFlight === true ? 'inFlight' : 'unknown'].push(unknownRental(request));
  }
  return parts;
}

/**
 * Moves a settled request out of `open/`, the machine that it made written down before. Whoever
 * finds one does it, since its own process may have been killed on the way.
 */
export async function tidy(request: OpenRequest, journal: Store): Promise<void> {
  const { intent, outcome, owner } = request;
  if (!isCertain(outcome)) {
    return;
  }
  try {
    const id = machineIdOf(request);
    if (id !== undefined) {
      await settleFirst(request, id, journal);
      const kept = await findMachineRecord(await journal.owners(), id);
      if (kept === undefined || kept.isSpoilt === true) {
        await writeMachine(kept?.owner ?? owner, machineOf(request, id), kept);
      } else if (kept.record.request !== intent.uid) {
        await writeMachine(kept.owner, { ...kept.record, request: intent.uid }, kept);
      }
    }
    await fileAway(request);
  } catch {
    // It stays where it is and is read from there; a later command tries again.
  }
}

/**
 * A request that was made again was accepted, which settles the one before it. That is on disk
 * before the later one is filed away, so that nobody finds the first alone and asks once more.
 */
async function settleFirst({ intent }: OpenRequest, id: string, journal: Store): Promise<void> {
  if (intent.retry_of === undefined) return;
  const first = (await journal.requests()).find((one) => one.intent.uid === intent.retry_of);
  if (first === undefined || isCertain(first.outcome)) return;
  // An import may say anything; of another name, or of a reorder, nothing follows.
  const isSame = intent.name === first.intent.name;
  const isCreate = intent.operation === 'create' && first.intent.operation === 'create';
  if (!isSame || !isCreate) return;
  const reason = `the name was accepted again, for ${id}`;
  const outcome = journal.outcome('replaced', { reason });
  await rewriteRequest(first, outcome);
  await tidy({ ...first, outcome }, journal);
}

/** What a request alone tells of the machine that it made. */
export function machineOf({ intent, isSpoilt }: OpenRequest, id: string): MachineRecord {
  const { operation, name, asked_at, uid, service, account } = intent;
  return {
    version: 1,
    id,
    name,
    origin: operation === 'reorder' ? 'reorder' : 'create',
    known_at: asked_at,
    first_seen_at: asked_at,
    ...(isSpoilt === true ? {} : { service, account }),
    request: uid,
  };
}

function unknownRental({ intent, outcome, isSpoilt }: OpenRequest): UnknownRequest {
  const { uid, name, asked_at, offer_id, operation, source_id, max_price, body, masked } = intent;
  return {
    uid,
    name,
    asked_at,
    offer_id,
    operation,
    source_id,
    max_price,
    body,
    masked,
    candidates: outcome?.candidates ?? [],
    ...(isSpoilt === true ? { isSpoilt } : {}),
  };
}
