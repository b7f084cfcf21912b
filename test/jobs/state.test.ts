import { describe, expect, test } from 'vitest';
import {
  type Driver,
  type Happened,
  type JobState,
  next,
  type Observation,
  type Situation,
  type Step,
  stateOf,
} from '../../src/jobs/state.ts';

/** A job of `run` whose command was started. */
const JOB: Happened = {
  on: false,
  here: false,
  started: true,
  shown: true,
  exit_code: null,
  collected: false,
  lostReported: false,
  kept: null,
  stopRequested: false,
  ending: false,
  ended: false,
};
const FRESH: Happened = { ...JOB, started: false, shown: false };
/** A job whose driver was killed beside the request that starts the command. */
const HALF: Happened = { ...JOB, shown: false };
const DONE: Happened = { ...JOB, exit_code: 0, collected: true };
const HERE: Happened = { ...JOB, here: true };
/** The instance of a failed command is kept for a person, or for its results. */
const FOR_PERSON: Happened = { ...DONE, kept: 'command' };
const FOR_RESULTS: Happened = { ...JOB, kept: 'results' };
const HUNG_UP = { interrupt: 'hangUp' } as const;
const ARMED = { isArmed: true } as const;
const NOW: Situation = {
  time: 'early',
  isLastTry: false,
  interrupt: 'none',
  isArmed: false,
  isInterrupted: false,
  isCopied: false,
  skipsResults: false,
  keepsOnFailure: false,
  keepsForResults: true,
  isKept: false,
  failed: 'none',
};
/** This computer slept past the deadline. */
const SLEPT = { time: 'past', isLastTry: true } as const;
/** A path of `--fetch` is missing, although the command has written something. */
const WRONG = { failed: 'missing' } as const;
const EMPTY_BUT_WANTED = { failed: 'nothing', keepsOnFailure: true } as const;
const STOPPED = { ...WRONG, isInterrupted: true } as const;
const ABSENT: Observation = { kind: 'absent' };
const RUNNING: Observation = { kind: 'running' };
const LOST: Observation = { kind: 'lost' };
const AWAY: Observation = { kind: 'unreachable' };
const OVER: Observation = { kind: 'gone', isOver: true };
const ERROR: Observation = { kind: 'gone', isOver: false };
const exited = (code: number): Observation => ({ kind: 'exited', code });

describe('the state of a job', () => {
  test.each<[string, Happened, Observation, JobState]>([
    ['before the start', FRESH, ABSENT, { kind: 'preparing' }],
    ["beside another job's folder", FRESH, exited(0), { kind: 'preparing' }],
    ['after the folder was emptied', JOB, ABSENT, { kind: 'lost' }],
    ['after a start that never arrived', HALF, ABSENT, { kind: 'preparing' }],
    ['after a start without a response', HALF, RUNNING, { kind: 'running' }],
    ['after it and a restart', HALF, LOST, { kind: 'lost' }],
    ['after it, out of reach', HALF, AWAY, { kind: 'unreachable' }],
    ['with a running command', JOB, RUNNING, { kind: 'running' }],
    ['without a supervisor', JOB, LOST, { kind: 'lost' }],
    ['out of reach', JOB, AWAY, { kind: 'unreachable' }],
    ['after an exit', JOB, exited(3), { kind: 'exited', code: 3, isReachable: true }],
    ['with a stored code', DONE, LOST, { kind: 'exited', code: 0, isReachable: true }],
    ['with a stored code, away', DONE, AWAY, { kind: 'exited', code: 0, isReachable: false }],
    ['after an end elsewhere', DONE, OVER, OVER as JobState],
    ['in ERROR', FRESH, ERROR, ERROR as JobState],
    ['after its end', { ...JOB, ended: true }, RUNNING, { kind: 'ended' }],
  ])('is known %s', (_what, job, seen, state) => {
    expect(stateOf(job, seen)).toEqual(state);
  });
});

type Row = [string, Driver, Happened, Observation, Partial<Situation>, Step];

