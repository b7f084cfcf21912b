import { randomUUID } from 'node:crypto';
import { type Instance, nameIn, RentingService } from '../support/renting-service.ts';
import { ok, startService } from '../support/service.ts';

/** A service that remembers requests, and the instances that exist and bill. */
export interface Books {
  readonly url: string;
  /** The instances that requests created, by ID, without the one to reorder. */
  readonly instances: ReadonlyMap<string, Instance>;
  /** Returns how many POSTs asked for this name. */
  posts(name: string): number;
  /** Moves the service's clock, and its Date headers. */
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

/** A terminated instance, for `instances reorder`. */
export const SOURCE = '11111111-2222-4333-8444-555555555555';

export interface BooksOptions {
  /** Added to every response to a create, as an echo of the request. */
  readonly echo?: (body: unknown) => Record<string, unknown>;
}

export async function openBooks({ echo }: BooksOptions = {}): Promise<Books> {
  const renting = new RentingService();
  renting.newId = randomUUID;
  renting.shows = (body) => ({ price_per_hour_snapshot: '189.91', ...echo?.(body) });
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead };
  renting.clock = clock;
  const service = await startService(
    (request) =>
      request.path === `/instances/${SOURCE}`
        ? ok({ id: SOURCE, name: 'source', status: 'TERMINATED' })
        : renting.handler(request),
    clock,
  );
  return {
    url: service.url,
    instances: renting.instances,
    posts: (name) =>
      service.requests.filter(({ method, body }) => method === 'POST' && nameIn(body) === name)
        .length,
    advance(milliseconds) {
      ahead += milliseconds;
    },
    close: service.close,
  };
}
