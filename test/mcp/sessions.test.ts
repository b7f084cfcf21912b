import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { record, SOAK } from '../faults/tools.ts';
import { fc, runs } from '../support/random.ts';
import { createSandboxWorld, type SandboxWorld } from '../support/run-cli.ts';
import { HARDWARE, IMAGE, OFFER } from '../support/sandbox-ids.ts';
import type { Handler } from '../support/service.ts';
import { type Agent, openAgent, waitingClock } from './agent.ts';

/** One thing that an agent, the service or time does. */
type Step =
  | { readonly do: 'create'; readonly name: string; readonly hours: number; readonly count: number }
  | { readonly do: 'terminate' | 'stop' | 'reorder'; readonly name: string }
  | { readonly do: 'pass'; readonly minutes: number }
  /** The next requests that rent are refused, or get no response. */
  | { readonly do: 'break'; readonly how: 'lost' | 'refused' | 'none' };

const name = fc.constantFrom('one', 'two', 'three');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      name,
      hours: fc.integer({ min: 1, max: 5 }),
      count: fc.constantFrom(0, 0, 0, 2),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('terminate', 'stop', 'reorder'), name }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      minutes: fc.integer({ min: 1, max: 150 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('break' as const),
      how: fc.constantFrom('lost', 'refused', 'none'),
    }),
  },
);

/** Returns the minutes until the deadline that a step sets. */
function minutesOf(one: Step): number {
  if (one.do === 'create') return one.hours * 50;
  return one.do === 'reorder' ? 50 : Number.POSITIVE_INFINITY;
}

const session = fc.record({
  cost: fc.integer({ min: 50, max: 1500 }),
  hours: fc.integer({ min: 1, max: 6 }),
  most: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  /** Steps that run at once. */
  steps: fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
  end: fc.constantFrom('stdin', 'SIGTERM'),
});

describe('random sessions', () => {
  let world: SandboxWorld;
  let clock: ReturnType<typeof waitingClock>;
  let breaks: 'lost' | 'refused' | 'none' = 'none';
  /**
   * Minutes until the first deadline. A clock that jumps over it is a computer that sleeps, which may
   * terminate an instance later than the budget counts.
   */
  let timeLeft = 0;
  const change =
    (handler: Handler): Handler =>
    (request) => {
      const rents =
        request.method === 'POST' && /^\/instances(\/[^/]+\/reorder)?$/.test(request.path);
      if (!rents || breaks === 'none') return handler(request);
      if (breaks === 'refused') {
        return { status: 409, body: { statusCode: 409, message: 'no', error: 'Conflict' } };
      }
      return 'hangUp';
    };
  async function openWorld(): Promise<void> {
    clock = waitingClock();
    world = await createSandboxWorld(change, clock);
    await world.cli([
      'sandbox',
      'reset',
      '--balance',
      '100000000',
      '-y',
      '--state',
      world.sandboxFile,
    ]);
    await world.cli(['instances', 'create', 'known', ...HARDWARE]);
    await world.cli(['instances', 'terminate', 'known', '-y', '--wait']);
  }
  beforeAll(openWorld);
  afterAll(() => world.close());

  async function take(agent: Agent, one: Step, at: string): Promise<void> {
    switch (one.do) {
      case 'create':
        await agent.call('instances_create', {
          name: `${one.name}-${at}`,
          offer: [OFFER],
          image: IMAGE,
          terminate_after: `${one.hours * 50}m`,
          ...(one.count === 0 ? {} : { count: one.count }),
        });
        return;
      case 'pass': {
        const minutes = Math.min(one.minutes, timeLeft);
        timeLeft -= minutes;
        clock.advance(minutes * 60_000);
        return;
      }
      case 'break':
        breaks = one.how;
        return;
      case 'reorder':
        await agent.call('instances_reorder', {
          instance: `${one.name}-${at}`,
          new_name: `again-${one.name}-${at}`,
          terminate_after: '50m',
        });
        return;
      default:
        await agent.call(`instances_${one.do}`, { instance: [`${one.name}-${at}`] });
    }
  }

  /** Returns the sum of all charges minus all refunds. */
  async function spent(): Promise<number> {
    const { stdout } = await world.cli(['billing', 'transactions', '--all', '--json']);
    const rows: { amount: string; direction: string; type: string }[] = JSON.parse(stdout);
    return rows
      .filter(({ type }) => type === 'USAGE_CHARGE' || type === 'REFUND')
      .reduce(
        (sum, { amount, direction }) =>
          sum + (direction === 'OUTGOING' ? 1 : -1) * Math.abs(Number(amount)),
        0,
      );
  }

  let sessions = 0;
  test('never pass their budget, and leave nothing running', async (context) => {
    await fc.assert(
      fc.asyncProperty(session, async ({ cost, hours, most, steps, end }) => {
        sessions += 1;
        // Each session reads the whole ledger, so that a long one would take most of the time.
        if (sessions % 20 === 0) {
          await world.close();
          await openWorld();
        }
        breaks = 'none';
        timeLeft = Math.min(hours * 60, ...steps.flat().map(minutesOf)) - 1;
        const before = await spent();
        const [first, second] = [new AbortController(), new AbortController()];
        const flags = ['--max-cost', `${cost}`, '--for', `${hours}h`, '--unenforced'];
        const agent = await openAgent(
          world,
          [
            '--allow',
            'all',
            ...flags,
            ...(most === undefined ? [] : ['--max-instances', `${most}`]),
          ],
          { interrupts: { first: first.signal, second: second.signal } },
        );
        for (const together of steps) {
          await Promise.allSettled(together.map((one) => take(agent, one, `s${sessions}`)));
        }
        breaks = 'none';
        if (end === 'SIGTERM') first.abort(new CliError('terminated', 'Terminated.'));
        const { code, stderr } = end === 'stdin' ? await agent.end() : await agent.ended;
        // A request without a response may have rented, so the session reports it.
        const isLost = steps.flat().some((one) => one.do === 'break' && one.how === 'lost');
        expect(isLost ? [0, 7, 143] : [0, 143], stderr).toContain(code);
        const { stdout } = await world.cli(['instances', 'list', '--json']);
        const living = JSON.parse(stdout).filter(
          ({ status }: { status: string }) => !['TERMINATING', 'UNKNOWN'].includes(status),
        );
        expect(living).toEqual([]);
        expect(await spent()).toBeLessThanOrEqual(before + cost);
      }),
      { numRuns: SOAK ? 1000 : runs(25, 5) },
    );
    record(context, { what: 'random `mcp` sessions', played: sessions });
  }, 3_600_000);
});