describe('the next step', () => {
  test.each<Row>([
    ['starts a new job', 'run', FRESH, ABSENT, {}, 'start'],
    ['starts the job of a killed run', 'attach', FRESH, ABSENT, {}, 'start'],
    ['never starts one of --here', 'attach', { ...FRESH, here: true }, ABSENT, {}, 'end'],
    ['ends the instance of a killed run', 'reap', FRESH, ABSENT, {}, 'end'],
    ['ends it after a failed start', 'run', FRESH, ABSENT, { failed: 'start' }, 'end'],
    ['ends it on Ctrl-C', 'run', FRESH, ABSENT, { interrupt: 'first' }, 'end'],
    ['ends it near the deadline', 'run', FRESH, ABSENT, { time: 'near' }, 'end'],
    ['obeys jobs stop', 'run', { ...FRESH, stopRequested: true }, ABSENT, {}, 'end'],
    ['leaves a new job on Ctrl-C', 'attach', FRESH, ABSENT, { interrupt: 'first' }, 'leave'],
    ['never starts twice', 'attach', JOB, ABSENT, {}, 'collect'],
    ['never starts what may have left', 'attach', HALF, ABSENT, {}, 'end'],
    ['nor does the run itself', 'run', HALF, ABSENT, {}, 'end'],
    ['ends an instance without a start', 'reap', HALF, ABSENT, {}, 'end'],
    ['follows a start without a response', 'attach', HALF, RUNNING, {}, 'follow'],
  ])('before the command %s: %s', (_what, driver, job, seen, now, step) => {
    expect(next(job, stateOf(job, seen), driver, { ...NOW, ...now })).toBe(step);
  });

  test.each<Row>([
    ['follows', 'run', JOB, RUNNING, {}, 'follow'],
    ['leaves a detached job', 'detach', JOB, RUNNING, {}, 'leave'],
    ['leaves a running job', 'reap', JOB, RUNNING, {}, 'leave'],
    ['stops the command', 'stop', JOB, RUNNING, {}, 'stop'],
    ['interrupts near the deadline', 'reap', JOB, RUNNING, { time: 'near' }, 'interrupt'],
    ['interrupts on Ctrl-C', 'run', JOB, RUNNING, { interrupt: 'first' }, 'interrupt'],
    ['leaves on Ctrl-C', 'attach', JOB, RUNNING, { interrupt: 'first' }, 'leave'],
    ['copies what exists', 'run', JOB, RUNNING, { time: 'half' }, 'collect'],
    ['copies once after the deadline', 'reap', JOB, RUNNING, SLEPT, 'collect'],
    ['copies once after sleep', 'run', JOB, RUNNING, SLEPT, 'collect'],
    ['ends then', 'run', JOB, RUNNING, { ...SLEPT, isCopied: true }, 'end'],
    ['ends if it can not copy', 'run', JOB, RUNNING, { ...SLEPT, failed: 'cut' }, 'end'],
    ['ends at the deadline', 'run', JOB, RUNNING, { time: 'past' }, 'end'],
    ['ends if the terminal closes', 'run', JOB, RUNNING, HUNG_UP, 'end'],
    ['leaves it to a schedule', 'run', JOB, RUNNING, { ...HUNG_UP, ...ARMED }, 'leave'],
    ['waits for the link', 'run', JOB, AWAY, {}, 'follow'],
    ['interrupts it out of reach', 'run', JOB, AWAY, { interrupt: 'first' }, 'interrupt'],
    ['interrupts it once', 'run', JOB, AWAY, { interrupt: 'first', isInterrupted: true }, 'follow'],
    ['ends without hope for the link', 'run', JOB, AWAY, { failed: 'follow' }, 'end'],
    ['ends it if the terminal closes', 'run', JOB, AWAY, HUNG_UP, 'end'],
    ['leaves it', 'run', JOB, AWAY, { ...HUNG_UP, ...ARMED }, 'leave'],
    ['leaves an unreachable job', 'reap', JOB, AWAY, {}, 'leave'],
    ['ends it after the deadline', 'reap', JOB, AWAY, { time: 'past' }, 'end'],
    ['reports a lost command once', 'reap', JOB, LOST, {}, 'reportLost'],
    ['leaves it then', 'reap', { ...JOB, lostReported: true }, LOST, {}, 'leave'],
    ['copies from it before the end', 'reap', JOB, LOST, { time: 'near' }, 'collect'],
  ])('during the command %s', (_what, driver, job, seen, now, step) => {
    expect(next(job, stateOf(job, seen), driver, { ...NOW, ...now })).toBe(step);
  });

  test.each<Row>([
    ['copies the results', 'run', JOB, exited(0), {}, 'collect'],
    ['tries once after the deadline', 'reap', JOB, exited(0), SLEPT, 'collect'],
    ['ends then', 'reap', JOB, exited(0), { ...SLEPT, failed: 'cut' }, 'end'],
    ['tries once after sleep', 'run', JOB, exited(0), SLEPT, 'collect'],
    ['ends at the deadline', 'run', JOB, exited(0), { time: 'past' }, 'end'],
    ['ends a kept instance after sleep', 'run', FOR_PERSON, exited(1), SLEPT, 'end'],
    ['keeps none after sleep', 'run', DONE, exited(1), { ...SLEPT, keepsOnFailure: true }, 'end'],
    ['ends', 'run', DONE, exited(0), {}, 'end'],
    ['ends if the terminal closes', 'run', JOB, exited(0), HUNG_UP, 'end'],
    ['leaves it', 'run', JOB, exited(0), { ...HUNG_UP, ...ARMED }, 'leave'],
    ['copies after Ctrl-C', 'detach', JOB, exited(0), { interrupt: 'first' }, 'collect'],
    ['skips the results', 'stop', JOB, exited(0), { skipsResults: true }, 'end'],
    ['ends a failure that wrote nothing', 'stop', JOB, exited(1), { failed: 'nothing' }, 'end'],
    ['leaves a failure that wrote something', 'stop', JOB, exited(1), WRONG, 'leave'],
    ['leaves a stopped command that wrote', 'stop', JOB, exited(130), STOPPED, 'leave'],
    ['keeps it for 30 min', 'stop', JOB, exited(130), { ...STOPPED, isArmed: true }, 'keep'],
    [
      'leaves it then',
      'stop',
      FOR_RESULTS,
      exited(130),
      { ...STOPPED, ...ARMED, isKept: true },
      'leave',
    ],
    [
      'ends one that wrote nothing',
      'stop',
      JOB,
      exited(130),
      { ...STOPPED, failed: 'nothing' },
      'end',
    ],
    ['ends it at the deadline', 'stop', JOB, exited(130), { ...STOPPED, ...SLEPT }, 'end'],
    ['leaves a success of --here', 'stop', HERE, exited(0), WRONG, 'leave'],
    ['ends a failure of --here', 'stop', HERE, exited(1), WRONG, 'end'],
    ['ends a stopped one of --here', 'stop', HERE, exited(130), STOPPED, 'end'],
    ['ends it also if it succeeded', 'stop', HERE, exited(0), STOPPED, 'end'],
    [
      'keeps a lost one',
      'run',
      { ...JOB, collected: true },
      LOST,
      { keepsOnFailure: true },
      'keep',
    ],
    ['leaves a lost one that wrote', 'stop', JOB, LOST, WRONG, 'leave'],
    ['keeps a lost one that wrote', 'attach', JOB, LOST, WRONG, 'keep'],
    [
      'ends one that nothing keeps',
      'stop',
      JOB,
      exited(0),
      { ...WRONG, keepsForResults: false },
      'end',
    ],
    ['leaves a success with a wrong path', 'stop', JOB, exited(0), WRONG, 'leave'],
    ['leaves a kept one with a wrong path', 'stop', FOR_RESULTS, exited(0), WRONG, 'leave'],
    ['ends after a success', 'reap', DONE, exited(3), { keepsOnFailure: true }, 'end'],
    [
      'keeps a failure',
      'run',
      { ...DONE, exit_code: 3 },
      exited(3),
      { keepsOnFailure: true },
      'keep',
    ],
    ['stays beside it', 'run', FOR_PERSON, exited(3), {}, 'stay'],
    ['leaves it to a schedule', 'run', FOR_PERSON, exited(3), ARMED, 'leave'],
    ['ends it on Ctrl-C', 'run', FOR_PERSON, exited(3), { interrupt: 'first' }, 'end'],
    ['leaves it to a person', 'reap', FOR_PERSON, exited(3), {}, 'leave'],
    ['ends it for a person', 'attach', FOR_PERSON, exited(3), {}, 'end'],
    ['keeps it out of reach', 'attach', FOR_PERSON, AWAY, {}, 'leave'],
    ['ends another one out of reach', 'attach', DONE, AWAY, {}, 'end'],
    ['keeps missing results', 'run', JOB, exited(0), WRONG, 'keep'],
    ['keeps them too', 'reap', JOB, exited(0), WRONG, 'keep'],
    ['ends a failure without results', 'run', JOB, exited(1), { failed: 'nothing' }, 'end'],
    ['keeps a success without them', 'run', JOB, exited(0), { failed: 'nothing' }, 'keep'],
    ['ends it too', 'reap', JOB, exited(1), { failed: 'nothing' }, 'end'],
    ['leaves a kept one', 'reap', FOR_RESULTS, exited(1), { failed: 'nothing' }, 'leave'],
    ['keeps it if wanted', 'run', JOB, exited(1), EMPTY_BUT_WANTED, 'keep'],
    ['keeps it if wanted', 'reap', JOB, exited(1), EMPTY_BUT_WANTED, 'keep'],
    ['keeps no results', 'run', JOB, exited(0), { failed: 'here', keepsForResults: false }, 'end'],
    ['tries in the next pass', 'reap', JOB, exited(0), { failed: 'here' }, 'leave'],
    ['copies kept results again', 'run', FOR_RESULTS, exited(0), {}, 'collect'],
    ['stays beside kept results', 'run', FOR_RESULTS, exited(0), { failed: 'here' }, 'stay'],
    ...(['run', 'attach'] as const).flatMap((driver): Row[] => {
      const [kept, there] = [FOR_RESULTS, exited(0)];
      const step = driver === 'run' ? 'stay' : 'leave';
      return [
        ['waits for no other wrong path', driver, kept, there, WRONG, step],
        ['stays beside one that it kept', driver, kept, there, { ...WRONG, isKept: true }, 'stay'],
      ];
    }),
    [
      'hands it over',
      'run',
      { ...FOR_RESULTS, stopRequested: true },
      exited(0),
      { failed: 'here' },
      'handOver',
    ],
    ['fetches nothing after an end', 'reap', { ...JOB, ending: true }, exited(0), {}, 'end'],
    ['reports an end elsewhere', 'reap', JOB, OVER, {}, 'report'],
    ['leaves ERROR to the deadline', 'reap', JOB, ERROR, {}, 'leave'],
    ['ends ERROR then', 'reap', JOB, ERROR, { time: 'past' }, 'end'],
    ['ends ERROR again', 'reap', { ...JOB, ending: true }, ERROR, {}, 'end'],
    ['ends ERROR', 'run', JOB, ERROR, {}, 'end'],
    ['leaves an ended job', 'attach', { ...JOB, ended: true }, RUNNING, {}, 'leave'],
  ])('after the command %s: %s', (_what, driver, job, seen, now, step) => {
    expect(next(job, stateOf(job, seen), driver, { ...NOW, ...now })).toBe(step);
  });

  const on = { on: true } as const;
  test.each<Row>([
    ['ends without a start', 'run', { ...FRESH, ...on }, ABSENT, { failed: 'start' }, 'end'],
    ['leaves at the deadline', 'run', { ...JOB, ...on }, RUNNING, { time: 'past' }, 'leave'],
    ['leaves results', 'run', { ...JOB, ...on }, exited(0), { failed: 'here' }, 'leave'],
    ['ends without results', 'run', { ...JOB, ...on }, exited(0), WRONG, 'end'],
    ['ends', 'reap', { ...DONE, ...on }, exited(0), {}, 'end'],
    ['ends without results at jobs stop', 'stop', { ...JOB, ...on }, exited(0), WRONG, 'end'],
    ['ends in ERROR', 'run', { ...JOB, ...on }, ERROR, {}, 'end'],
  ])('on an existing instance %s', (_what, driver, job, seen, now, step) => {
    expect(next(job, stateOf(job, seen), driver, { ...NOW, ...now })).toBe(step);
  });
});
