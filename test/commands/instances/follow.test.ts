import { describe, expect, test } from 'vitest';
import { envelope } from '../../support/service.ts';
import { event, logOf } from '../../watch/pages.ts';
import { follow, ID, idsOf, missing, OTHER, refused, show, track } from './show.ts';

describe('instances events --follow', () => {
  test('prints the log oldest first, then each new event, and exits with 130 on Ctrl-C', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return logOf(turn === 1 ? 3 : 4);
    });
    await follow(stage);
  });

  test.each([
    ['table', 0],
    ['table', 1],
    ['csv', 0],
  ])('notes once that a log is empty, in a %s of %i events', async (format, count) => {
    const stage = await show((turn) => {
      if (turn === 4) setImmediate(() => stage.ctrlC());
      return logOf(turn < 3 ? count : 1);
    });
    await follow(stage, '-o', format);
  });

  test.each([[['--json']], [['-o', 'jsonl']], [['-o', 'json']]])(
    'prints one line of JSON per event, with its instance: %j',
    async (flags) => {
      const stage = await show((turn) => {
        if (turn === 2) setImmediate(() => stage.ctrlC());
        return [...logOf(2), { ...event('e0', 0), instance_id: OTHER }];
      });
      const { stderr } = await follow(stage, ...flags);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'interrupted' });
    },
  );

  test('prints events as they arrive in every format', async () => {
    for (const format of ['csv', 'tsv', 'yaml', 'id', 'table']) {
      const stage = await show((turn) => {
        if (turn === 3) setImmediate(() => stage.ctrlC());
        return logOf(Math.min(turn, 2));
      });
      const { stdout } = await follow(stage, '-o', format, '--columns', 'id');
      expect(stdout.match(/e[12]/g), format).toEqual(['e1', 'e2']);
      await stage.world.close();
    }
  });

  test('prints dates and times in a terminal, and strips control characters', async () => {
    const hostile = {
      ...event('e1', 1, 'ERROR'),
      message: `disk\u001b]52;c;aGk=\u0007 \u001b[2Jgone\nTIME \u202eevil`,
    };
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return [hostile];
    });
    await stage.world.cli(['instances', 'events', ID, '-f', '--no-color'], {
      terminal: true,
      interrupts: stage.interrupts,
      env: { TZ: 'UTC' },
    });
  });

  test('names four of several instances, and the one whose log is incomplete', async () => {
    const others = ['5', '6', '7', '8'].map((digit) => `${digit}${ID.slice(1)}`);
    const stage = await show((turn, id) => {
      if (turn === 3 && id === ID) setImmediate(() => stage.ctrlC());
      const meta = { total: 3, page: 1, limit: 100, total_pages: 1 };
      return turn === 2 && id === OTHER
        ? { status: 200, body: envelope([event('e1', 1)], 200, meta) }
        : [];
    });
    await track(stage, OTHER, ...others);
    await follow(stage, OTHER, ...others);
  });

  test('prints only the requested types with --type', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      const log = [event('e2', 2, 'BILLING'), event('e1', 1)];
      return turn === 1 ? log : [event('e3', 3, 'WARNING'), ...log];
    });
    await follow(stage, '--type', 'billing', '--type', 'warning', '-q');
  });

  test('starts at --since, and prints later arrivals even with an earlier time', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return turn === 1 ? logOf(100) : [event('slow', 94.5), ...logOf(100)];
    });
    const { stdout } = await follow(stage, '--since', '2026-01-15T12:01:35Z', '-q');
    expect(stdout.trim().split('\n')).toEqual(['e95', 'e96', 'e97', 'e98', 'e99', 'e100', 'slow']);
  });

  test("subtracts --since 5s from the service's time", async () => {
    // This computer's clock shows 12:00:00.
    const stage = await show(
      (turn) => {
        if (turn === 2) setImmediate(() => stage.ctrlC());
        return logOf(7_200);
      },
      { headers: { date: 'Thu, 15 Jan 2026 14:00:00 GMT' } },
    );
    const { stdout } = await follow(stage, '--since', '5s', '-q');
    expect(stdout.trim().split('\n')).toEqual([
      'e7195',
      'e7196',
      'e7197',
      'e7198',
      'e7199',
      'e7200',
    ]);
  });

  test('merges several instances by time, with an INSTANCE column', async () => {
    const stage = await show((turn, id) => {
      if (turn === 2 && id === OTHER) setImmediate(() => stage.ctrlC());
      return id === ID ? [event('a2', 4), event('a1', 1)] : [event('b2', 3), event('b1', 2)];
    });
    const { stdout } = await follow(stage, OTHER);
    expect(stdout.match(new RegExp(`${ID}|${OTHER}`, 'g'))).toEqual([ID, OTHER, OTHER, ID]);
  });

  test('prints the newest 20,000 events, and reports the gap', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return logOf(21_000);
    });
    await track(stage);
    const { stdout } = await follow(stage, '-q');
    expect(stdout.trim().split('\n')).toHaveLength(20_000);
  });
});

