import { CliError } from '../../src/errors.ts';
import type { Clock } from '../../src/system/clock.ts';
import { type Cursor, createCursor } from '../../src/watch/cursor.ts';
import { type FollowedLog, follow } from '../../src/watch/follow.ts';
import { createFollower, type Follower } from '../../src/watch/follower.ts';
import type { ReadPage } from '../../src/watch/log-walk.ts';
import { fc } from '../support/random.ts';
import { type Happening, type SimulatedEvent, SimulatedLog, Unreadable } from './simulated-log.ts';

/** A small limit, so that a short log exceeds the cursor. */
export const KEPT = 24;

/** The changes of a log while it is followed. */
export interface LogStory {
  readonly limit: number;
  readonly before: readonly Happening[];
  /** One step per page read, and one per pause. */
  readonly steps: readonly (readonly Happening[])[];
}

export interface Story {
  readonly logs: readonly LogStory[];
  /** Stops the program after this many events, gracefully or by a kill between two lines. */
  readonly restarts: readonly { readonly after: number; readonly killed: boolean }[];
}

export type MakeFollower = (parts: {
  read: ReadPage<SimulatedEvent>;
  cursor: Cursor;
  clock: Clock;
}) => Follower<SimulatedEvent>;

const rightFollower: MakeFollower = (parts) => createFollower(parts);

interface Line {
  readonly log: number;
  readonly event: SimulatedEvent;
  /** The run that printed the event. */
  readonly run: number;
}

/** Plays a story to its end, and returns the promises that the follower broke. */
export async function brokenPromises(
  story: Story,
  make: MakeFollower = rightFollower,
): Promise<string[]> {
  const logs = story.logs.map(({ limit, before }, at) => {
    const log = new SimulatedLog(`${'abc'[at]}`, limit);
    for (const what of before) log.happen(what);
    return log;
  });
  const steps = story.logs.map(({ steps: each }) => [...each]);
  const step = (at: number) => {
    for (const what of steps[at]?.shift() ?? []) logs[at]?.happen(what);
  };

  const lines: Line[] = [];
  const gaps = new Set<number>();
  const noted = new Set<string>();
  /** Events printed but not saved before the kill; they may be printed again. */
  const again = new Set<string>();
  let saved = logs.map((): string | undefined => undefined);
  const restarts = [...story.restarts];
  let now = 0;
  let run = 0;

  for (let goesOn = true; goesOn; run += 1) {
    const stop = new AbortController();
    let quiet = 0;
    let killed = false;
    const unsaved = new Set<string>();
    const cursors = saved.map((text) =>
      createCursor(text === undefined ? undefined : JSON.parse(text), { kept: KEPT }),
    );
    const clock: Clock = {
      now: () => now,
      monotonic: () => now,
      random: () => 0.5,
      async sleep(milliseconds) {
        const isOver = steps.every((left) => left.length === 0);
        for (const at of logs.keys()) step(at);
        now += isOver ? 70_000 : milliseconds;
        if (isOver) for (const log of logs) log.recover();
        quiet += isOver ? 1 : 0;
        // Leaves time for several searches for late events.
        if (quiet > 3) {
          goesOn = false;
          stop.abort();
        }
        stop.signal.throwIfAborted();
      },
    };
    const followed = logs.map((log, at) => {
      const follower = make({
        cursor: cursors[at] ?? createCursor(),
        clock,
        async read(page) {
          step(at);
          try {
            return log.page(page);
          } catch (error) {
            if (!(error instanceof Unreadable)) throw error;
            throw new CliError('unreachable', error.message, { retryable: true });
          }
        },
      });
      // A program that starts during an outage exits at once. This simulates restarting it until
      // the outage is over.
      return { ...follower, at, hasStarted: () => true };
    });
    const stream = follow<FollowedLog<SimulatedEvent> & { at: number }, SimulatedEvent>({
      logs: followed,
      clock,
      signal: stop.signal,
      interval: 2_000,
      each: (all, work) => Promise.all(all.map(work)),
      shows: () => true,
      isLast: () => false,
      flush: async () => !killed,
      async onTaken() {
        saved = cursors.map((cursor) => JSON.stringify(cursor.saved()));
        for (const id of unsaved) noted.add(id);
        unsaved.clear();
      },
      report: {
        lost: () => undefined,
        back: () => undefined,
        gone: () => undefined,
        looked: () => undefined,
        gap: (log) => void gaps.add(log.at),
      },
    });
    for await (const { log, event } of stream) {
      lines.push({ log: log.at, event, run });
      unsaved.add(event.id);
      const restart = restarts[0];
      if (restart === undefined || lines.length < restart.after) continue;
      restarts.shift();
      if (restart.killed) {
        killed = true;
        for (const id of unsaved) again.add(id);
        break;
      }
      stop.abort();
    }
  }
  return logs.flatMap((log, at) => {
    const own = lines.filter((line) => line.log === at);
    return broken({
      log,
      lines: own,
      isGapTold: gaps.has(at),
      again,
      noted,
      isExchanged: hasExchange(story.logs[at]),
    });
  });
}

