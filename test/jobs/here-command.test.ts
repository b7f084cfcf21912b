import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import { type LocalCommand, startHere } from '../../src/jobs/here/local-command.ts';
import type { Child, Signal } from '../../src/system/programs.ts';

const CTRL_C = new CliError('interrupted', 'Interrupted.');
const HUNG_UP = new CliError('hungUp', 'The terminal closed.');

interface Given {
  /** The stops that have aborted before the start, in their order. */
  readonly before?: readonly Stop[];
  readonly isTTY?: 'stdin' | 'stderr' | 'none';
  /** The signal to which the command exits, with 3. */
  readonly until?: Signal;
  readonly reason?: CliError;
  /** Why the command can't start. */
  readonly fault?: Error;
  /** Whether the command exits by itself. */
  readonly exits?: boolean;
}

const STOPS = ['first', 'near', 'half', 'asked', 'last'] as const;
type Stop = (typeof STOPS)[number];

/** Starts a command whose signals, pauses and messages are written down. */
function rig({ before = [], isTTY = 'none', until, reason = CTRL_C, fault }: Given) {
  const log: string[] = [];
  const stops = Object.fromEntries(STOPS.map((stop) => [stop, new AbortController()]));
  const abort = (stop: Stop) => stops[stop]?.abort(reason);
  for (const stop of before) abort(stop);
  let exit: (code: number) => void = () => undefined;
  const running = {
    ended: new Promise<number>((resolve) => {
      exit = resolve;
    }),
    isLate: false,
    kill(signal: Signal) {
      log.push(signal);
      if (signal === until) exit(3);
    },
  };
  const signals = Object.fromEntries(STOPS.map((stop) => [stop, stops[stop]?.signal]));
  const context = {
    start: async (child: Child) => {
      if (fault !== undefined) throw fault;
      log.push(JSON.stringify(child));
      return running;
    },
    interrupts: { first: signals.first },
    host: {
      stdin: { isTTY: isTTY === 'stdin' },
      stderr: { isTTY: isTTY === 'stderr', write: () => log.push('new line') },
    },
    err: {
      note: (text: string) => log.push(text.replaceAll('\ufdd0', '')),
      warn: (code: string, text: string) => log.push(`${code}: ${text}`),
    },
    clock: {
      async sleep(milliseconds: number, signal: AbortSignal) {
        log.push(`wait ${milliseconds}`);
        await setImmediate();
        signal.throwIfAborted();
      },
    },
  } as unknown as Context;
  const any = new AbortController();
  const own = { ...signals, any: any.signal } as never;
  const start = () => startHere({ words: ['train', '-x'] }, { HOST: 'a' }, 'job-1', own, context);
  return { log, abort, any, exit: (code: number) => exit(code), start };
}

/** Returns how a command ended so far. */
function endOf({ ended }: LocalCommand): Promise<number | undefined | 'runs'> {
  return Promise.race([ended, setImmediate('runs' as const)]);
}

const STARTED = '{"file":"train","args":["-x"],"env":{"HOST":"a"},"ownSignals":true}';
const NOTE = 'Interrupted the command. Ctrl-C again terminates job-1 without copying results.';
const NEAR = 'deadline_near: Interrupting the command: the deadline of job-1 is near.';
const ASKED = 'Stopping the command: gpucloud jobs stop was called.';

test.each<[Stop[], Given, string[], number | undefined | 'runs']>([
  [[], {}, [], 'runs'],
  [['first'], {}, ['SIGINT', NOTE], 'runs'],
  [['first'], { until: 'SIGINT' }, ['SIGINT', NOTE], 3],
  // Ctrl-C has reached the command.
  [['first'], { isTTY: 'stdin' }, [NOTE], 'runs'],
  [['first'], { isTTY: 'stderr' }, ['new line', NOTE], 'runs'],
  [['near'], {}, [NEAR, 'SIGINT'], 'runs'],
  [['near'], { isTTY: 'stderr', until: 'SIGINT' }, ['new line', NEAR, 'SIGINT'], 3],
  [['half'], { until: 'SIGTERM' }, ['SIGTERM', 'wait 10000'], undefined],
  [['half'], { until: 'SIGKILL' }, ['SIGTERM', 'wait 10000', 'SIGKILL', 'wait 10000'], undefined],
  [['asked'], { until: 'SIGINT' }, [ASKED, 'SIGINT', 'wait 10000'], 3],
  [
    ['asked'],
    { isTTY: 'stderr', until: 'SIGKILL' },
    [
      ...['new line', ASKED, 'SIGINT', 'wait 10000'],
      ...['SIGTERM', 'wait 10000', 'SIGKILL', 'wait 10000'],
    ],
    3,
  ],
  // Does not wait for the command.
  [['last'], {}, ['SIGTERM'], undefined],
  [['last'], { reason: HUNG_UP }, ['SIGHUP'], undefined],
  [['last', 'first', 'near', 'half', 'asked'], {}, ['SIGTERM'], undefined],
  [['first', 'near', 'last'], {}, ['SIGINT', NOTE, NEAR, 'SIGINT', 'SIGTERM'], undefined],
])('after %j with %j, a command of --here gets %j', async (stops, given, said, end) => {
  const early = rig({ ...given, before: stops });
  const late = rig(given);
  const command = await late.start();
  for (const stop of stops) late.abort(stop);
  const others = await early.start();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect({ log: late.log, end: await endOf(command) }).toEqual({ log: [STARTED, ...said], end });
  // Of several that came before the start, the last one counts.
  const atOnce = stops.length > 1 ? ['SIGTERM'] : said;
  expect({ log: early.log, end: await endOf(others) }).toEqual({ log: [STARTED, ...atOnce], end });
});

test('starts no command of --here after an interrupt', async () => {
  const { log, start, any } = rig({});
  any.abort(CTRL_C);
  await expect(start()).rejects.toBe(CTRL_C);
  expect(log).toEqual([]);
});

test('reports a command of --here that does not start', async () => {
  const { start } = rig({ fault: Object.assign(new Error('spawn'), { code: 'EACCES' }) });
  const said = { failure: 'runFailed', message: 'Could not start train: EACCES.' };
  await expect(start()).rejects.toMatchObject(said);
});

test.each<[Given, string[]]>([
  [{}, ['wait 300', 'SIGKILL']],
  [{ exits: true }, ['wait 300']],
])('ends a command of --here with %j by %j', async (given, said) => {
  const { log, start, exit } = rig({ ...given, until: 'SIGKILL' });
  const command = await start();
  const ended = command.end(300);
  if (given.exits) exit(0);
  await ended;
  expect(log).toEqual([STARTED, ...said]);
  expect(await command.ended).toBe(given.exits ? 0 : 3);
});
