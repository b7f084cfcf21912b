import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CliError } from '../../../src/errors.ts';
import { createWorld, type World } from '../../support/run-cli.ts';
import type { Answer, RecordedRequest } from '../../support/service.ts';
import { envelope, ok } from '../../support/service.ts';
import { event, logOf, pageOf, type TestEvent } from '../../watch/pages.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const OTHER = '4f0c5d9e-1111-4222-8333-444455556666';

const missing: Answer = {
  status: 404,
  body: { statusCode: 404, message: 'Instance not found', error: 'Not Found' },
};
const refused: Answer = {
  status: 401,
  body: { statusCode: 401, message: 'no', error: 'Unauthorized' },
};

/** What the service says to the reading of a log; `turn` counts the first pages read of it, from 1. */
type Turn = (turn: number, id: string) => readonly TestEvent[] | Answer | 'hangUp';

/** A service with logs that change from one look to the next, and a person who ends the follow. */
interface Show {
  readonly world: World;
  /** Ctrl-C, as the edge tells it. */
  readonly interrupts: { readonly first: AbortSignal; readonly second: AbortSignal };
  ctrlC(failure?: 'interrupted' | 'terminated'): void;
}

let world: World | undefined;
const folders: string[] = [];
afterEach(async () => {
  await world?.close();
  world = undefined;
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function show(
  log: Turn,
  {
    status = () => 'ACTIVE',
    headers = {},
  }: {
    status?: (reading: number, id: string) => string;
    headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Show> {
  const turns = new Map<string, number>();
  const readings = new Map<string, number>();
  const count = (counts: Map<string, number>, id: string) => {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts.get(id) ?? 0;
  };
  const first = new AbortController();
  const second = new AbortController();
  world = await createWorld({
    handler: ({ path }: RecordedRequest) => {
      const url = new URL(path, 'http://service');
      const id = url.pathname.split('/')[2] ?? '';
      if (!url.pathname.endsWith('/events')) {
        const data = { id, name: 'box', status: status(count(readings, id), id) };
        return ok(data);
      }
      const page = Number(url.searchParams.get('page'));
      const limit = Number(url.searchParams.get('limit'));
      const found = log(page === 1 ? count(turns, id) : (turns.get(id) ?? 1), id);
      if (found === 'hangUp' || !Array.isArray(found)) return found as Answer | 'hangUp';
      const { data, meta } = pageOf(found, page, limit);
      return {
        status: 200,
        headers,
        body: envelope(data, 200, { ...meta, page }),
      };
    },
  });
  return {
    world,
    interrupts: { first: first.signal, second: second.signal },
    ctrlC: (failure = 'interrupted') => first.abort(new CliError(failure, 'Interrupted.')),
  };
}

const follow = ({ world, interrupts }: Show, ...more: string[]) =>
  world.cli(['instances', 'events', ID, '--follow', ...more], { interrupts });

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-follow-'));
  folders.push(folder);
  return join(folder, 'events.json');
}

const idsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id);

describe('instances events --follow', () => {
  test('prints the log, oldest first, and then what comes; Ctrl-C ends it with 130 and no word', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return logOf(turn === 1 ? 3 : 4);
    });
    const { code, stdout, stderr } = await follow(stage);
    expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
    expect(stdout).toBe(
      [
        'TIME                      TYPE           MESSAGE',
        '2026-01-15T12:00:01.000Z  INFO           -',
        '2026-01-15T12:00:02.000Z  INFO           -',
        '2026-01-15T12:00:03.000Z  INFO           -',
        '2026-01-15T12:00:04.000Z  INFO           -',
        '',
      ].join('\n'),
    );
  });

  test.each([[['--json']], [['-o', 'jsonl']], [['-o', 'json']]])(
    '%j is a line of JSON for each event, with the machine it is of',
    async (flags) => {
      const stage = await show((turn) => {
        if (turn === 2) setImmediate(() => stage.ctrlC());
        return logOf(2);
      });
      const { code, stdout, stderr } = await follow(stage, ...flags);
      expect(code).toBe(130);
      expect(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toEqual([
        { ...event('e1', 1), instance_id: ID },
        { ...event('e2', 2), instance_id: ID },
      ]);
      expect(JSON.parse(stderr).error).toMatchObject({ code: 'interrupted' });
    },
  );

  test('every format is written as it comes', async () => {
    for (const format of ['csv', 'tsv', 'yaml', 'id', 'table']) {
      const stage = await show((turn) => {
        if (turn === 3) setImmediate(() => stage.ctrlC());
        return logOf(Math.min(turn, 2));
      });
      const { code, stdout } = await follow(stage, '-o', format, '--columns', 'id');
      expect(code, format).toBe(130);
      expect(stdout.match(/e[12]/g), format).toEqual(['e1', 'e2']);
      await stage.world.close();
    }
  });

  test('a person sees the time of day, and what is hostile in a text does nothing', async () => {
    const hostile = {
      ...event('e1', 1, 'ERROR'),
      message: `disk\u001b]52;c;aGk=\u0007 \u001b[2Jgone\nTIME \u202eevil`,
    };
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return [hostile];
    });
    const { stdout } = await stage.world.cli(['instances', 'events', ID, '-f', '--no-color'], {
      terminal: true,
      interrupts: stage.interrupts,
      env: { TZ: 'UTC' },
    });
    expect(stdout).toMatch(/^TIME +TYPE +MESSAGE\n/);
    expect(stdout).toMatch(/^2026-01-1[56] \d\d:\d\d:01 {2}ERROR {10}disk gone TIME evil$/m);
  });

  test('--type passes over the others for good', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      const log = [event('e2', 2, 'BILLING'), event('e1', 1)];
      return turn === 1 ? log : [event('e3', 3, 'WARNING'), ...log];
    });
    const { stdout } = await follow(stage, '--type', 'billing', '--type', 'warning', '-q');
    expect(stdout).toBe('e2\ne3\n');
  });

  test('--since begins there, and later events come whatever their time', async () => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return turn === 1 ? logOf(100) : [event('slow', 94.5), ...logOf(100)];
    });
    const { stdout } = await follow(stage, '--since', '2026-01-15T12:01:35Z', '-q');
    expect(stdout.trim().split('\n')).toEqual(['e95', 'e96', 'e97', 'e98', 'e99', 'e100', 'slow']);
  });

  test('--since 5s is meant by the clock of the service', async () => {
    // That of this computer is at 12:00:00, hours away.
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

  test('several machines are one stream by time, with a column that tells them apart', async () => {
    const stage = await show((turn, id) => {
      if (turn === 2 && id === OTHER) setImmediate(() => stage.ctrlC());
      return id === ID ? [event('a2', 4), event('a1', 1)] : [event('b2', 3), event('b1', 2)];
    });
    const { stdout } = await follow(stage, OTHER);
    expect(stdout.split('\n')[0]).toMatch(/^TIME +INSTANCE +TYPE +MESSAGE$/);
    expect(stdout.match(new RegExp(`${ID}|${OTHER}`, 'g'))).toEqual([ID, OTHER, OTHER, ID]);
  });

  test.each([
    [
      ['-q'],
      /^warning: \S+: 1 event from before \S+Z entered the log too late to be found\. See .*--all\n$/,
    ],
    [
      ['--json'],
      /^\{"warning":\{"code":"incomplete","message":"[^"]*too late to be found[^"]*"\}\}\n\{"error/,
    ],
  ])('reports an event that enters the log out of reach, once: %j', async (flags, words) => {
    const late = event('late', -1);
    const stage = await show((turn) => {
      if (turn === 6) setImmediate(() => stage.ctrlC());
      return turn === 1 ? logOf(2_100) : [...logOf(2_100), late];
    });
    const { stdout, stderr } = await follow(stage, ...flags);
    expect(stdout.trim().split('\n')).toHaveLength(2_100);
    expect(stderr).toMatch(words);
  });

  test('10,000 events of before come whole, and each once', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return logOf(10_000);
    });
    const { stdout } = await follow(stage, '-q');
    expect(stdout.trim().split('\n')).toEqual(
      Array.from({ length: 10_000 }, (_, at) => `e${at + 1}`),
    );
  });

  test('more than one walk may gather: the newest come, and the gap is told', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return logOf(21_000);
    });
    const { stdout, stderr } = await follow(stage, '-q');
    expect(stdout.trim().split('\n')).toHaveLength(20_000);
    expect(stderr).toBe(
      `warning: ${ID}: there are more events than are shown at once: those from before 2026-01-15T12:16:41.000Z are left out. See them all: gpucloud instances events ${ID} --all\n`,
    );
  });
});

