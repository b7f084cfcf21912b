import { describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { manualClock } from '../../support/clock.ts';
import { createWorld } from '../../support/run-cli.ts';
import { HARDWARE } from '../../support/sandbox-ids.ts';
import { ok } from '../../support/service.ts';
import { errorOf } from '../../support/stderr-lines.ts';
import { turns, until } from '../../support/until.ts';
import { boxId, openSandbox, rent, world } from './boxes.ts';

openSandbox();

describe('instances wait', () => {
  test('waits for several instances at the same time', async () => {
    await world.cli(['instances', 'create', 'box-a', ...HARDWARE]);
    await world.cli(['instances', 'create', 'box-b', ...HARDWARE]);
    await world.cli(['instances', 'wait', 'box-a', 'box-b', '--json']);
  });

  test('exits with 12 and the reason if the instance reaches another final status', async () => {
    await world.sandbox.inject('fail-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    await world.cli(['instances', 'wait', 'trainer']);
    // The last events follow the error, oldest first, before the hint.
  });

  test.each([
    ['CREATING', 404, 3, true],
    ['TERMINATED', 404, 3, false],
    ['TERMINATED', 401, 4, false],
    [undefined, 404, 3, false],
    [undefined, 401, 4, true],
  ])(
    'sets the exit code and may_be_billing for status %s and HTTP %i: %i, %s',
    async (last, status, exit, billing) => {
      let isOver = last === undefined;
      const near = await createWorld({
        handler: () =>
          isOver
            ? { status, body: { statusCode: status, message: 'no', error: 'No' } }
            : ok({ id: boxId(1), name: 'box', status: last }),
      });
      if (!isOver) await near.cli(['instances', 'track', boxId(1)]);
      isOver = true;
      const { code, stderr } = await near.cli(['instances', 'wait', boxId(1), '--json']);
      expect({ code, error: errorOf(stderr) }).toMatchObject({
        code: exit,
        error: { may_be_billing: billing },
      });
    },
  );

  test('includes the last events in JSON if the instance reaches another final status', async () => {
    await world.sandbox.inject('fail-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { stderr } = await world.cli(['instances', 'wait', 'trainer', '--json']);
    const { error } = JSON.parse(stderr);
    expect(error.code).toBe('other_end');
    const log = await world.cli(['instances', 'events', 'trainer', '--limit', '5', '--json']);
    const events = (JSON.parse(log.stdout) as Record<string, unknown>[]).reverse();
    expect(error.last_events).toEqual(
      events.map(({ created_at, type, message }) => ({ created_at, type, message })),
    );
    expect(error.last_events.length).toBeGreaterThan(1);
  });

  test('includes events without a time, type or message as empty texts', async () => {
    const near = await createWorld({
      handler: ({ path }) =>
        path.includes('/events')
          ? ok([{ id: 'event-1' }], 200, { total: 1, page: 1, limit: 5, total_pages: 1 })
          : ok({ id: boxId(1), status: 'ERROR' }),
    });
    await near.cli(['instances', 'wait', boxId(1), '--json']);
  });

  test('exits with 8 when --wait-timeout expires', async () => {
    await world.sandbox.inject('slow-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    await world.cli([
      ...['instances', 'wait', 'trainer', '--wait-timeout', '1m', '--poll-interval', '10s'],
    ]);
    expect(world.clock.slept.filter((slept) => slept === 10_000)).toHaveLength(6);
  });

  test.each([
    [[], ['PROVISIONING (60 s)', 'PROVISIONING (120 s)']],
    [['--json'], []],
  ])('prints a line per minute when not in a terminal, and none with %j', async (flags, phases) => {
    await world.sandbox.inject('slow-provisioning');
    await world.cli(['instances', 'create', 'trainer', ...HARDWARE]);
    const { stderr } = await world.cli([
      ...['instances', 'wait', 'trainer', '--wait-timeout', '150s', '--poll-interval', '10s'],
      ...flags,
    ]);
    const lines = stderr.split('\n').filter((line) => line.startsWith('trainer: '));
    expect(lines).toEqual(phases.map((phase) => `trainer: ${phase}`));
  });

  test('limits each request by --timeout, and continues', async () => {
    let asked = 0;
    const near = await createWorld({
      async handler() {
        asked += 1;
        if (asked === 2) await new Promise(() => undefined);
        const status = asked < 3 ? 'CREATING' : 'ACTIVE';
        return {
          status: 200,
          body: { status: 'success', code: 200, data: { id: boxId(1), status } },
        };
      },
    });
    const wait = ['instances', 'wait', boxId(1), '--timeout', '100ms', '--wait-timeout', '5m'];
    await near.cli([...wait, '-q']);
  });

  test('reports that a terminated instance is no longer billing', async () => {
    await rent('trainer');
    await world.cli(['instances', 'terminate', 'trainer', '-y', '--wait']);
    await world.cli(['instances', 'wait', 'trainer', '--json']);
  });

  test('accepts --for in lower case, and rejects an invalid status', async () => {
    await rent('trainer');
    await world.cli(['instances', 'wait', 'trainer', '--for', 'active']);
    const odd = await world.cli(['instances', 'wait', 'trainer', '--for', 'no/such']);
    expect(odd.code).toBe(2);
  });

  test('exits with 130 on Ctrl-C, and reports the instance as billing', async () => {
    await world.sandbox.inject('slow-provisioning');
    const interrupt = new AbortController();
    const interrupts = { first: interrupt.signal, second: new AbortController().signal };
    const started = world.cli(
      ['instances', 'create', 'trainer', ...HARDWARE, '--wait', '--poll-interval', '1s'],
      { interrupts },
    );
    await until(() => world.service.requests.length >= 3);
    interrupt.abort(new CliError('interrupted', 'Interrupted.'));
    await started;
  });
});

describe('instances wait during an outage', () => {
  const instance = (id: string, status: string) => ok({ id, name: id, status });

  /**
   * Creates a service that refuses the second read of each instance with a Retry-After. It refuses
   * earlier requests again.
   */
  async function strictWorld(seconds: number, end: string) {
    const clock = manualClock();
    const asked = new Map<string, number>();
    const allowedAt = new Map<string, number>();
    const early: string[] = [];
    const world = await createWorld({
      clock,
      handler({ path }) {
        const id = path.split('/')[2] ?? '';
        const count = (asked.get(id) ?? 0) + 1;
        asked.set(id, count);
        const isEarly = clock.now() < (allowedAt.get(id) ?? 0);
        if (isEarly) early.push(id);
        if (count !== 2 && !isEarly) return instance(id, count === 1 ? 'CREATING' : end);
        allowedAt.set(id, clock.now() + seconds * 1000);
        return { status: 429, headers: { 'retry-after': String(seconds) }, body: {} };
      },
    });
    return { ...world, early, asked };
  }
  const WAIT = ['instances', 'wait', boxId(1), '--poll-interval', '500ms'];

  // The API client waits for shorter pauses without a warning.
  test('waits for a Retry-After of 20 s, and reports the wait once', async () => {
    const strict = await strictWorld(20, 'ACTIVE');
    const { code, requests } = await strict.cli([...WAIT, '-o', 'id']);
    expect([code, strict.early, requests.length]).toEqual([0, [], 3]);
    expect(strict.clock.slept).toEqual([500, 20_000]);
  });

  test('exits with 11 immediately for a Retry-After beyond the deadline', async () => {
    const strict = await strictWorld(120, 'ACTIVE');
    const { code, stdout, requests } = await strict.cli([
      ...[...WAIT, '--wait-timeout', '1m', '-q'],
    ]);
    expect({ code, stdout, requests: requests.length }).toEqual({
      code: 11,
      stdout: '',
      requests: 2,
    });
  });

  test.each([
    [['instances', 'wait', boxId(1)], true],
    [['instances', 'stop', boxId(1), '--wait'], false],
  ])('sets retryable of a wait error after %j to %s', async (argv, retryable) => {
    const near = await createWorld({
      handler: ({ method }) =>
        method === 'POST'
          ? instance(boxId(1), 'STOPPING')
          : { status: 429, headers: { 'retry-after': '9999' }, body: {} },
    });
    const { code, stderr } = await near.cli([...argv, '--json']);
    expect({ code, error: JSON.parse(stderr).error }).toMatchObject({
      code: 11,
      error: { code: 'rate_limited', retryable },
    });
  });

  test('uses a separate Retry-After per instance, and reports each instance in JSON', async () => {
    const strict = await strictWorld(120, 'CREATING');
    const argv = ['instances', 'wait', boxId(1), boxId(2), '--wait-timeout', '1m', '--json'];
    const { code } = await strict.cli(argv);
    expect({ code, early: strict.early }).toEqual({ code: 11, early: [] });
  });

  test('waits for twenty instances at the same time, with at most eight reads in flight', async () => {
    let running = 0;
    let most = 0;
    const ids = Array.from({ length: 20 }, (_, at) => boxId(at));
    const near = await createWorld({
      async handler({ path }) {
        running += 1;
        most = Math.max(most, running);
        await turns();
        running -= 1;
        return instance(path.split('/')[2] ?? '', path.endsWith(boxId(19)) ? 'ACTIVE' : 'CREATING');
      },
    });
    const waited = await near.cli(['instances', 'wait', ...ids, '--wait-timeout', '10s', '--json']);
    // The wait for the last instance is independent of the others.
    expect(JSON.parse(waited.stdout)).toMatchObject([{ id: boxId(19) }]);
    expect(errorOf(waited.stderr).errors).toHaveLength(19);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test.each([
    ['all', 'ACTIVE', 'ACTIVE'],
    ['one', 'ACTIVE', 'TERMINATING'],
    ['none', 'TERMINATING', 'TERMINATING'],
  ])(
    'prints one line after Ctrl-C if %s of two instances may bill, and two errors in JSON',
    async (_which, ...statuses) => {
      const interrupt = new AbortController();
      const interrupts = { first: interrupt.signal, second: new AbortController().signal };
      const reads = [0, 0];
      const near = await createWorld({
        handler({ path }) {
          const at = path.endsWith(boxId(1)) ? 0 : 1;
          reads[at] = (reads[at] ?? 0) + 1;
          if (reads.every((count) => count > 1))
            interrupt.abort(new CliError('interrupted', 'Interrupted.'));
          return instance(boxId(at + 1), statuses[at] ?? '');
        },
      });
      const wait = ['instances', 'wait', boxId(1), boxId(2), '--for', 'terminated'];
      const people = await near.cli(wait, { interrupts });
      const scripts = await near.cli([...wait, '--json'], { interrupts });
      expect([people.code, scripts.code]).toEqual([130, 130]);
      expect(errorOf(scripts.stderr).errors).toHaveLength(2);
    },
  );
});