interface Played {
  readonly log: SimulatedLog;
  readonly lines: readonly Line[];
  readonly isGapTold: boolean;
  readonly again: ReadonlySet<string>;
  readonly noted: ReadonlySet<string>;
  /** Whether the log gained and lost events between two pages. */
  readonly isExchanged: boolean;
}

function hasExchange(story: LogStory | undefined): boolean {
  const has = (step: readonly Happening[], kind: Happening['kind']) =>
    step.some((what) => what.kind === kind);
  return story?.steps.some((step) => has(step, 'arrive') && has(step, 'prune')) === true;
}

function broken({ log, lines, isGapTold, again, noted, isExchanged }: Played): string[] {
  const printed = new Map<string, Line[]>();
  for (const line of lines) {
    printed.set(line.event.id, [...(printed.get(line.event.id) ?? []), line]);
  }
  const wrong: string[] = [];

  const ever = [...log.events, ...log.pruned];
  for (const event of log.events) {
    if (printed.has(event.id)) continue;
    const newer = ever.filter(({ time }) => time >= event.time).length - 1;
    // The follower doesn't search so far back, and couldn't distinguish the event from forgotten
    // events.
    if ((event.late || log.shuffles > 0) && newer >= KEPT) continue;
    wrong.push(`lost: ${event.id} of ${event.time}`);
  }
  for (const [id, copies] of printed) {
    const inOneRun = new Set(copies.map(({ run }) => run)).size < copies.length;
    if (inOneRun || (copies.length > 1 && !again.has(id))) wrong.push(`doubled: ${id}`);
  }
  if (log.shuffles > 0) return wrong;

  const vanished = log.pruned.filter(({ id, late }) => !late && !printed.has(id));
  const isNoticed = vanished.some(
    ({ id, time }) =>
      // Pages of simultaneous events look alike if the log lost as many as it gained between two
      // pages.
      wasFollowed(id, isExchanged ? time : Number.POSITIVE_INFINITY, lines, noted) &&
      lines.some(({ event }) => event.time > time),
  );
  if (isNoticed && !isGapTold) {
    wrong.push(`a gap that was not told: ${vanished.map(({ id }) => id).join(' ')}`);
  }
  let newest: SimulatedEvent | undefined;
  for (const [first] of printed.values()) {
    if (first === undefined) continue;
    const { event } = first;
    if (newest !== undefined && event.time < newest.time && !event.late) {
      wrong.push(`out of order: ${event.id} of ${event.time} after ${newest.id}`);
    }
    if (newest === undefined || event.time >= newest.time) newest = event;
  }
  return wrong;
}

/**
 * Whether an earlier event was saved as printed, so that the follower must notice the loss of this
 * one.
 */
function wasFollowed(
  id: string,
  before: number,
  lines: readonly Line[],
  noted: ReadonlySet<string>,
): boolean {
  const number = (name: string) => Number(name.slice(1));
  return lines.some(
    ({ event }) => noted.has(event.id) && number(event.id) < number(id) && event.time < before,
  );
}

const count = (max: number) => fc.integer({ min: 1, max });

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('arrive' as const),
      count: fc.oneof({ weight: 4, arbitrary: count(4) }, { weight: 1, arbitrary: count(20) }),
      later: fc.nat(3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('late' as const),
      depth: count(KEPT),
      tie: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), count: count(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('size' as const), limit: count(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('outage' as const), readings: count(4) }) },
);

const steps = (what: fc.Arbitrary<Happening>) =>
  fc.array(fc.array(what, { maxLength: 2 }), { maxLength: 30 });

function logStory(what: fc.Arbitrary<Happening>): fc.Arbitrary<LogStory> {
  return fc.record({
    limit: count(9),
    before: fc
      .array(what, { maxLength: 8 })
      .map((all) => all.filter((one) => one.kind !== 'outage')),
    steps: steps(what),
  });
}

function storyOf(what: fc.Arbitrary<Happening>): fc.Arbitrary<Story> {
  return fc.record({
    logs: fc.array(logStory(what), { minLength: 1, maxLength: 2 }),
    restarts: fc.array(fc.record({ after: fc.nat(80), killed: fc.boolean() }), { maxLength: 3 }),
  });
}

/** Generates stories with every change that the promise covers. */
export const anyStory = storyOf(happening);

/** Generates stories in which simultaneous events change their order. */
export const anyShuffledStory = storyOf(
  fc.oneof(
    { weight: 5, arbitrary: happening },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('shuffle' as const) }) },
  ),
);