describe('the end of a follow', () => {
  test('--until a status: one more look after the service tells it', async () => {
    const stage = await show((turn) => logOf(turn), {
      status: (reading) => (reading < 3 ? 'TERMINATING' : 'TERMINATED'),
    });
    const { code, stdout, stderr } = await follow(stage, '--until', 'terminated', '-q');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('e1\ne2\ne3\ne4\n');
  });

  test('--until a type: that event is the last, and no machine is read', async () => {
    const stage = await show((turn) =>
      turn === 1 ? logOf(2) : [event('e4', 4), event('e3', 3, 'BILLING'), ...logOf(2)],
    );
    const { code, stdout, requests } = await follow(stage, '--until', 'billing', '-q');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'e1\ne2\ne3\n' });
    expect(requests.every(({ path }) => path.includes('/events'))).toBe(true);
  });

  test('--until error ends with an event of that type as well as with the status', async () => {
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

  test('a machine that was deleted will not have another status: exit 12', async () => {
    const stage = await show(() => logOf(1), { status: () => 'TERMINATED' });
    const { code, stdout, stderr } = await follow(stage, '--until', 'active', '-o', 'jsonl');
    expect(code).toBe(12);
    expect(idsOf(stdout)).toEqual(['e1']);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'other_end', resource: ID });
  });

  test('Ctrl-C while somebody waits for something says what is left', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC());
      return logOf(1);
    });
    const { code, stderr } = await follow(stage, '--until', 'terminated', '-q');
    expect(code).toBe(130);
    expect(stderr).toContain('It may still be billing.');
  });

  test('SIGTERM is 143', async () => {
    const stage = await show((turn) => {
      if (turn === 2) setImmediate(() => stage.ctrlC('terminated'));
      return logOf(1);
    });
    expect((await follow(stage)).code).toBe(143);
  });

  test('a machine that nobody knows is exit 3 at once', async () => {
    const stage = await show(() => missing);
    const { code, stdout, stderr, requests } = await follow(stage);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^error: There is no instance [^\n]+\nhint: [^\n]+\n$/);
    expect(requests).toHaveLength(1);
  });

  test('a machine that vanishes is gone when two answers say so', async () => {
    const stage = await show((turn) => ([2, 4, 5].includes(turn) ? missing : logOf(turn)));
    const { code, stdout, stderr } = await follow(stage, '-q');
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'e1\ne2\ne3\n' });
    expect(stderr).toContain(`There is no instance ${ID} (404)`);
  });

  test('of several, the others are followed on', async () => {
    const stage = await show((turn, id) => (id === OTHER ? missing : logOf(turn)), {
      status: (reading) => (reading < 4 ? 'ACTIVE' : 'STOPPED'),
    });
    const { code, stdout, stderr } = await follow(stage, OTHER, '--until', 'stopped', '-q');
    expect(code).toBe(3);
    expect(stdout).toBe('e1\ne2\ne3\ne4\ne5\n');
    expect(stderr.split('\n')[0]).toContain('The others are followed on.');
  });

  test('a key that is refused is the end, whenever it comes', async () => {
    const stage = await show((turn) => (turn === 3 ? refused : logOf(turn)));
    const { code, stdout } = await follow(stage, '-q');
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'e1\ne2\n' });
  });
});

