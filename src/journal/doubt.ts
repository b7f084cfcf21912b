import { isSameName } from '../rules/names.ts';
import type { Store } from './journal.ts';
import { machineIdOf } from './open-requests.ts';
import type { IntentRecord, MachineRecord } from './record.ts';

/** As much of a name from outside is told. */
const TOLD = 60;

/**
 * Why an id that an answer gave can't be that of the machine that was asked for: a proxy or a
 * service that mixes up its answers would have the new machine's id lost, and another's believed.
 */
export async function doubtOf(
  intent: IntentRecord,
  id: string,
  name: string | undefined,
  journal: Store,
): Promise<string | undefined> {
  if (intent.operation !== 'create' && intent.operation !== 'reorder') {
    return undefined;
  }
  if (name !== undefined && !isSameName(name, intent.name)) {
    return `belongs to a machine of another name, ${name.slice(0, TOLD)}`;
  }
  if (intent.source_id !== undefined && id.toLowerCase() === intent.source_id.toLowerCase()) {
    return 'is that of the machine that was to be ordered again';
  }
  try {
    return await doubtOfKnown(intent, id, journal);
  } catch {
    // What can't be read speaks for nothing, and the id has to be kept all the same.
    return undefined;
  }
}

async function doubtOfKnown(
  { uid, asked_at }: IntentRecord,
  id: string,
  journal: Store,
): Promise<string | undefined> {
  const kept = (await journal.find(id)) ?? (await journal.find(id.toLowerCase()));
  if (kept !== undefined && isFromElsewhere(kept.record, uid, asked_at)) {
    return 'is that of a machine that was known before';
  }
  const other = (await journal.requests()).find(
    (request) => request.intent.uid !== uid && machineIdOf(request) === id,
  );
  return other === undefined
    ? undefined
    : `is that of the machine that the request for ${other.intent.name} made`;
}

/** A list of this very moment may have found the new machine through its drive. */
function isFromElsewhere(
  { request, first_seen_at, known_at }: MachineRecord,
  uid: string,
  asked_at: string,
): boolean {
  return request === null
    ? Date.parse(first_seen_at ?? known_at) < Date.parse(asked_at)
    : request !== uid;
}
