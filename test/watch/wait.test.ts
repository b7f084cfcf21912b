import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type Wait, type Watched, waitForStatus } from '../../src/watch/wait.ts';
import { manualClock } from '../support/clock.ts';

const unreachable = new CliError('unreachable', 'Could not reach the service.');

/**
 * Waits for ACTIVE on an instance with these statuses; the last one stays. Each read moves the wall
 * clock by `step` milliseconds.
 */
async function waiting(
  statuses: readonly (string | CliError)[],
  more: Partial<Wait<Watched>> = {},
  step = 0,
) {
  const clock = manualClock();
  const left = [...statuses];
  const faults: CliError[] = [];
  const longest: number[] = [];
  const wait: Wait<Watched> = {
    target: 'ACTIVE',
    interval: 2_000,
    timeout: 60_000,
    clock,
    signal: new AbortController().signal,
    async read(most) {
      longest.push(most);
      clock.step(step);
      const status = left.length > 1 ? left.shift() : left[0];
      if (status instanceof CliError) throw status;
      return { id: 'm1', status: status ?? '', failure_reason: null };
    },
    onFault: (fault) => void faults.push(fault),
    ...more,
  };
  let outcome: unknown;
  try {
    outcome = (await waitForStatus(wait)).status;
  } catch (error) {
    outcome = error;
  }
  return { outcome, faults, longest, slept: clock.slept };
}

/** Everything that an error says. */
const factsOf = (error: unknown) => ({ ...Object(error), message: Object(error).message });

describe('waiting for a status', () => {
  test('retries a wait with backoff after network errors', async () => {
    const { outcome, faults, slept } = await waiting([
      'CREATING',
      unreachable,
      unreachable,
      unreachable,
      'ACTIVE',
    ]);
    expect({ outcome, slept }).toEqual({ outcome: 'ACTIVE', slept: [2_000, 2_000, 4_000, 8_000] });
    expect(faults).toHaveLength(3);
  });

  test('fails a wait at the deadline even if the service is down', async () => {
    const { outcome, slept } = await waiting(['CREATING', unreachable]);
    const message = 'The instance is not ACTIVE after 1 min; it was last seen CREATING.';
    expect(factsOf(outcome)).toEqual(
      factsOf(new CliError('deadline', message, { retryable: true, resource: 'm1' })),
    );
    expect(slept.reduce((sum, pause) => sum + pause, 0)).toBe(60_000);
  });

  test.each([26, -26])('waits the full timeout if the clock jumps by %i hours', async (hours) => {
    const { outcome, slept } = await waiting(['CREATING'], {}, hours * 3_600_000);
    expect(outcome).toMatchObject({ failure: 'deadline' });
    expect(slept.reduce((sum, pause) => sum + pause, 0)).toBe(60_000);
  });

  test('omits the status of an instance that was never read', async () => {
    const { outcome } = await waiting([unreachable]);
    const message = 'Could not read the instance for 1 min.';
    expect(factsOf(outcome)).toEqual(
      factsOf(new CliError('deadline', message, { retryable: true })),
    );
  });

  test('limits each request to the time left, except the last', async () => {
    const { longest } = await waiting(['CREATING'], { timeout: 20_000, interval: 8_000 });
    expect(longest).toEqual([20_000, 12_000, 5_000, 5_000]);
  });

  /** The statuses that end a wait, by its target and the status before it. */
  test.each([
    ['ACTIVE', undefined, ['STOPPED', 'TERMINATING', 'TERMINATED', 'ERROR']],
    ['STOPPED', undefined, ['TERMINATING', 'TERMINATED', 'ERROR']],
    ['STOPPED', 'STOPPING', ['ACTIVE', 'TERMINATING', 'TERMINATED', 'ERROR']],
    ['TERMINATED', 'ACTIVE', []],
    [
      'TERMINATED',
      'TERMINATING',
      ['CREATING', 'STARTING', 'ACTIVE', 'STOPPING', 'STOPPED', 'ERROR'],
    ],
  ])(
    'ends a wait for %s after %s if the instance becomes one of %j',
    async (target, after, ends) => {
      const found: string[] = [];
      for (const status of [
        ...['CREATING', 'STARTING', 'ACTIVE', 'STOPPING', 'STOPPED', 'TERMINATING', 'TERMINATED'],
        'ERROR',
      ]) {
        const { outcome } = await waiting([status], { target, ...(after && { after }) });
        if (status === target) expect(outcome).toBe(status);
        else if (Reflect.get(Object(outcome), 'failure') === 'otherEnd') found.push(status);
      }
      expect(found).toEqual(ends);
    },
  );

  test('reports the instance and the reason if it can not reach the status', async () => {
    const read = async () => ({ id: 'm1', status: 'ERROR', failure_reason: 'no disk' });
    expect(factsOf((await waiting([], { read })).outcome)).toEqual(
      factsOf(
        new CliError(
          'otherEnd',
          'The instance is ERROR and will not become ACTIVE by itself: no disk.',
          { resource: 'm1' },
        ),
      ),
    );
  });

  test('accepts up to four odd responses in a row from an instance that was read', async () => {
    const odd = new CliError('notUnderstood', 'It is an HTML page.');
    expect((await waiting(['CREATING', odd, odd, odd, odd, 'ACTIVE'])).outcome).toBe('ACTIVE');
    const apart = ['CREATING', odd, odd, odd, 'CREATING', odd, odd, odd, 'ACTIVE'];
    expect((await waiting(apart)).outcome).toBe('ACTIVE');
    expect((await waiting(['CREATING', odd])).outcome).toBe(odd);
    expect((await waiting([odd, 'ACTIVE'])).outcome).toBe(odd);
    expect((await waiting([odd, 'ACTIVE'], { after: 'PROVISIONING' })).outcome).toBe('ACTIVE');
  });

  test('reports a known instance as gone only after two 404s', async () => {
    const missing = new CliError('notFound', 'Instance m1 not found.');
    expect((await waiting(['CREATING', missing, 'ACTIVE'])).outcome).toBe('ACTIVE');
    const apart = ['CREATING', missing, 'CREATING', missing, 'ACTIVE'];
    expect((await waiting(apart)).outcome).toBe('ACTIVE');
    expect((await waiting(['CREATING', missing, missing, 'ACTIVE'])).outcome).toBe(missing);
    expect((await waiting([missing, 'ACTIVE'])).outcome).toBe(missing);
    expect((await waiting([missing, 'ACTIVE'], { after: 'PROVISIONING' })).outcome).toBe('ACTIVE');
  });

  test('fails a wait immediately if the key is refused', async () => {
    const refused = new CliError('authentication', 'The key was refused.');
    expect((await waiting(['CREATING', refused])).outcome).toBe(refused);
  });
});

