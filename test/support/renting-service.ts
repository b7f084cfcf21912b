import { type Answer, type Handler, no, ok, type RecordedRequest } from './service.ts';

/** ID of the next instance, unless the test sets another ID. */
export const NEW = '3f0c5d9e-1111-4222-8333-444455557777';

export interface Instance {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly created_at?: string;
  readonly terminated_at?: string;
  readonly price_per_hour_snapshot?: string;
  readonly offer?: { readonly id: string; readonly name: string };
  readonly base_image?: { readonly id: string };
}

/** Returns the name that a create or a reorder requests. */
export function nameIn(body: unknown): string {
  const { instance_name, new_name } = body as { instance_name?: string; new_name?: string };
  return instance_name ?? new_name ?? '';
}

/** A service that stores instances and drives. A test can set its next response to a POST. */
export class RentingService {
  readonly instances = new Map<string, Instance>();
  drives: {
    id: string;
    name?: string;
    status?: string;
    current_instance_id: string | null;
  }[] = [];
  /** Responses to the next POSTs, in order; later POSTs rent. */
  posts: ((request: RecordedRequest) => Answer | 'hangUp' | Promise<Answer | 'hangUp'>)[] = [];

  /** Responses to the next terminate requests, in order; later requests terminate. */
  terminations: ((id: string) => Answer | 'hangUp' | Promise<Answer | 'hangUp'>)[] = [];

  /** The clock of the service. */
  clock = { now: () => Date.parse('2026-01-15T12:00:01.000Z') };

  newId: (name?: string) => string = () => NEW;

  /** Additional fields in the response to a create. */
  shows: (body: unknown) => object = () => ({});

  /** The account ID in the profile. */
  me = 'user-1';
  balance: string | undefined;
  sshKeys: { id: string; name: string; is_default?: boolean; public_key?: string }[] = [];

  /** The log of every instance. */
  events: () => Answer = () => whole([]);
  transactions: object[] = [];

  /** Runs before the response to each read of an instance. */
  onRead: ((id: string) => Promise<void>) | undefined;

  /** Paths that return 500. */
  readonly failing = new Set<string>();
  /** Paths that return 403. */
  readonly forbidden = new Set<string>();

  readonly handler: Handler = (request) => {
    const { method, path, body } = request;
    if (this.failing.has(path)) return no(500, 'Internal server error');
    if (this.forbidden.has(path)) return no(403, 'Forbidden');
    if (method === 'POST' && /^\/instances(\/[^/]+\/reorder)?$/.test(path)) {
      const post = this.posts.shift();
      if (post !== undefined) return post(request);
      return ok({ ...this.rent(this.newId(nameIn(body)), nameIn(body)), ...this.shows(body) }, 201);
    }
    const [, terminated] = /^\/instances\/([^/]+)\/terminate$/.exec(path) ?? [];
    if (method === 'POST' && terminated !== undefined) {
      return (this.terminations.shift() ?? ((id) => this.terminate(id)))(terminated);
    }
    if (/\/events(\?|$)/.test(path)) return this.events();
    if (path.startsWith('/billing/transactions')) return whole(this.transactions);
    if (path === '/storage/drives') return ok(this.drives);
    if (path === '/ssh-keys') return ok(this.sshKeys);
    if (path === '/users/me') return ok({ id: this.me, balance: this.balance });
    const id = path.split('/')[2] ?? '';
    const instance = this.instances.get(id);
    const answer = instance === undefined ? no(404, 'Instance not found') : ok(instance);
    return this.onRead === undefined ? answer : this.onRead(id).then(() => answer);
  };

  terminate(id: string): Answer {
    const instance = this.instances.get(id);
    if (instance === undefined) return no(404, 'Instance not found');
    if (/^TERMINAT/.test(instance.status)) return no(400, `Instance is ${instance.status}`);
    this.instances.set(id, { ...instance, status: 'TERMINATING' });
    return ok({ status: 'TERMINATING' });
  }

  rent(id: string, name: string, more: Partial<Instance> = {}): Instance {
    const instance = {
      id,
      name,
      status: 'PROVISIONING',
      created_at: new Date(this.clock.now()).toISOString(),
      ...more,
    };
    this.instances.set(id, instance);
    return instance;
  }
}

/** Returns a list on one page. */
export function whole(rows: readonly object[]): Answer {
  return ok(rows, 200, { total: rows.length, page: 1, limit: 100, total_pages: 1 });
}
