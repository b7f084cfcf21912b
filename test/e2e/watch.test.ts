import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  type Computer,
  createComputer,
  heard,
  outcomeOf,
  PROGRAM,
  RUNNER,
} from '../support/program.ts';
import { type Answer, ok, type Service, startService } from '../support/service.ts';
import { openTerminal, type Terminal, type TerminalOptions } from '../support/terminal.ts';
import { until } from '../support/until.ts';

const CTRL_C = '\u0003';
const FRAME = '\u001b[?2026h';

/** A service whose instances the test controls. */
interface Instances {
  readonly service: Service;
  readonly ids: readonly string[];
  status: string;
  /** Replaces the response to each read of an instance. */
  answer: Answer | 'hangUp' | 'silence' | undefined;
  /** The ID of an instance that the service refuses to return. */
  refused: string | undefined;
}

/** Returns a 429 with a Retry-After in seconds. */
const busy = (seconds: number): Answer => ({
  status: 429,
  headers: { 'retry-after': String(seconds) },
  body: { statusCode: 429, message: 'too many', error: 'Too Many Requests' },
});

let computer: Computer;
let instances: Instances;
let terminal: Terminal | undefined;
/** The request count before the program starts. */
let asked = 0;

beforeEach(async () => {
  computer = await createComputer();
});
afterEach(() => {
  terminal = undefined;
});

const idOf = (at: number) => `${String(at).padStart(8, '0')}-1111-4222-8333-444455556666`;

/** Starts the service, and adds its instances to the journal. */
async function rented(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => idOf(at));
  const state: Omit<Instances, 'service'> = {
    ids,
    status: 'ACTIVE',
    answer: undefined,
    refused: undefined,
  };
  let seeding = true;
  const service = await startService(async ({ path }) => {
    if (path === '/users/me') return ok({ id: 'u1', email: 'a@example.com', balance: '10' });
    if (path === '/storage/drives') return ok(seeding ? ids.map(driveOf) : []);
    if (state.answer === 'silence') return new Promise(() => undefined);
    if (state.answer !== undefined) return state.answer;
    const id = path.split('/')[2] ?? '';
    if (id === state.refused) return busy(120);
    if (path.endsWith('/events?limit=5')) return ok([]);
    return ok({
      id,
      name: `box-${ids.indexOf(id)}`,
      status: state.status,
      price_per_hour_snapshot: '89.90',
      ip_address: '203.0.113.7',
      paid_until: '2099-01-01T00:00:00Z',
    });
  });
  instances = Object.assign(state, { service });
  // `list` adds all instances to the journal, since drives refer to them.
  const { code } = await computer.gpucloud(['instances', 'list'], { env: key() });
  expect(code).toBe(0);
  seeding = false;
}

const driveOf = (id: string) => ({ id: `of-${id}`, name: 'data', current_instance_id: id });

function key() {
  return { GPUCLOUD_API_KEY: 'svc_sk_test_0123456789', GPUCLOUD_BASE_URL: instances.service.url };
}

function watch(argv: readonly string[], options: Partial<TerminalOptions> = {}): Terminal {
  terminal = openTerminal({
    program: RUNNER,
    args: [PROGRAM, ...argv],
    env: { ...computer.env, ...key() },
    cwd: computer.home,
    ...options,
  });
  return terminal;
}

const LIST = ['instances', 'list', '--watch', '--interval', '500ms'];
const lastLine = (text: string) => text.split('\n').at(-1) ?? '';

