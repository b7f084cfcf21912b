import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Computer,
  createComputer,
  heard,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { envelope, type Service, startService } from '../support/service.ts';
import { openTerminal } from '../support/terminal.ts';
import { event, logOf, pageOf, type TestEvent } from '../watch/pages.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const FOLLOW = ['instances', 'events', ID, '--follow', '--poll-interval', '500ms'];

let computer: Computer;
let service: Service;
/** Returns the log at the next read. `looks` counts the reads of its first page. */
let log: (looks: number) => readonly TestEvent[];
let looks = 0;

beforeEach(async () => {
  looks = 0;
  log = () => logOf(2);
  computer = await createComputer();
  service = await startService(({ path }) => {
    const query = new URL(path, 'http://service').searchParams;
    const page = Number(query.get('page') ?? 1);
    if (page === 1) looks += 1;
    const { data, meta } = pageOf(log(looks), page, Number(query.get('limit')));
    const body = envelope(data, 200, { ...meta, page });
    return { status: 200, body };
  });
});

const env = () => ({
  GPUCLOUD_BASE_URL: service.url,
  GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
});
const start = (...more: string[]) => computer.start([...FOLLOW, ...more], { env: env() });

describe('--follow in the built program', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)(
    'exits immediately on %s with %i, after printing whole lines',
    async (signal, code) => {
      const child = start('-o', 'jsonl');
      const outcome = outcomeOf(child);
      await heard(child, 'stdout', /e2/);
      child.kill(signal);
      const ended = await outcome;
      expect(ended.code).toBe(code);
      expect(
        ended.stdout
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line).id),
      ).toEqual(['e1', 'e2']);
    },
  );

  test('exits with 0 and no message when the pipe closes', async () => {
    log = (at) => logOf(at + 1);
    const line = `gpucloud ${FOLLOW.join(' ')} -q | head -1; echo "code \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await computer.bash(line, { env: env() });
    expect({ stdout, stderr }).toEqual({ stdout: 'e1\ncode 0\n', stderr: '' });
  });

  test('prints every event with --resume across kill -9', { timeout: 120_000 }, async () => {
    // The log grows with each page read, and is complete in the last run.
    let asked = 0;
    let isLastRun = false;
    log = () => {
      if (!isLastRun) asked += 1;
      const all = logOf(20 + 7 * asked);
      return isLastRun ? [event('end', all.length + 1, 'BILLING'), ...all] : all;
    };
    const file = join(computer.home, 'events.json');
    const noted = async (): Promise<string[]> => {
      const { instances } = JSON.parse(await readFile(file, 'utf8'));
      return (instances[ID]?.known ?? []).map(([id]: [string, number]) => id);
    };
    const printed = new Set<string>();
    const take = (stdout: string, before: readonly string[]) => {
      // Ignores the last line, which may be incomplete.
      const lines = stdout.split('\n').slice(0, -1);
      expect(new Set(lines).size).toBe(lines.length);
      expect(lines.filter((id) => before.includes(id))).toEqual([]);
      for (const id of lines) printed.add(id);
    };

    let before: string[] = [];
    for (const milliseconds of [3, 40, 700, 1_200, 15]) {
      const child = start('-q', '--resume', file);
      const outcome = outcomeOf(child);
      await heard(child, 'stdout', /e\d+\n/);
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
      child.kill('SIGKILL');
      take((await outcome).stdout, before);
      before = await noted();
      // Only written events may be stored as printed.
      expect(before.filter((id) => !printed.has(id))).toEqual([]);
    }
    isLastRun = true;
    const last = await outcomeOf(start('-q', '--resume', file, '--until', 'billing'));
    expect({ code: last.code, stderr: last.stderr }).toEqual({ code: 0, stderr: '' });
    take(last.stdout, before);
    const all = logOf(20 + 7 * asked).map(({ id }) => id);
    expect([...printed].sort()).toEqual(['end', ...all].sort());
    expect((await noted()).length).toBe(printed.size);
  });

  test('reports in a terminal that the command waits, and that the service is down', async () => {
    log = () => [];
    const terminal = openTerminal({
      program: RUNNER,
      args: [PROGRAM, ...FOLLOW],
      env: { ...computer.env, ...env() },
      cwd: computer.home,
      columns: 200,
    });
    try {
      await terminal.shows(/No events of .* yet\. Press Ctrl-C to stop\./);
      await service.close();
      await terminal.shows(/warning: Could not reach the service.*Trying again/);
      expect(terminal.screen().match(/Trying again/g)).toHaveLength(1);
      terminal.type('\u0003');
      expect(await terminal.ended()).toBe(130);
    } finally {
      await terminal.close();
    }
  });
});

test('stops reading pages of api --paginate when the pipe closes', async () => {
  log = () => logOf(5_000);
  const argv = `api GET /instances/${ID}/events -f limit=10 --paginate -o jsonl`;
  const line = `gpucloud ${argv} | head -1; echo "code \${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await computer.bash(line, { env: env() });
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/^\{.*\}\ncode 0\n$/),
    stderr: '',
  });
  expect(service.requests.length).toBeLessThan(400);
});

test('exits with 130 immediately on SIGINT during a long pause of --follow', async () => {
  log = (at) => logOf(at);
  const words = FOLLOW.map((word) => (word === '500ms' ? '1h' : word));
  const child = computer.start([...words, '-q'], { env: env() });
  await heard(child, 'stdout', /e1/);
  child.kill('SIGINT');
  // The pause would last an hour.
  expect(await once(child, 'close')).toEqual([130, null]);
});