describe('instances events --follow at its end', () => {
  test('stops one read after the instance has the --until status', async () => {
    const stage = await show((turn) => logOf(turn), {
      status: (reading) => (reading < 3 ? 'TERMINATING' : 'TERMINATED'),
    });
    await follow(stage, '--until', 'terminated', '-q');
  });

  test("stops at an event of --until's type, without reading an instance", async () => {
    const stage = await show((turn) =>
      turn === 1 ? logOf(2) : [event('e4', 4), event('e3', 3, 'BILLING'), ...logOf(2)],
    );
    const { requests } = await follow(stage, '--until', 'billing', '-q');
    expect(requests.every(({ path }) => path.includes('/events'))).toBe(true);
  });

  test('stops at an event or a status for --until error', async () => {
    const byEvent = await show(() => [event('e1', 1, 'ERROR')]);
    expect(await follow(byEvent, '--until', 'error', '-q')).toMatchObject({
      code: 0,
      stdout: 'e1\n',
    });
    await byEvent.world.close();
    const byStatus = await show(() => logOf(1), { status: () => 'ERROR' });
    expect(await follow(byStatus, '--until', 'error', '-q')).toMatchObject({
      code: 0,
      stdout: 'e1\n',
    });
  });

  test("exits with 12 for a terminated instance, which can't reach the status", async () => {
    const stage = await show(() => logOf(1), { status: () => 'TERMINATED' });
    await track(stage);
    const { stdout } = await follow(stage, '--until', 'active', '-o', 'jsonl');
    expect(idsOf(stdout)).toEqual(['e1']);
  });

  test('reports possible billing after Ctrl-C with --until', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return logOf(1);
    });
    await follow(stage, '--until', 'terminated', '-q');
  });

  test('exits with 143 on SIGTERM during --follow', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC('terminated'));
      return logOf(1);
    });
    expect((await follow(stage)).code).toBe(143);
  });

  test('exits with 3 immediately for an unknown instance', async () => {
    const stage = await show(() => missing);
    const { requests } = await follow(stage);
    expect(requests).toHaveLength(1);
  });

  test('exits with 3 after two 404 responses', async () => {
    const stage = await show((turn) => ([2, 4, 5].includes(turn) ? missing : logOf(turn)));
    await follow(stage, '-q');
  });

  test('continues with the other instances after a 404', async () => {
    const stage = await show((turn, id) => (id === OTHER ? missing : logOf(turn)), {
      status: (reading) => (reading < 4 ? 'ACTIVE' : 'STOPPED'),
    });
    const { stderr } = await follow(stage, OTHER, '--until', 'stopped', '-q');
    expect(stderr.split('\n')[0]).toContain('Still following the others.');
  });

  test('exits with 4 if the key is refused', async () => {
    const stage = await show((turn) => (turn === 3 ? refused : logOf(turn)));
    await follow(stage, '-q');
  });
});
