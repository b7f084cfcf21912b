import { join } from 'node:path';
import { keptBody } from './body.ts';
import type { Intent, RentalRequest, Rentals } from './contract.ts';
import { doubtOf } from './doubt.ts';
import type { Journal } from './journal.ts';
import { isCertain, tidy } from './open-requests.ts';
import { markOf } from './process.ts';
import type { IntentRecord, OutcomeRecord } from './record.ts';
import {
  newUid,
  type OpenRequest,
  openRequests,
  rewriteRequest,
  writeRequest,
} from './requests.ts';
import { accountOfKey } from './scope.ts';

/** Requests on their way: written before they are sent, and what became of them. */
export function sending(
  journal: Journal,
  { strangers }: Pick<Rentals, 'strangers'>,
): Pick<Rentals, 'intend' | 'resolve'> {
  const { scope, pid } = journal.settings;

  function intentOf(request: RentalRequest): IntentRecord {
    const { operation, name, offer_id, source_id, body, retry_of } = request;
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

  return {
    async intend(request): Promise<Intent> {
      const written = await journal.writing(async () =>
        writeRequest(await journal.mainOwner(), intentOf(request)),
      );
      let outcome: OutcomeRecord | undefined;
      return {
        uid: written.intent.uid,
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
