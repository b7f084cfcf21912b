import { randomUUID } from 'node:crypto';
import { type Machine, nameIn, RentingService } from '../support/renting-service.ts';
import { ok, startService } from '../support/service.ts';

/** A service with a memory: what it was asked to rent, and what therefore exists and bills. */
export interface Books {
  readonly url: string;
  /** Every machine that a request made, by id. The one to reorder is not among them. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** How many POSTs asked for a machine of this name. */
  posts(name: string): number;
  close(): Promise<void>;
}

/** A terminated machine, for `instances reorder`. */
export const SOURCE = '11111111-2222-4333-8444-555555555555';

export interface BooksOptions {
  /** Put into every response to a creation, as an echo of what was sent. */
  readonly echo?: (body: unknown) => Record<string, unknown>;
}

export async function openBooks({ echo }: BooksOptions = {}): Promise<Books> {
  const renting = new RentingService();
  renting.newId = randomUUID;
  renting.shows = (body) => ({ price_per_hour_snapshot: '189.91', ...echo?.(body) });
  const service = await startService((request) =>
    request.path === `/instances/${SOURCE}`
      ? ok({ id: SOURCE, name: 'source', status: 'TERMINATED' })
      : renting.handler(request),
  );
  return {
    url: service.url,
    machines: renting.machines,
    posts: (name) =>
      service.requests.filter(({ method, body }) => method === 'POST' && nameIn(body) === name)
        .length,
    close: service.close,
  };
}
