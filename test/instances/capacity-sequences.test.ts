import { afterAll, beforeAll, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { fc, runs } from '../support/random.ts';
import { createWorld, journalOf, TEST_KEY, type World } from '../support/run-cli.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { type Answer, no, ok, type RecordedRequest } from '../support/service.ts';

const OFFERS = [1, 2, 3].map((n) => `11111111-1111-4222-8333-44445555000${n}`);
const CREATE = ['instances', 'create', 'trainer', ...HARDWARE.slice(2, 4), '--json'];
const ARGV = [...CREATE, ...OFFERS.flatMap((offer) => ['--offer', offer]), '--retry-for', '30m'];

/** Every outcome of a create. `lost` ones rent, and their response does not arrive. */
const OUTCOMES = [
  ...['400', '404', '409', '422', '429', '401'],
  ...['500', '503', 'hangUp', 'lost', 'lost 500'],
  ...['ERROR', 'ERROR kept', 'ACTIVE', 'slow', 'TERMINATED'],
] as const;
type Outcome = (typeof OUTCOMES)[number];

const isDoubt = (outcome: Outcome | undefined) => /^(?:500|503|hangUp|lost)/.test(outcome ?? '');

interface Made {
  status: string;
  readonly outcome: Outcome;
  reads: number;
}

/** Of instances, in all sequences: an ID is never used again. */
let count = 0;

/** What the service has, and how it has been asked. */
class Script {
  readonly made = new Map<string, Made>();
  readonly faults: string[] = [];
  readonly used: Outcome[] = [];
  requests = 0;

  constructor(
    readonly outcomes: readonly Outcome[],
    readonly onRequest: (request: number) => void,
    readonly isOnDisk: (offer: string) => Promise<boolean>,
  ) {}

  living(): string[] {
    return [...this.made].flatMap(([id, { status }]) => (/^TERMINAT/.test(status) ? [] : id));
  }

  async answer({ method, path, body }: RecordedRequest): Promise<Answer | 'hangUp'> {
    this.requests += 1;
    this.onRequest(this.requests);
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
    return ok({ id, name: 'trainer', status: found.status });
  }

  async create(body: unknown): Promise<Answer | 'hangUp'> {
    const outcome = this.outcomes[this.used.length] ?? 'ACTIVE';
    if (this.used.some(isDoubt)) this.faults.push('a request after a doubt');
    if (this.living().length > 0) this.faults.push('a request while an instance lives');
    const { offer_id } = body as { offer_id: string };
    // A process that is killed now leaves this behind.
    if (!(await this.isOnDisk(offer_id))) this.faults.push('a request that is not on disk');
    this.used.push(outcome);
    if (/^\d+$/.test(outcome)) return no(Number(outcome), 'no');
    if (outcome === 'hangUp') return 'hangUp';
    count += 1;
    const id = `22222222-1111-4222-8333-${String(count).padStart(12, '0')}`;
    const isLost = outcome.startsWith('lost');
    const status = isLost ? 'ACTIVE' : 'PROVISIONING';
    this.made.set(id, { status, outcome, reads: 0 });
    if (outcome === 'lost') return 'hangUp';
    if (outcome === 'lost 500') return no(500, 'no');
    return ok({ id, name: 'trainer', status }, 201);
  }
}

let world: World;
let script: Script;
beforeAll(async () => {
  world = await createWorld({ handler: (request) => script.answer(request) });
});
afterAll(() => world.close());

const scope = () => ({ service: world.service.url, account: 'user-1', apiKey: TEST_KEY });

/** Frees the name for the next sequence. */
async function forget(): Promise<void> {
  const { stdout } = await world.cli(['instances', 'list', '--all', '--json']);
  const ids = JSON.parse(stdout).map(({ id, uid }: { id: string; uid: string }) => id ?? uid);
  if (ids.length > 0) await world.cli(['instances', 'untrack', ...ids, '--yes']);
}

const sequence = fc.record({
  outcomes: fc.array(fc.constantFrom(...OUTCOMES), { minLength: 1, maxLength: 8 }),
  first: fc.option(fc.integer({ min: 1, max: 25 }), { nil: undefined }),
  second: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
});

test('never leaves two living instances, nor one unknown to list', {
  timeout: 600_000,
}, async () => {
  const seen = { codes: new Set<number>(), interrupted: 0 };
  await fc.assert(
    fc.asyncProperty(sequence, async ({ outcomes, first, second }) => {
      const interrupts = [new AbortController(), new AbortController()] as const;
      const interrupted = new CliError('interrupted', 'Interrupted.');
      const onRequest = (request: number) => {
        if (first === undefined) return;
        if (request === first) interrupts[0].abort(interrupted);
        if (second !== undefined && request === first + second - 1)
          interrupts[1].abort(interrupted);
      };
      script = new Script(outcomes, onRequest, async (offer) =>
        (await journalOf(world, scope()).requests()).some(
          ({ name, offer_id }) => name === 'trainer' && offer_id === offer,
        ),
      );
      const { code, stdout } = await world.cli(ARGV, {
        interrupts: { first: interrupts[0].signal, second: interrupts[1].signal },
      });
      seen.codes.add(code);
      expect(script.faults).toEqual([]);
      const living = script.living();
      expect(living.length).toBeLessThanOrEqual(1);
      if (code === 0) expect(JSON.parse(stdout).id).toBe(living[0]);
      if (script.used.some(isDoubt)) expect([7, 130]).toContain(code);
      if (interrupts[0].signal.aborted) seen.interrupted += 1;

      const { stdout: listed } = await world.cli(['instances', 'list', '--json']);
      const rows: { id: string | null; name: string; status: string }[] = JSON.parse(listed);
      const isKnown = (id: string) =>
        rows.some((row) => row.id === id || (row.status === 'UNKNOWN' && row.name === 'trainer'));
      // The list has read them: one may have ended by now.
      expect(script.living().filter((id) => !isKnown(id))).toEqual([]);
      await forget();
    }),
    { numRuns: runs(200, 30) },
  );
  // The sequences reach every end.
  expect([...seen.codes].sort((a, b) => a - b)).toEqual(expect.arrayContaining([0, 4, 7, 130]));
  expect(seen.interrupted).toBeGreaterThan(0);
});
