import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../support/service.ts';
import { event, logOf } from '../../watch/pages.ts';
import { follow, ID, OTHER, type Show, scratch, show, track } from './show.ts';

describe('instances events --follow during an outage', () => {
  // Failed requests are retried three times; unreadable responses are not.
  test.each<[string, Answer | 'hangUp', RegExp, number]>([
    ['a cut connection', 'hangUp', /ould not reach/, 6],
    ['500', { status: 500, body: {} }, /500/, 6],
    ['503 with HTML', { status: 503, body: '<html>' }, /503/, 6],
    ['HTML with 200', { status: 200, body: '<html>' }, /HTML/, 4],
  ])(
    'reports the start and end of an outage, and waits until it ends: %s',
    async (_name, fault, words, faults) => {
      const stage = await show((turn) => {
        if (turn === faults + 5) setImmediate(() => stage.ctrlC());
        return turn > 1 && turn < faults + 2 ? fault : logOf(Math.min(turn, faults + 4));
      });
      await track(stage);
      const { code, stdout, stderr } = await follow(stage, '-o', 'id');
      expect(code).toBe(130);
      expect(stdout.trim().split('\n')).toEqual(
        Array.from({ length: faults + 4 }, (_, at) => `e${at + 1}`),
      );
      const [lost, back, ...more] = stderr.trim().split('\n');
      expect(lost).toMatch(words);
      expect(lost).toContain('Trying again');
      expect(back).toMatch(/^The service is reachable again after \d+ s\.$/);
      expect(more).toEqual([]);
    },
  );

  test('retries an instance that is unreachable at the start', async () => {
    const stage = await show((turn, id) => {
      if (turn === 8 && id === OTHER) setImmediate(() => stage.ctrlC());
      return id === OTHER && turn < 5 ? 'hangUp' : logOf(1);
    });
    const { code, stdout } = await follow(stage, OTHER, '-o', 'tsv', '--no-header');
    expect(code).toBe(130);
    expect(stdout.match(new RegExp(`${ID}|${OTHER}`, 'g'))).toEqual([ID, OTHER]);
  });

  test('does not delay other instances during an outage, and prints missed events later', async () => {
    const stage = await show((turn, id) => {
      if (turn === 9 && id === OTHER) setImmediate(() => stage.ctrlC());
      if (id === OTHER) return turn < 5 ? 'hangUp' : [event('b1', 1)];
      return [event('a2', 2)];
    });
    await follow(stage, OTHER, '-q');
  });

  test('exits with 6 if the first request gets no response', async () => {
    const stage = await show(() => 'hangUp');
    expect((await follow(stage)).code).toBe(6);
  });

  // The API client waits for shorter pauses without a warning.
  test('waits for a Retry-After of 20 s, and reports the wait', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return turn === 2 ? { status: 429, headers: { 'retry-after': '20' }, body: {} } : logOf(1);
    });
    const { code } = await follow(stage);
    expect(code).toBe(130);
    expect(stage.world.clock.slept).toContain(20_000);
  });
});