describe('a live view in a terminal', () => {
  test('shows changes, adapts to a resized terminal, and leaves the last frame', async () => {
    await rented(2);
    instances.status = 'PROVISIONING';
    const shown = watch(LIST);
    await shown.shows(/box-1 .*PROVISIONING/);
    instances.status = 'ACTIVE';
    await shown.shows(/box-0 .*ACTIVE.*\n.*box-1 .*ACTIVE/);
    expect(shown.screen()).toMatch(
      /\n\nRead at \d\d:\d\d:\d\d, refreshing every 0.5 s. Press Ctrl-C to stop.$/,
    );

    shown.resize(40, 30);
    await shown.shows(new RegExp(`^NAME: box-0\nID: ${idOf(0)}\n`));
    shown.resize(120, 30);
    await shown.shows(/^NAME +ID .*\nbox-0 .*\nbox-1 .*\n\nRead at/);

    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    const left = shown.scrollback();
    expect(left).toMatch(/NAME +ID .*\nbox-0 .*ACTIVE.*\nbox-1 .*ACTIVE.*\n\nRead at [\d:]{8}\.$/);
    expect(left).not.toContain('error');
    expect(shown.cursor()).toEqual({ x: 0, y: left.split('\n').length });
    expect(shown.written()).not.toContain('\u001b[?25l');
  });

  test.each([
    ['before the first response', true, () => instances.service.requests.length >= asked + 3],
    ['between two reads', false, () => /Read at/.test(terminal?.screen() ?? '')],
    ['during a frame', false, () => (terminal?.written() ?? '').includes(FRAME)],
  ])('exits a live view with 130 on Ctrl-C %s', async (_when, silent, isThen) => {
    await rented(3);
    if (silent) instances.answer = 'silence';
    asked = instances.service.requests.length;
    const shown = watch(LIST);
    await shown.shows(isThen);
    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    expect(shown.scrollback()).not.toContain('error');
    const entered = shown.written().split('\u001b[?1049h').length;
    expect(shown.written().split('\u001b[?1049l')).toHaveLength(entered);
  });

  test.each([
    ['SIGTERM', 143, 'error: Terminated.'],
    ['SIGHUP', 129, 'error: The terminal closed.'],
  ])('restores the terminal of a live view after %s', async (signal, code, words) => {
    await rented(1);
    const shown = watch(LIST);
    await shown.shows(/Read at/);
    shown.kill(signal);
    expect(await shown.ended()).toBe(code);
    expect(shown.scrollback()).toMatch(/box-0 .*\n\nRead at [\d:]{8}\.\n/);
    expect(lastLine(shown.scrollback())).toBe(words);
  });

  test("shows the frame's age during an outage, and continues after it", async () => {
    await rented(2);
    const shown = watch(['instances', 'get', idOf(0), '--watch', '--interval', '500ms']);
    await shown.shows(/Status: +ACTIVE/);
    instances.answer = 'hangUp';
    await shown.shows(/Status: +ACTIVE[\s\S]*\nLast read [1-9]\d* s ago: [\s\S]*\sTrying again\.$/);
    instances.answer = undefined;
    instances.status = 'STOPPED';
    await shown.shows(/Status: +STOPPED[\s\S]*\nRead at [\d:]{8}, refreshing/);
  });

  test('shows the Retry-After pause, and exits immediately on Ctrl-C', async () => {
    await rented(1);
    const shown = watch(['instances', 'get', idOf(0), '--watch', '--interval', '500ms'], {
      columns: 200,
    });
    await shown.shows(/Status: +ACTIVE/);
    instances.answer = busy(120);
    await shown.shows(/, Retry-After: 120 s\)\. Trying again in 1[12]\d s\.$/);
    const asked = instances.service.requests.length;
    await shown.shows(/Status: +ACTIVE[\s\S]*\nLast read [1-9]\d* s ago: .* again in 11\d s\.$/);
    expect(instances.service.requests.length).toBe(asked);
    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    expect(lastLine(shown.scrollback())).toMatch(/^Last read .*Retry-After: 120 s\)\.$/);
  });

  test('releases the screen on Ctrl-Z, and restores it with fg', async () => {
    await rented(1);
    const shown = watch([], {
      program: 'bash',
      args: ['--norc', '--noprofile', '-i'],
      env: { ...computer.env, ...key(), PS1: '$ ', GPU: `${RUNNER} ${PROGRAM}` },
    });
    await shown.shows(/\$$/);
    shown.type(`$GPU ${LIST.join(' ')}\r`);
    await shown.shows(/^NAME.*\nbox-0 .*\n\nRead at/);
    shown.type('\u001a');
    await shown.shows(/Stopped[\s\S]*\n\$$/);
    expect(shown.screen()).not.toContain('NAME');
    shown.type('fg\r');
    await shown.shows(/^NAME.*\nbox-0 .*\n\nRead at/);
    shown.type(CTRL_C);
    await shown.shows(/box-0 .*\n\nRead at [\d:]{8}\.\n\$$/);
    shown.type('echo "it was $?"\r');
    await shown.shows(/it was 130/);
  });
});

describe("a live view in a terminal that can't redraw", () => {
  test('prints changed rows without escape sequences if TERM=dumb', async () => {
    await rented(2);
    const shown = watch(LIST, { term: 'dumb', columns: 120 });
    await shown.shows(/box-1 .*ACTIVE/);
    instances.status = 'STOPPED';
    await shown.shows(/box-0 .*ACTIVE.*\nbox-1 .*ACTIVE.*\n(box-\d .*STOPPED.*\n?){2}/);
    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    expect(shown.written()).not.toContain('\u001b');
  });

  // Only Linux reports how long a thread waited for a processor.
  test(
    'sleeps between reads if the terminal has no columns',
    needs('/proc/self/schedstat'),
    async () => {
      await rented(2);
      const shown = watch([], {
        program: 'bash',
        args: ['-c', `stty cols 0 rows 0; exec "$0" "$@"`, RUNNER, PROGRAM, ...LIST],
      });
      await shown.shows(() => /box-1[^\n]*\n/.test(shown.written()));
      const written = shown.written();
      const before = await sleptFor(shown.pid);
      const readings = instances.service.requests.length;
      await shown.shows(() => instances.service.requests.length > readings + 12);
      expect(shown.written()).toBe(written);
      // Twelve requests are four reads with three pauses of half a second. The program sleeps during
      // the pauses. A busy loop never sleeps: waiting for a processor does not count.
      expect((await sleptFor(shown.pid)) - before).toBeGreaterThan(750);
      shown.type(CTRL_C);
      expect(await shown.ended()).toBe(130);
    },
  );
});

