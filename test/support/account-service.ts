import { expect } from 'vitest';
import { manualClock } from './clock.ts';
import { type CliResult, createWorld, type World } from './run-cli.ts';
import type { Answer, Handler, RecordedRequest } from './service.ts';

type Fields = Record<string, unknown>;

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/**
 * A read-only service whose profile, instances, drives and history a test sets. As in the API
 * document, it finds instances only by ID and pages the history.
 */
export class AccountService {
  /** Milliseconds since 1970. Times of new entries are relative to this. */
  readonly now: number;
  balance: string | null = '10000.00';
  profile: Fields = {};
  readonly instances = new Map<string, Fields>();
  readonly drives: Fields[] = [];
  /** Transactions in the given `order`. */
  readonly history: Fields[] = [];
  order: 'newest first' | 'oldest first' | 'none' = 'newest first';
  /** Largest page size that the service returns. */
  limit = 100;
  /** Responses by path, with or without a method. They override all others. */
  readonly broken = new Map<string, Answer | 'hangUp'>();
  /** Waits until this many requests are in flight, then responds to all of them. */
  together = 1;
  readonly #waiting: (() => void)[] = [];

  constructor(now: number) {
    this.now = now;
  }

  ago(milliseconds: number): string {
    return new Date(this.now - milliseconds).toISOString();
  }

  /** Adds an instance that has run for two and a half hours, unless `fields` say otherwise. */
  instance(name: string, fields: Fields = {}): string {
    const number = String(this.instances.size + 1).padStart(12, '0');
    const id = `3f0c5d9e-1111-4222-8333-${number}`;
    this.instances.set(id, {
      id,
      name,
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      offer: { id: 'offer-1', name: 'RTX 4090' },
      paid_until: this.ago(-1855 * 1000),
      created_at: this.ago(2.5 * HOUR + 10_000),
      ...fields,
    });
    return id;
  }

  drive(name: string, fields: Fields = {}): string {
    const id = `drive-${this.drives.length + 1}`;
    this.drives.push({
      id,
      name,
      status: 'AVAILABLE',
      size_gb: 500,
      used_bytes: '0',
      price_per_hour: '6.00',
      current_instance_id: null,
      paid_until: this.ago(0),
      last_billed_at: this.ago(0),
      created_at: this.ago(2.5 * HOUR),
      updated_at: this.ago(0),
      ...fields,
    });
    return id;
  }

  transaction(type: string, amount: string, ago: number, fields: Fields = {}): void {
    this.history.push({
      id: `transaction-${this.history.length + 1}`,
      type,
      status: 'COMPLETED',
      amount,
      direction: type === 'USAGE_CHARGE' ? 'OUTGOING' : 'INCOMING',
      description: '',
      created_at: this.ago(ago),
      ...fields,
    });
  }

  readonly handler: Handler = async (request) => {
    const all = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#waiting.length >= this.together) {
      // Lets later requests through at once.
      this.together = 1;
      for (const answer of this.#waiting.splice(0)) answer();
    }
    await all;
    return this.#answer(request);
  };

  #answer({ method, path }: RecordedRequest): Answer | 'hangUp' {
    const url = new URL(path, 'http://service');
    for (const [beginning, answer] of this.broken) {
      if (url.pathname.startsWith(beginning)) return answer;
      if (`${method} ${url.pathname}`.startsWith(beginning)) return answer;
    }
    const data = (value: unknown, meta?: unknown): Answer => ({
      status: 200,
      body: { status: 'success', code: 200, data: value, ...(meta === undefined ? {} : { meta }) },
    });
    if (method === 'GET' && url.pathname === '/users/me') {
      return data({ id: 'user-1', email: 'a@example.com', balance: this.balance, ...this.profile });
    }
    if (method === 'GET' && url.pathname === '/storage/drives') return data(this.drives);
    if (method === 'GET' && url.pathname === '/billing/transactions') {
      const page = Number(url.searchParams.get('page'));
      const limit = Math.min(this.limit, Number(url.searchParams.get('limit')));
      const rows = this.#ordered();
      const total = rows.length;
      const meta = { total, page, limit, total_pages: Math.ceil(total / limit) };
      return data(rows.slice((page - 1) * limit, page * limit), meta);
    }
    const instance = this.instances.get(url.pathname.replace('/instances/', ''));
    if (method === 'GET' && instance !== undefined) return data(instance);
    return { status: 404, body: { statusCode: 404, message: 'not found', error: 'Not Found' } };
  }

  #ordered(): Fields[] {
    // Parses each time only once, since some histories are long.
    const rows = this.history
      .map((row) => ({ row, time: Date.parse(String(row.created_at)) }))
      .sort((a, b) => b.time - a.time)
      .map(({ row }) => row);
    if (this.order === 'oldest first') return rows.reverse();
    // Sorts by the last digits of the ID, so that no page looks sorted.
    const digits = ({ id }: Fields) => String(id).split('').reverse().join('');
    return this.order === 'none' ? rows.sort((a, b) => digits(a).localeCompare(digits(b))) : rows;
  }
}

export interface AccountWorld {
  readonly world: World;
  readonly service: AccountService;
  /** Tracks instances, so that this computer knows them. */
  known(...ids: string[]): Promise<void>;
  /** Runs `status --json`, and parses its result. */
  status(...flags: string[]): Promise<CliResult & { readonly doc: ReturnType<typeof JSON.parse> }>;
}

/** Creates a world with an account. The service's clock may be ahead of the computer's. */
export async function createAccountWorld(ahead = 0): Promise<AccountWorld> {
  const clock = manualClock();
  const service = new AccountService(clock.now() + ahead);
  const headers = ahead === 0 ? {} : { date: new Date(service.now).toUTCString() };
  const world = await createWorld({
    clock,
    async handler(request) {
      const answer = await service.handler(request);
      return answer === 'hangUp' ? answer : { headers, ...answer };
    },
  });
  return {
    world,
    service,
    async known(...ids) {
      const { code, stderr } = await world.cli(['instances', 'track', ...ids]);
      expect(code, stderr).toBe(0);
    },
    async status(...flags) {
      const outcome = await world.cli(['status', '--json', ...flags]);
      return { ...outcome, doc: outcome.stdout === '' ? undefined : JSON.parse(outcome.stdout) };
    },
  };
}