describe('a pause that the service requests', () => {
  const busy = (retryAfterMs: number) =>
    new CliError('rateLimited', 'No more requests for now (429).', {
      retryable: true,
      httpStatus: 429,
      retryAfterMs,
    });

  test("waits the full pause that the service requests unless the program's own pause is longer", async () => {
    const statuses = ['CREATING', busy(50_000), unreachable, busy(1_000), 'ACTIVE'];
    const { outcome, slept } = await waiting(statuses, { timeout: 120_000 });
    expect({ outcome, slept }).toEqual({
      outcome: 'ACTIVE',
      slept: [2_000, 50_000, 4_000, 8_000],
    });
  });

  test('waits a requested pause that ends exactly at the deadline', async () => {
    const { outcome, slept } = await waiting(['CREATING', busy(58_000), 'ACTIVE']);
    expect({ outcome, slept }).toEqual({ outcome: 'ACTIVE', slept: [2_000, 58_000] });
  });

  test('fails a wait immediately if a requested pause exceeds the deadline', async () => {
    const { outcome, faults, slept } = await waiting(['CREATING', busy(58_001), 'ACTIVE']);
    const message =
      'No more requests for now (429). The service accepts requests again in 59 s, but the wait times out in 58 s. The instance was last seen CREATING.';
    const facts = { retryable: true, httpStatus: 429, retryAfterMs: 58_001, resource: 'm1' };
    expect(factsOf(outcome)).toEqual(factsOf(new CliError('rateLimited', message, facts)));
    expect({ faults, slept }).toEqual({ faults: [], slept: [2_000] });
  });

  test('reports a requested pause with the fault', async () => {
    const told: number[] = [];
    const onFault = (_fault: CliError, _elapsed: number, pause: number) => void told.push(pause);
    await waiting(['CREATING', busy(30_000), unreachable, 'ACTIVE'], { onFault });
    expect(told).toEqual([30_000, 4_000]);
    const faults = [unreachable, unreachable, unreachable];
    await waiting(['CREATING', ...faults, 'ACTIVE'], { onFault, timeout: 10_000 });
    expect(told.slice(2)).toEqual([2_000, 4_000, 2_000]);
  });

  test('stops a requested pause on an interrupt', async () => {
    const stop = new AbortController();
    const why = new CliError('interrupted', 'Interrupted.');
    const onFault = () => stop.abort(why);
    const { outcome, slept } = await waiting(['CREATING', busy(30_000), 'ACTIVE'], {
      onFault,
      signal: stop.signal,
    });
    expect({ outcome, slept }).toEqual({ outcome: why, slept: [2_000] });
  });
});

describe('waiting for an additional check', () => {
  const also = (...answers: readonly boolean[]) => {
    const left = [...answers];
    return {
      text: 'SSH did not respond',
      before: (status: string) => status === 'INSTALLING',
      holds: async () => left.shift() ?? false,
    };
  };

  test('repeats the additional check after each read', async () => {
    const { outcome, slept } = await waiting(['ACTIVE'], { also: also(false, false, true) });
    expect({ outcome, slept }).toEqual({ outcome: 'ACTIVE', slept: [2_000, 2_000] });
  });

  test('finishes at INSTALLING if the additional check passes', async () => {
    const { outcome } = await waiting(['INSTALLING'], { also: also(false, true) });
    expect(outcome).toBe('INSTALLING');
  });

  test('passes the remaining time to the additional check', async () => {
    const told: number[] = [];
    const holds = async (_instance: Watched, longest: number) => {
      told.push(longest);
      return false;
    };
    await waiting(['ACTIVE'], { also: { ...also(), holds }, timeout: 5_000 });
    expect(told).toEqual([5_000, 3_000, 1_000, 0]);
  });

  test('fails if the instance reaches ERROR before the additional check passes', async () => {
    const { outcome } = await waiting(['ACTIVE', 'ACTIVE', 'ERROR'], { also: also() });
    expect(outcome).toMatchObject({ failure: 'otherEnd' });
  });

  test('reports the unmet condition at the deadline', async () => {
    const { outcome } = await waiting(['ACTIVE'], { also: also() });
    expect(outcome).toMatchObject({
      message: 'The instance is ACTIVE, but SSH did not respond after 1 min.',
    });
    const never = await waiting(['CREATING'], { also: also() });
    expect(never.outcome).toMatchObject({
      message: 'The instance is not ACTIVE after 1 min; it was last seen CREATING.',
    });
  });
});
