import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { afterLine } from '../../src/jobs/remote/after-line.ts';
import { ensureUser } from '../../src/jobs/remote/failed-ssh.ts';
import { follow, offsetsOf } from '../../src/jobs/remote/follow.ts';
import { readFrames } from '../../src/jobs/remote/frames.ts';
import { observed, probe } from '../../src/jobs/remote/probe.ts';
import { createRemoteShell, lastOf, type RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import {
  exitOf,
  FOLDER,
  FOLLOWING,
  GONE,
  START,
  STARTED,
  supervisorOf,
} from '../../src/jobs/remote/supervisor.ts';
import { within } from '../../src/jobs/remote/within.ts';
import { interruptCommand } from '../../src/jobs/stages/follow-to-end.ts';
import { repeated } from '../../src/jobs/stages/repeated.ts';
import { startCommand } from '../../src/jobs/stages/start-command.ts';
import type { Clock } from '../../src/system/clock.ts';
import { startPiped } from '../../src/system/programs.ts';
import { manualClock } from '../support/clock.ts';
import { localShell } from './local-shell.ts';

const never = new AbortController().signal;
const over = new CliError('terminated', 'Terminated.');

/** Simulates an instance that answers every request with this shell script. */
function instance(answer: string) {
  const endpoint = { id: 'an-id', host: '192.0.2.1', port: 22, user: 'root' };
  return createRemoteShell(
    endpoint,
    { knownHosts: '/dev/null', options: [], words: [] },
    {
      startPiped: () => startPiped({ file: 'sh', args: ['-c', answer], env: process.env }, 'linux'),
    },
  );
}

async function* pieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

test.each([
  ['a text in single bytes', 'ошибка', 'ошибка'],
  ['the end of a long text', `a${'b'.repeat(8_000)}`, 'b'.repeat(8_000)],
])('keeps %s', async (_what, text, kept) => {
  const bytes = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
  expect(await lastOf(Readable.from(bytes))).toBe(kept);
});

test.each([
  [0, { exit_code: 0, setup_exit_code: null }],
  [255, { exit_code: 255, setup_exit_code: null }],
  [1000, { exit_code: 125, setup_exit_code: 0 }],
  [1001, { exit_code: 125, setup_exit_code: 1 }],
  [1255, { exit_code: 125, setup_exit_code: 255 }],
])('reads the stored exit code %i', (code, exit) => {
  expect(exitOf(code)).toEqual(exit);
});

describe('readFrames', () => {
  async function framesIn(text: string, size = text.length) {
    const printed = { out: '', err: '' };
    const end = await readFrames(pieces(text, size), {
      async onBytes(from, bytes) {
        printed[from] += Buffer.from(bytes).toString();
      },
    });
    return { ...printed, end };
  }

  test.each([1, 2, 3, 100])('parses frames split into pieces of %i bytes', async (size) => {
    const text = 'o 4\na\nxle 2\nb.o 1\n!x 7\nignored';
    expect(await framesIn(text, size)).toEqual({ out: 'a\nxl!', err: 'b.', end: { exitCode: 7 } });
  });

  test.each([
    ['x 0', { exitCode: 0 }],
    ['x 137', { exitCode: 137 }],
    ['x 003 full', { exitCode: 3, isDiskFull: true }],
    ['x lost', { exitCode: undefined }],
    ['x now', { exitCode: undefined, isRunning: true }],
    [
      'g 2 50 1000 24564\nx 3',
      { exitCode: 3, gpu: { busy_percent: 25, peak_memory_mib: 1000, memory_total_mib: 24564 } },
    ],
    // The command may write anything to the file.
    ['g rm -rf /\nx 0', { exitCode: 0 }],
    ['t 20 100\nx 0', { exitCode: 0, took: { setup: 20, command: 100 } }],
    ['t -1 100\nx 0', { exitCode: 0 }],
    ['t 20 100 1\nx 0', { exitCode: 0 }],
    ['g t 20 100\nx 0', { exitCode: 0 }],
    ['.', undefined],
  ])('parses the last frame %j', async (line, end) => {
    expect((await framesIn(`.\n${line}\n`)).end).toEqual(end);
  });

  test.each([
    ['z 3\n', 'an unknown frame: z 3'],
    ['o 3x\n', 'an unknown frame'],
    ['xx 3\n', 'an unknown frame: xx 3'],
    ['at 20 100\n', 'an unknown frame: at 20 100'],
    [`${'o'.repeat(100)}\n`, 'an unknown frame'],
    ['o'.repeat(101), 'a line is too long'],
  ])('rejects the output %j of another program', async (text, rule) => {
    await expect(framesIn(text)).rejects.toThrow(rule);
  });
});

describe('afterLine', () => {
  async function passedOn(text: string, size: number) {
    const chunks: string[] = [];
    for await (const chunk of afterLine(pieces(text, size), 'mark')) chunks.push(String(chunk));
    return chunks;
  }

  test.each([1, 3, 1000])("skips a login shell's greeting in pieces of %i bytes", async (size) => {
    const greeting = 'Welcome to mar\n'.repeat(20);
    const chunks = await passedOn(`${greeting}mark\none\nmark\ntwo`, size);
    expect(chunks.join('')).toBe('one\nmark\ntwo');
  });

  test('withholds output until the marker line is complete', async () => {
    expect(await passedOn('mark\n', 1000)).toEqual(['']);
    expect(await passedOn('mark', 1000)).toEqual([]);
  });
});

describe('a failed request to the instance', () => {
  const cut = 'echo first >&2; echo "Connection reset by peer" >&2; exit 255';
  const odd = 'echo "sh: not found" >&2; exit 1';
  const full = 'for name in a b; do echo "$name: No space left on device" >&2; done; exit 1';
  const other = 'echo "Host key verification failed." >&2; exit 255';
  const start = (answer: string) =>
    startCommand(instance(answer), { words: ['true'], variables: [] }, 'job', never);
  const requests = {
    'Could not read the output: ': (answer: string) =>
      offsetsOf(instance(answer), ['-c', 1], never),
    'Could not interrupt the command: ': (answer: string) =>
      interruptCommand(instance(answer), never),
    'Could not start the command: ': start,
  };

  describe.each(Object.entries(requests))('%s', (what, request) => {
    test.each([
      ['a cut connection', cut, 'Connection reset by peer', true],
      ['a failed script', odd, 'sh: not found', false],
      ['a new host key', other, 'Host key verification failed.', false],
      ['no message', 'exit 3', '3', false],
      ['a full disk', full, 'a: No space left on device', false],
    ])('rejects a request with the reason after %s', async (_why, answer, reason, retryable) => {
      const fault = await request(answer).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(fault).toMatchObject({ failure: 'refused', retryable });
      expect(String(fault)).toContain(what);
      expect(String(fault)).toContain(reason);
    });
  });

  test("returns the reason if the job's state can't be read", async () => {
    expect(await probe(instance(cut), never)).toBe('Connection reset by peer');
    expect(await probe(instance('exit 3'), never)).toBe('ssh exited with 3');
    expect(await probe(instance('echo "Please wait."; exit 3'), never)).toBe('Please wait.');
    expect(await probe(instance(PROBED), never)).toBe('gpucloud-run ready');
  });

  test("rejects with the signal's abort reason", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(over), 50);
    const command = { words: ['true'], variables: [] };
    const requests = [
      probe(instance('exec sleep 60'), stop.signal),
      startCommand(instance('exec sleep 60'), command, 'job', stop.signal),
    ];
    const rejected = { status: 'rejected', reason: over };
    expect(await Promise.allSettled(requests)).toEqual([rejected, rejected]);
    await expect(instance('exit 0').start('', [], stop.signal)).rejects.toBe(over);
  });

  test('reports that ssh is missing on this computer', async () => {
    const shell = createRemoteShell(
      { id: 'an-id', host: '192.0.2.1', port: 22, user: 'root' },
      { knownHosts: '/dev/null', options: [], words: [] },
      { startPiped: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOENT' })) },
    );
    await expect(shell.start('', [], never)).rejects.toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('ssh is not on PATH'),
    });
  });
});