describe('an outage', () => {
  // A fault that is tried three times counts once; an answer that makes no sense is not tried again.
  test.each<[string, Answer | 'hangUp', RegExp, number]>([
    ['a cut connection', 'hangUp', /could not be reached/, 6],
    ['500', { status: 500, body: {} }, /500/, 6],
    ['503 with HTML', { status: 503, body: '<html>' }, /503/, 6],
    ['HTML with 200', { status: 200, body: '<html>' }, /HTML/, 4],
  ])('%s is told once, waited out and told again', async (_name, fault, words, faults) => {
    const stage = await show((turn) => {
      if (turn === faults + 5) setImmediate(() => stage.ctrlC());
      return turn > 1 && turn < faults + 2 ? fault : logOf(Math.min(turn, faults + 4));
    });
    const { code, stdout, stderr } = await follow(stage, '-o', 'id');
    expect(code).toBe(130);
    expect(stdout.trim().split('\n')).toEqual(
      Array.from({ length: faults + 4 }, (_, at) => `e${at + 1}`),
    );
    const [lost, back, ...more] = stderr.trim().split('\n');
    expect(lost).toMatch(words);
    expect(lost).toContain('Trying again');
    expect(back).toMatch(/^The service answers again, after \d+ s\.$/);
    expect(more).toEqual([]);
  });

  test('answers that never make sense are an error in the end', async () => {
    const stage = await show((turn) => (turn > 1 ? { status: 200, body: '<html>' } : logOf(turn)));
    const { code, stdout } = await follow(stage, '-q');
    expect({ code, stdout }).toEqual({ code: 10, stdout: 'e1\n' });
  });

  test('of one machine of several, at the beginning, is waited out as well', async () => {
    const stage = await show((turn, id) => {
      if (turn === 8 && id === OTHER) setImmediate(() => stage.ctrlC());
      return id === OTHER && turn < 5 ? 'hangUp' : logOf(1);
    });
    const { code, stdout, stderr } = await follow(stage, OTHER, '-o', 'tsv', '--no-header');
    expect(code).toBe(130);
    expect(stdout.match(new RegExp(`${ID}|${OTHER}`, 'g'))).toEqual([ID, OTHER]);
    expect(stderr).toContain(`what happens to ${OTHER} meanwhile`);
  });

  test('of one machine of several does not hold the others back: its older events come after', async () => {
    const stage = await show((turn, id) => {
      if (turn === 9 && id === OTHER) setImmediate(() => stage.ctrlC());
      if (id === OTHER) return turn < 5 ? 'hangUp' : [event('b1', 1)];
      return [event('a2', 2)];
    });
    const { stdout } = await follow(stage, OTHER, '-q');
    expect(stdout).toBe('a2\nb1\n');
  });

  test('before the first answer it is the error of any command', async () => {
    const stage = await show(() => 'hangUp');
    expect((await follow(stage)).code).toBe(6);
  });

  // The shorter one would fit into a single call, which would keep it without a word.
  test.each(['300', '20'])('a Retry-After of %s s is kept to, and told', async (seconds) => {
    const stage = await show((turn) => {
      if (turn === 3) setImmediate(() => stage.ctrlC());
      return turn === 2 ? { status: 429, headers: { 'retry-after': seconds }, body: {} } : logOf(1);
    });
    const { code, stderr } = await follow(stage);
    expect(code).toBe(130);
    expect(stderr).toContain(`asks to wait ${seconds} s`);
    expect(stage.world.clock.slept).toContain(Number(seconds) * 1000);
  });

  test('the pauses are of 2 s, and grow to 10 s while nothing happens', async () => {
    const stage = await show((turn) => {
      if (turn === 9) setImmediate(() => stage.ctrlC());
      return logOf(turn < 3 ? turn : 3);
    });
    await follow(stage);
    expect(stage.world.clock.slept.slice(0, 8)).toEqual([
      2_000, 2_000, 2_000, 3_000, 4_500, 6_750, 10_000, 10_000,
    ]);
  });
});

