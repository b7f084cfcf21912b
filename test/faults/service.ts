import { randomUUID } from 'node:crypto';
import { type Instance, nameIn, RentingService } from '../support/renting-service.ts';
import { ok, startService } from '../support/service.ts';

/** A service that records requests and billing instances. */
export interface Books {
  readonly url: string;
  /** The created instances by ID, without the source of a reorder. */
  readonly instances: ReadonlyMap<string, Instance>;
  /** Returns the number of POSTs with this name. */
  posts(name: string): number;
  /** Advances the service's clock and its Date headers. */
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

/** The ID of a terminated instance for `instances reorder`. */
export const SOURCE = '11111111-2222-4333-8444-555555555555';

export interface BooksOptions {
  /** Adds fields to each response to a create, such as the request. */
  readonly echo?: (body: unknown) => Record<string, unknown>;
}

export async function openBooks({ echo }: BooksOptions = {}): Promise<Books> {
  const renting = new RentingService();
  renting.newId = () => randomUUID();
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