test('returns once the instance confirms that the command has started', async () => {
  const answer = `cat >/dev/null; echo Welcome; echo '${STARTED}'; exec sleep 60`;
  await startCommand(instance(answer), { words: ['true'], variables: [] }, 'job', never);
});

test('starts nothing if the script is cut off', async () => {
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-run-'));
  const supervisor = supervisorOf({ words: ['touch', 'ran'], variables: [] }, 'a job.1');
  for (const [text, made] of [
    [supervisor.slice(0, -10), []],
    [supervisor, ['started', 'started/a-job-1']],
  ] as const) {
    const running = await localShell(home, ['sh']).start(START, [], never, text);
    running.stdout.resume();
    expect((await running.ended) === 0).toBe(made.length > 0);
    const names = await readdir(join(home, FOLDER), { recursive: true });
    expect(names.filter((name) => name.startsWith('started')).sort()).toEqual(made);
  }
  await rm(home, { recursive: true });
});

/** The output of a probe. */
const PROBED = "echo 'gpucloud-run STATE'; echo 'gpucloud-run home /root'; echo gpucloud-run ready";

test('closes stdin, which a login shell may read to its end', async () => {
  const answer = `cat; ${PROBED.replace('STATE', 'none')}`;
  expect(await probe(instance(answer), never)).toMatchObject({ state: 'none' });
  const offsets = 'cat; echo gpucloud-run out 1; echo gpucloud-run err 2';
  expect(await offsetsOf(instance(offsets), ['-n', 1], never)).toEqual({ out: 1, err: 2 });
});