describe('--resume', () => {
  test('continues after the last printed event, and reports a gap', async () => {
    const file = await scratch();
    const first = await show((turn) => {
      if (turn === 2) setImmediate(() => first.ctrlC());
      return logOf(30);
    });
    await track(first);
    await follow(first, '--resume', file, '-q');
    await first.world.close();
    const second = await show((turn) => {
      if (turn === 2) setImmediate(() => second.ctrlC());
      return [...logOf(33).slice(0, 3), event('late', 12.5), ...logOf(30)].sort((a, b) =>
        (b.created_at ?? '') < (a.created_at ?? '') ? -1 : 1,
      );
    });
    const { stdout, stderr } = await follow(second, '--resume', file, '--since', '1s', '-q');
    expect({ stdout, stderr }).toEqual({ stdout: 'late\ne31\ne32\ne33\n', stderr: '' });
    await second.world.close();
    const third = await show((turn) => {
      if (turn === 2) setImmediate(() => third.ctrlC());
      return logOf(60).slice(0, 5);
    });
    await track(third);
    await follow(third, '--resume', file, '-q');
  });

  test('stores the --since time even without an event', async () => {
    const file = await scratch();
    const first = await show((turn) => {
      if (turn === 2) setImmediate(() => first.ctrlC());
      return logOf(5);
    });
    await follow(first, '--resume', file, '--since', '2026-01-16', '-q');
    await first.world.close();
    const second = await show((turn) => {
      if (turn === 2) setImmediate(() => second.ctrlC());
      return logOf(7);
    });
    await follow(second, '--resume', file, '--since', '2026-01-16', '-q');
  });

  test("shows an added instance from its first event, and keeps the first instance's position", async () => {
    const file = await scratch();
    const printed: string[] = [];
    for (const id of [ID, OTHER, ID]) {
      const stage = await show((turn) => {
        if (turn === 2) setImmediate(() => stage.ctrlC());
        return logOf(2);
      });
      const { stdout } = await stage.world.cli(
        ['instances', 'events', id, '-f', '--resume', file, '-q'],
        { interrupts: stage.interrupts },
      );
      printed.push(stdout);
      await stage.world.close();
    }
    expect(printed).toEqual(['e1\ne2\n', 'e1\ne2\n', '']);
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')).instances).sort()).toEqual(
      [ID, OTHER].sort(),
    );
  });

  describe('--resume with --until a type', () => {
    const both = (file: string, stage: Show) =>
      follow(stage, OTHER, '--resume', file, '--until', 'billing', '-q');
    const charged = (id: string) => [event(`paid-${id}`, 9, 'BILLING'), ...logOf(1)];

    test('waits with --resume and --until for an event that earlier runs have not printed', async () => {
      const file = await scratch();
      const first = await show((_turn, id) => charged(id));
      expect((await both(file, first)).code).toBe(0);
      await first.world.close();
      const next = await show((turn, id) => [
        ...(turn > 1 ? [event(`again-${id}`, 12, 'BILLING')] : []),
        ...charged(id),
      ]);
      const { code, stdout } = await both(file, next);
      expect({ code, rows: stdout.trim().split('\n').sort() }).toEqual({
        code: 0,
        rows: [`again-${ID}`, `again-${OTHER}`].sort(),
      });
      await next.world.close();
    });
  });
});

describe('incompatible flags', () => {
  test.each([
    [['--page', '2']],
    [['--all']],
    [['--sort', 'type']],
    [['--query', '[]']],
    [['--until', 'a b']],
    [['--type', '']],
    [['--since', 'soon']],
    [['--poll-interval', '1ms']],
    [['--columns', 'nonsense']],
  ])('rejects flags that conflict with --follow: %j', async (flags) => {
    const stage = await show(() => logOf(1));
    const { code, stdout, stderr, requests } = await follow(stage, ...flags);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test.each([
    [[ID, OTHER]],
    [[ID, '--until', 'active']],
    [[ID, '--resume', 'f']],
    [[ID, '--since', '1h', '--page', '1']],
  ])('rejects flags that require --follow: %j', async (words) => {
    const stage = await show(() => logOf(1));
    const { code, requests } = await stage.world.cli(['instances', 'events', ...words]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
  });
});

describe('instances events without --follow', () => {
  test('reads only the pages that --since and --type need, newest first', async () => {
    const stage = await show(() => [event('b', 900, 'BILLING'), ...logOf(850)]);
    const since = await stage.world.cli([
      ...['instances', 'events', ID, '--since', '2026-01-15T12:14:09Z', '-q'],
    ]);
    expect(since.requests).toHaveLength(1);
    const type = await stage.world.cli(['instances', 'events', ID, '--type', 'billing', '-q']);
    expect(type.requests).toHaveLength(9);
  });
});
