import { join } from 'node:path';
import { AskedElsewhere } from './asked-elsewhere.ts';
import { keptBody } from './body.ts';
import type { Intent, Journal, RentalRequest } from './contract.ts';
import { doubtOf } from './doubt.ts';
import type { Store } from './journal.ts';
import { isCertain, machineIdOf, tidy, uncertainOf } from './open-requests.ts';
import { markOf } from './process.ts';
import type { IntentRecord, OutcomeRecord } from './record.ts';
import {
  newUid,
  type OpenRequest,
  openRequests,
  rewriteRequest,
  type WrittenRequest,
  writeRequest,
} from './requests.ts';
import { accountOfKey } from './scope.ts';

/** Requests on their way: written before they are sent, and what became of them. */
export function sending(
  journal: Store,
  { strangers }: Pick<Journal, 'strangers'>,
): Pick<Journal, 'intend' | 'resolve'> {
  const { scope, pid } = journal.settings;

  function intentOf(request: RentalRequest): IntentRecord {
    const { operation, name, offer_id, source_id, max_price, body, retry_of } = request;
    const asked_at = journal.now();
    return {
      version: 1,
      uid: newUid(asked_at),
      operation,
      name,
      asked_at,
      service: scope.service,
      account: scope.account ?? null,
      key: scope.apiKey === undefined ? null : accountOfKey(scope.apiKey),
      offer_id,
      ...(source_id === undefined ? {} : { source_id }),
      ...(max_price === undefined ? {} : { max_price }),
      ...(retry_of === undefined ? {} : { retry_of }),
      ...(body === undefined
        ? { masked: false, body_hash: null }
        : keptBody(body, scope.apiKey ?? '')),
      process: markOf(pid),
    };
  }

  async function find(uid: string): Promise<OpenRequest | undefined> {
    const own = (await journal.requests()).find(({ intent }) => intent.uid === uid);
    if (own !== undefined) return own;
    for (const { folder, unknown } of await strangers()) {
      if (!unknown.some((request) => request.uid === uid)) continue;
      const open = await openRequests(join(journal.settings.folder, folder), () => undefined);
      return open.find(({ intent }) => intent.uid === uid);
    }
    return undefined;
  }

  /**
   * Of several processes that would make one request again, at most one does. Each has its own on
   * disk before it looks for the others', so that of two at least one sees the other; both may.
   */
  async function yieldToOthers(written: WrittenRequest): Promise<void> {
    const { uid, name, retry_of } = written.intent;
    if (retry_of === undefined) return;
    const others = (await journal.requests()).filter(
      ({ intent }) => intent.retry_of === retry_of && intent.uid !== uid,
    );
    const isMade = others.some((other) => machineIdOf(other) !== undefined);
    const { inFlight } = uncertainOf(others);
    // Read after them: one that was filed away in between has settled it before.
    const first = (await journal.requests()).find(({ intent }) => intent.uid === retry_of);
    const isOpen = first !== undefined && !isCertain(first.outcome);
    if (isOpen && !isMade && inFlight.length === 0) return;
    const outcome = journal.outcome('not_sent', { reason: 'it is asked for elsewhere' });
    await journal.writing(() => written.note(outcome));
    await written.close().catch(() => undefined);
    await tidy({ ...written, outcome }, journal);
    throw new AskedElsewhere(name);
  }

  return {
    async intend(request): Promise<Intent> {
      const written = await journal.writing(async () =>
        writeRequest(await journal.mainOwner(), intentOf(request)),
      );
      await yieldToOthers(written);
      let outcome: OutcomeRecord | undefined;
      return {
        uid: written.intent.uid,
        async others() {
          // The account may have been learned meanwhile, and another process writes to its folder.
          journal.forgetOwners();
          const { uid } = written.intent;
          return uncertainOf((await journal.requests()).filter(({ intent }) => intent.uid !== uid));
        },
        doubt: (id, name) => doubtOf(written.intent, id, name, journal),
        async settle(kind, details = {}) {
          const next = journal.outcome(kind, details);
          await journal.writing(() => written.note(next));
          outcome = next;
        },
        async close() {
          await written.close().catch(() => undefined);
          await tidy({ ...written, outcome }, journal);
        },
      };
    },

    async resolve(uid, kind, details = {}) {
      const request = await find(uid);
      if (request === undefined) {
        return;
      }
      if (isCertain(request.outcome)) {
        await tidy(request, journal);
        return;
      }
      const outcome = journal.outcome(kind, details);
      await journal.writing(() => rewriteRequest(request, outcome));
      await tidy({ ...request, outcome }, journal);
    },
  };
}