test('prints both outputs in turns of at most 1 MiB', async () => {
  const home = await mkdtemp(join(tmpdir(), 'gpucloud-turns-'));
  try {
    await mkdir(join(home, FOLDER));
    await writeFile(join(home, FOLDER, 'out'), Buffer.alloc(2_500_000));
    await writeFile(join(home, FOLDER, 'err'), 'e');
    const turns: { from: string; bytes: number }[] = [];
    await followed(localShell(home, ['sh']), {
      onCut: ({ reason }) => Promise.reject(new Error(reason)),
      async print(from, { length }) {
        const last = turns.at(-1);
        if (last?.from === from) last.bytes += length;
        else turns.push({ from, bytes: length });
      },
    });
    expect(turns).toEqual([
      { from: 'out', bytes: 2 ** 20 },
      { from: 'err', bytes: 1 },
      { from: 'out', bytes: 2_500_000 - 2 ** 20 },
    ]);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});

test('reads the offsets of the last lines of both outputs', async () => {
  const answer = 'echo Welcome; echo gpucloud-run out 12; echo gpucloud-run err 0';
  expect(await offsetsOf(instance(answer), ['-n', 2], never)).toEqual({ out: 12, err: 0 });
  const half = offsetsOf(instance('echo gpucloud-run out 12'), ['-n', 2], never);
  await expect(half).rejects.toThrow('Could not read the output: exit code 0');
  const gone = {
    failure: 'notFound',
    message: "The command's output is no longer on the instance.",
  };
  await expect(offsetsOf(instance(`echo '${GONE}'`), ['-n', 2], never)).rejects.toMatchObject(gone);
});

test.each([
  ['running', { state: 'running', exitCode: undefined }, { kind: 'running' }],
  ['exited 3', { state: 'exited', exitCode: 3 }, { kind: 'exited', code: 3 }],
  ['exited 003 full', { state: 'exited', exitCode: 3 }, { kind: 'exited', code: 3 }],
  // A full disk may have lost it.
  ['exited', { state: 'exited', exitCode: undefined }, { kind: 'lost' }],
  ['none', { state: 'none', exitCode: undefined }, { kind: 'absent' }],
  ['lost', { state: 'lost', exitCode: undefined }, { kind: 'lost' }],
] as const)('reads the state of a job: %s', async (line, state, seen) => {
  const found = await probe(instance(PROBED.replace('STATE', line)), never);
  expect(observed(state)).toEqual(seen);
  expect(found).toEqual({
    ...state,
    isSetup: false,
    gpu: null,
    home: '/root',
    hasRsync: false,
    hasTar: false,
  });
});

test('reads which user the instance names instead', () => {
  const box = { id: 'an-id', name: 'box' };
  const printed = 'Please login as the user "ubuntu" rather than the user "root".';
  const error = new CliError('refused', `box refused to sign in: ${printed}`, {
    resource: 'an-id',
    hint: 'sign in as that user: --user ubuntu',
  });
  expect(() => ensureUser(printed, box)).toThrow(error);
  expect(() => ensureUser('Permission denied (publickey).', box)).not.toThrow();
});

test.each([
  ['a cut connection', true, false, [3_000, 15_000, 45_000], 4],
  ['a cut connection while allowed', true, true, [3_000, 15_000, 45_000, 45_000], 5],
  ['a refusal', false, true, [], 1],
])('repeats work after %s', async (_what, retryable, isAllowed, slept, attempts) => {
  const clock = manualClock();
  const cuts: CliError[] = [];
  let tries = 0;
  const fault = new CliError('refused', 'cut', { retryable });
  const work = async () => {
    tries += 1;
    if (tries < 5 || !isAllowed) throw fault;
    return 'done';
  };
  const onCut = isAllowed ? async (cut: CliError) => void cuts.push(cut) : undefined;
  const [end] = await Promise.allSettled([repeated(work, never, clock, onCut)]);
  expect(end).toMatchObject(tries === 5 ? { value: 'done' } : { reason: fault });
  expect({ slept: clock.slept, tries, cuts: cuts.length }).toEqual({
    ...{ slept, tries: attempts, cuts: isAllowed ? slept.length : 0 },
  });
});

/** Follows with a shell, and prints nothing, unless `more` differs. */
function followed(shell: RemoteShell, more: Partial<Parameters<typeof follow>[0]> = {}) {
  const how = { shell, offsets: { out: 0, err: 0 }, clock: manualClock(), signal: never };
  return follow({ ...how, print: async () => undefined, onCut: async () => undefined, ...more });
}

describe('following', () => {
  test('rejects the output of another program while following', async () => {
    const end = followed(instance(`echo '${FOLLOWING}'; echo hello`));
    await expect(end).rejects.toMatchObject({
      failure: 'notUnderstood',
      message: 'Could not read the output of the command: an unknown frame: hello.',
    });
  });

  test('marks a reason as new again after reconnecting', async () => {
    const [refused, connected] = ['echo refused >&2; exit 255', `echo '${FOLLOWING}'; exit 255`];
    const ended = `echo '${FOLLOWING}'; echo 'x 3'`;
    // The first connection interrupts nothing, so it is not reported.
    const answers = [connected, refused, refused, connected, refused, ended];
    const seen: (string | object)[] = [];
    const clock = manualClock();
    const start: RemoteShell['start'] = (...given) =>
      instance(answers.shift() ?? '').start(...given);
    const end = await followed(
      { ...instance(''), start },
      {
        clock,
        onCut: async (cut) => void seen.push(cut),
        onBack: () => void seen.push('back'),
      },
    );
    expect(end).toEqual({ exitCode: 3 });
    expect(seen).toEqual([
      { reason: '', isFirst: true, isNew: true },
      { reason: 'refused', isFirst: false, isNew: true },
      { reason: 'refused', isFirst: false, isNew: false },
      'back',
      { reason: '', isFirst: true, isNew: true },
      { reason: 'refused', isFirst: false, isNew: true },
      'back',
    ]);
    expect(clock.slept).toEqual([1_000, 2_000, 4_000, 1_000, 2_000]);
  });

  test('rejects with the error of a failed print while following', async () => {
    const answer = `echo '${FOLLOWING}'; echo 'o 1'; echo x; exec sleep 60`;
    const end = followed(instance(answer), { print: () => Promise.reject(over) });
    await expect(end).rejects.toBe(over);
  });
});

describe('a time limit', () => {
  /** Builds a clock whose sleeps pass at once or last until their signal. */
  const clock = (passes: boolean): Clock => ({
    ...manualClock(),
    sleep: (_time, signal) =>
      passes
        ? Promise.resolve()
        : new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
          }),
  });
  const work = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      setImmediate(() => resolve('done'));
    });
  const limit = { time: 1_000, late: () => new Error('late'), signal: never };

  test('rejects only work that exceeds the time limit, and then stops the clock', async () => {
    await expect(within(limit, clock(true), work)).rejects.toThrow('late');
    let isOver = false;
    const one = clock(false);
    const sleep: Clock['sleep'] = (time, signal) =>
      one.sleep(time, signal).finally(() => {
        isOver = true;
      });
    expect(await within(limit, { ...one, sleep }, work)).toBe('done');
    expect(isOver).toBe(true);
    const stopped = { ...limit, signal: AbortSignal.abort(over) };
    await expect(
      within(stopped, clock(false), async (signal) => signal.throwIfAborted()),
    ).rejects.toBe(over);
  });
});
