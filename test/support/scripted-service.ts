import { nameIn } from './renting-service.ts';
import { type Answer, no, ok, type RecordedRequest } from './service.ts';

/**
 * Every outcome of a create. With `lost`, the instance is rented but the response does not arrive.
 */
export const OUTCOMES = [
  ...['400', '404', '409', '422', '429', '401'],
  ...['500', '503', 'hangUp', 'lost', 'lost 500'],
  ...['ERROR', 'ERROR kept', 'ACTIVE', 'slow', 'TERMINATED'],
] as const;
export type ScriptedOutcome = (typeof OUTCOMES)[number];

export const isDoubt = (outcome: ScriptedOutcome) => /^(?:500|503|hangUp|lost)/.test(outcome);

interface Made {
  readonly name: string;
  status: string;
  readonly outcome: ScriptedOutcome;
  reads: number;
}

/** Number of instances made in all sequences, so that no ID is reused. */
let count = 0;

/** A service that responds to the next creates by script, and rents at every later create. */
export class ScriptedService {
  readonly made = new Map<string, Made>();
  /** Rules that the program broke. */
  readonly faults: string[] = [];
  readonly used: { readonly name: string; readonly outcome: ScriptedOutcome }[] = [];
  /** Whether the process was killed. A killed process receives no response. */
  isProcessDead = false;

  constructor(
    readonly outcomes: readonly ScriptedOutcome[],
    /** Runs before each request is handled, and before its response is sent. */
    readonly onPoint: (isRequest: boolean) => void | Promise<void>,
    /** Whether the journal has an open request with this name and offer. */
    readonly isOnDisk: (name: string, offer: string) => Promise<boolean>,
  ) {}

  /** Returns the instances that may bill. */
  living(): { readonly id: string; readonly name: string }[] {
    return [...this.made].flatMap(([id, { name, status }]) =>
      /^TERMINAT/.test(status) ? [] : { id, name },
    );
  }

  /** Returns the names with more than one living instance. */
  doubled(): string[] {
    const names = this.living().map(({ name }) => name);
    return names.filter((name, at) => names.indexOf(name) !== at);
  }

  readonly handler = async (request: RecordedRequest): Promise<Answer | 'hangUp'> => {
    if (this.isProcessDead) return 'hangUp';
    await this.onPoint(true);
    if (this.isProcessDead) return 'hangUp';
    const answer = await this.answer(request);
    await this.onPoint(false);
    return this.isProcessDead ? 'hangUp' : answer;
  };

  private async answer({ method, path, body }: RecordedRequest): Promise<Answer | 'hangUp'> {
    if (method === 'POST' && path === '/instances') return this.create(body);
    if (path === '/users/me') return ok({ id: 'user-1', balance: '1000.00' });
    if (path === '/storage/drives') return ok([]);
    const [, id = '', verb] = /^\/instances\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const found = this.made.get(id);
    if (found === undefined) return no(404, 'Not found');
    if (verb === 'events') return ok([]);
    if (verb === 'terminate') {
      if (found.outcome === 'ERROR kept') return no(400, 'Not now');
      found.status = 'TERMINATING';
      return ok({ status: 'TERMINATING' });
    }
    found.reads += 1;
    if (found.status === 'PROVISIONING' && found.reads > (found.outcome === 'slow' ? 3 : 0)) {
      const [first] = found.outcome.split(' ');
      found.status = found.outcome === 'slow' ? 'ACTIVE' : (first ?? '');
    }
    return ok({ id, name: found.name, status: found.status });
  }

  private async create(body: unknown): Promise<Answer | 'hangUp'> {
    const outcome = this.outcomes[this.used.length] ?? 'ACTIVE';
    const name = nameIn(body);
    const { offer_id } = body as { offer_id: string };
    const before = this.used.filter((one) => one.name === name);
    if (before.some((one) => isDoubt(one.outcome))) this.faults.push('a request after a doubt');
    if (this.living().some((one) => one.name === name)) {
      this.faults.push('a request while an instance lives');
    }
    this.used.push({ name, outcome });
    // Check the disk now, since a killed process would leave it like this.
    if (!(await this.isOnDisk(name, offer_id))) this.faults.push('a request that is not on disk');
    if (/^\d+$/.test(outcome)) return no(Number(outcome), 'no');
    if (outcome === 'hangUp') return 'hangUp';
    count += 1;
    const id = `22222222-1111-4222-8333-${String(count).padStart(12, '0')}`;
    const isLost = outcome.startsWith('lost');
    const status = isLost ? 'ACTIVE' : 'PROVISIONING';
    this.made.set(id, { name, status, outcome, reads: 0 });
    if (outcome === 'lost') return 'hangUp';
    if (outcome === 'lost 500') return no(500, 'no');
    return ok({ id, name, status }, 201);
  }
}