/** Contains the nanoseconds that a thread ran and waited for a processor. */
const SCHEDULED = '/proc/self/schedstat';

/**
 * Returns the milliseconds that a process's main thread slept: it neither ran nor waited for a
 * processor.
 */
async function sleptFor(pid: number): Promise<number> {
  const text = await readFile(SCHEDULED.replace('self', `${pid}/task/${pid}`), 'utf8');
  const [ran = 0, waited = 0] = text.split(' ').map(Number);
  return performance.now() - (ran + waited) / 1e6;
}

describe('a watch without a terminal', () => {
  test.each(['--no-header', '--json'])(
    'exits with 0 after one more change once stdout closes, with flags: %s',
    async (format) => {
      await rented(1);
      const line = `gpucloud ${LIST.join(' ')} ${format} | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`;
      const ended = computer.bash(line, { env: key() });
      const before = instances.service.requests.length;
      // Each read is three requests.
      await until(() => instances.service.requests.length > before + 3);
      instances.status = 'STOPPED';
      const { stdout, stderr } = await ended;
      expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
    },
  );

  // Node's timers fire at once if the delay exceeds 24.8 days.
  test('does not send requests during a Retry-After pause of a year', async () => {
    await rented(1);
    const child = computer.start([...LIST, '-o', 'tsv'], { env: key() });
    await heard(child, 'stdout', /box-0/);
    instances.answer = busy(31_536_000);
    await heard(child, 'stderr', /warning: .* Trying again in 31536000 s\.\n/);
    const asked = instances.service.requests.length;
    // A busy loop would send many requests while this command runs.
    instances.answer = undefined;
    await computer.gpucloud(['instances', 'get', idOf(0)], { env: key() });
    expect(instances.service.requests.slice(asked)).toHaveLength(1);
    const end = outcomeOf(child);
    child.kill('SIGTERM');
    expect((await end).code).toBe(143);
  });
});

describe('instances wait in a terminal', () => {
  const WAIT = ['instances', 'wait', idOf(0), idOf(1), '--poll-interval', '500ms'];

  test('shows a line per instance, and suggests a terminate command after Ctrl-C', async () => {
    await rented(2);
    instances.status = 'PROVISIONING';
    const shown = watch(WAIT, { columns: 400 });
    await shown.shows(/^. box-0: PROVISIONING \(\d+ s\)\n {2}box-1: PROVISIONING \(\d+ s\)$/);
    instances.status = 'INSTALLING';
    await shown.shows(/^. box-0: INSTALLING \(\d+ s\)\n {2}box-1: INSTALLING \(\d+ s\)$/);
    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    expect(shown.scrollback()).toMatch(
      new RegExp(
        `^Interrupted. Stopped waiting for box-0 \\(${idOf(0)}\\), box-1 \\(${idOf(1)}\\). They may still be billing.\n` +
          `hint: .*terminate them with "gpucloud instances terminate box-0 box-1"$`,
      ),
    );
    expect(shown.written()).not.toContain('\u001b[?25l');
  });

  test.each([
    ['before the first response', true, () => instances.service.requests.length > asked],
    ['between two reads', false, () => /PROVISIONING/.test(terminal?.screen() ?? '')],
  ])('warns after Ctrl-C %s that the instance may be billing', async (_when, silent, isThen) => {
    await rented(2);
    instances.status = 'PROVISIONING';
    if (silent) instances.answer = 'silence';
    asked = instances.service.requests.length;
    const shown = watch(['instances', 'wait', idOf(0), '--poll-interval', '500ms'], {
      columns: 400,
    });
    await shown.shows(isThen);
    shown.type(CTRL_C);
    expect(await shown.ended()).toBe(130);
    expect(shown.scrollback()).toMatch(
      new RegExp(
        `Stopped waiting for box-0 \\(${idOf(0)}\\). ${silent ? 'It may still be' : 'It is'} billing.\nhint: .*"gpucloud instances terminate box-0"$`,
      ),
    );
  });
});