describe('--resume', () => {
  test('goes on where the last run ended, and a gap is told', async () => {
    const file = await scratch();
    const first = await show((turn) => {
      if (turn === 2) setImmediate(() => first.ctrlC());
      return logOf(30);
    });
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
    const torn = await follow(third, '--resume', file, '-q');
    expect(torn.stdout).toBe('e56\ne57\ne58\ne59\ne60\n');
    expect(torn.stderr).toContain('events from before 2026-01-15T12:00:56.000Z may be missing');
  });

  test('the beginning of --since is kept although nothing has come yet', async () => {
    const file = await scratch();
    const first = await show((turn) => {
      if (turn === 2) setImmediate(() => first.ctrlC());
      return logOf(5);
    });
    const nothing = await follow(first, '--resume', file, '--since', '2026-01-16', '-q');
    expect(nothing.stdout).toBe('');
    await first.world.close();
    const second = await show((turn) => {
      if (turn === 2) setImmediate(() => second.ctrlC());
      return logOf(7);
    });
    const { stdout } = await follow(second, '--resume', file, '--since', '2026-01-16', '-q');
    expect(stdout).toBe('e6\ne7\n');
  });

  test('of another machine: that one begins, and what was noted of the first stays', async () => {
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

  describe('with --until a type', () => {
    const both = (file: string, stage: Show) =>
      follow(stage, OTHER, '--resume', file, '--until', 'billing', '-q');
    const charged = (id: string) => [event(`paid-${id}`, 9, 'BILLING'), ...logOf(1)];

    test('waits for an event that no run before has printed', async () => {
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

  test('a file that is none is exit 9 before any request, and stays as it is', async () => {
    const file = await scratch();
    await writeFile(file, '{"kind":"gpucloud-follow","version":1,"inst');
    const stage = await show(() => logOf(1));
    const { code, stderr, requests } = await follow(stage, '--resume', file);
    expect({ code, requests }).toEqual({ code: 9, requests: [] });
    expect(stderr).toContain(`--resume "${file}": it is no file that --resume has written`);
    expect(await readFile(file, 'utf8')).toBe('{"kind":"gpucloud-follow","version":1,"inst');
  });
});

describe('what does not go together is refused before any request', () => {
  test.each([
    [['--page', '2'], '--follow and --page exclude each other'],
    [['--all'], '--follow and --all exclude each other'],
    [['--sort', 'type'], '--sort: events that are followed come in the order of time'],
    [['--query', '[]'], '--query: events that are followed are no list'],
    [['--until', 'a b'], '--until "a b": it is a status or a type of event'],
    [['--type', ''], '--type ""'],
    [['--since', 'soon'], '--since "soon"'],
    [['--poll-interval', '1ms'], '--poll-interval "1ms"'],
    [['--columns', 'nonsense'], "--columns: no column 'nonsense'"],
  ])('--follow %j', async (flags, words) => {
    const stage = await show(() => logOf(1));
    const { code, stdout, stderr, requests } = await follow(stage, ...flags);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(stderr).toContain(words);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test.each([
    [[ID, OTHER], 'INSTANCE: the log of one machine at a time, but with --follow'],
    [[ID, '--until', 'active'], '--until goes with --follow'],
    [[ID, '--resume', 'f'], '--resume goes with --follow'],
    [[ID, '--since', '1h', '--page', '1'], '--since and --page exclude each other'],
  ])('%j', async (words, complaint) => {
    const stage = await show(() => logOf(1));
    const { code, stderr, requests } = await stage.world.cli(['instances', 'events', ...words]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(complaint);
  });
});

describe('instances events without --follow', () => {
  test('--since and --type read as much as they need, newest first', async () => {
    const stage = await show(() => [event('b', 900, 'BILLING'), ...logOf(850)]);
    const since = await stage.world.cli([
      ...['instances', 'events', ID, '--since', '2026-01-15T12:14:09Z', '-q'],
    ]);
    expect(since.stdout).toBe('b\ne850\ne849\n');
    expect(since.requests).toHaveLength(1);
    const type = await stage.world.cli(['instances', 'events', ID, '--type', 'billing', '-q']);
    expect(type.stdout).toBe('b\n');
    expect(type.requests).toHaveLength(9);
  });
});
