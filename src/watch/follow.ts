import { type CliError, ensureCliError } from '../errors.ts';
import type { Clock } from '../system/clock.ts';
import type { Follower, Look as LogLook } from './follower.ts';
import type { DatedEvent, LogEvent, Walk } from './log-walk.ts';
import { poll, type Turn } from './poll.ts';
import { createOutage, createTransient, type Transient } from './transient.ts';

/** One of several logs that are followed as one stream. */
export interface FollowedLog<E extends LogEvent> extends Follower<E> {
  /**
   * Whether the log has ended. Called before each read. After `true`, the log is read one last
   * time, since a service may record an event after its cause.
   */
  hasEnded?(): Promise<boolean>;
}

interface FollowOptions<L extends FollowedLog<E>, E extends LogEvent> {
  readonly logs: readonly L[];
  readonly clock: Clock;
  /** Stops the stream after the events in progress have been marked as seen. */
  readonly signal: AbortSignal;
  /** Milliseconds between two rounds while events arrive. */
  readonly interval: number;
  /** Runs a callback for each log, a few at a time. */
  each<R>(logs: readonly L[], work: (log: L) => Promise<R>): Promise<R[]>;
  /** Whether to emit an event. Skipped events are never emitted. */
  shows(event: E): boolean;
  /** Whether this event is the last one to emit from its log. */
  isLast(event: E, log: L): boolean;
  /**
   * Flushes emitted events to the reader. Returns false if the reader is gone: then the last events
   * don't count as emitted, and the stream stops.
   */
  flush(): Promise<boolean>;
  /** Saves the position. Called when every emitted event is marked as seen. */
  onTaken(): Promise<void>;
  readonly report: FollowReport<L>;
}

/** Reports about the stream itself, such as outages and gaps. */
export interface FollowReport<L> {
  /** Reports that some logs can't be read for now. Called once per outage. */
  lost(logs: readonly L[], error: CliError): void;
  /** Reports the end of an outage and its length in milliseconds. */
  back(after: number): void;
  /** Reports a gap. `until`: time of the first event after it, in milliseconds since 1970. */
  gap(log: L, why: NonNullable<Walk<LogEvent>['gap']>, until: number): void;
  /** Reports an instance that the service no longer finds. The stream follows the other logs. */
  gone(log: L, error: CliError): void;
  /** Reports that all logs were read and how many events were emitted; the stream continues. */
  looked(shown: number): void;
}

interface FollowedEvent<L, E extends LogEvent> {
  readonly log: L;
  readonly event: E;
}

interface Seen<L, E extends LogEvent> {
  readonly log: L;
  readonly walk: LogLook<E>;
  readonly hasEnded: boolean;
}

interface Faulted<L> {
  readonly log: L;
  readonly error: CliError;
}

type Look<L, E extends LogEvent> = Seen<L, E> | Faulted<L>;

type Found<L, E extends LogEvent> = DatedEvent<E> & { readonly log: L };

/** Events to emit before saving the position. */
const CHUNK = 500;

/**
 * Follows several logs as one stream. Each round reads every log and emits all new events, oldest
 * first, each once. Waits out transient faults once any log has been read. Stops when every log has
 * ended or disappeared, when the consumer stops reading, or on an interrupt. Throws CliError for
 * permanent faults.
 */
export async function* follow<L extends FollowedLog<E>, E extends LogEvent>(
  options: FollowOptions<L, E>,
): AsyncGenerator<FollowedEvent<L, E>, void> {
  const { clock, signal, report } = options;
  const judge = createJudge<L>(options);
  const ending = new Set<L>();
  const noted = new Set<L>();
  let open = options.logs;

  const pace = createPace(options.interval, clock);
  const rounds = poll({
    read: () => options.each(open, (log) => lookAt<L, E>(log, ending)),
    interval: options.interval,
    pauseAfter: (looks) =>
      pace(looks.some((look) => 'walk' in look && (look.hasEnded || look.walk.news.length > 0))),
    faultsIn: (looks) => looks.flatMap((look) => ('error' in look ? [look.error] : [])),
    clock,
    signal,
  });
  for await (const looks of untilAborted(rounds, signal)) {
    if (signal.aborted) return;
    const { gone, fatal } = judge(looks);
    const over = new Set<L>();
    const found: Found<L, E>[] = [];
    let isFirst = false;
    for (const look of looks) {
      if ('error' in look) continue;
      const { log, walk } = look;
      const [first] = walk.news;
      if (walk.gap !== undefined && first !== undefined) report.gap(log, walk.gap, first.time);
      for (const one of walk.news) found.push({ ...one, log });
      if (look.hasEnded) (ending.has(log) ? over : ending).add(log);
      isFirst ||= !noted.has(log);
      noted.add(log);
    }
    // Merges the logs by time, and keeps the order within each log.
    found.sort((a, b) => a.time - b.time);

    let shown = 0;
    for (let at = 0; at < found.length; at += CHUNK) {
      const handed: Found<L, E>[] = [];
      for (const one of found.slice(at, at + CHUNK)) {
        if (signal.aborted) break;
        if (over.has(one.log) && !ending.has(one.log)) continue;
        if (options.shows(one.event)) {
          shown += 1;
          yield { log: one.log, event: one.event };
        }
        handed.push(one);
        if (options.isLast(one.event, one.log)) {
          ending.delete(one.log);
          over.add(one.log);
        }
      }
      if (!(await options.flush())) return;
      for (const one of handed) one.log.take([one]);
      await options.onTaken();
      if (signal.aborted) return;
    }
    // Saves the starting position at once, so that a crash before the first event loses nothing.
    if (isFirst && found.length === 0) await options.onTaken();

    if (fatal !== undefined) throw fatal;
    open = open.filter((log) => !over.has(log) && !gone.has(log));
    if (open.length === 0) return;
    report.looked(shown);
  }
}

/** The poll itself throws when the signal aborts. */
async function* untilAborted<T>(
  turns: AsyncIterable<Turn<T>>,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  try {
    for await (const turn of turns) {
      if ('fault' in turn) throw turn.fault;
      yield turn.value;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function lookAt<L extends FollowedLog<E>, E extends LogEvent>(
  log: L,
  ending: ReadonlySet<L>,
): Promise<Look<L, E>> {
  try {
    const hasEnded = ending.has(log) || (await log.hasEnded?.()) === true;
    // Makes the last read deep: the stream can't find a late event afterwards.
    const walk = await log.look({ isSweep: hasEnded });
    return { log, walk, hasEnded };
  } catch (error) {
    ensureCliError(error);
    return { log, error };
  }
}

/**
 * Separates transient faults from permanent ones, round by round. A fault before any log was read
 * stops the stream, as it stops a command that reads once.
 */
function createJudge<L extends FollowedLog<LogEvent>>({
  clock,
  report,
}: {
  readonly clock: Clock;
  readonly report: Pick<FollowReport<L>, 'lost' | 'back' | 'gone'>;
}) {
  const transients = new Map<L, Transient>();
  let lost: L[] = [];
  const outage = createOutage(clock, {
    lost: (error) => report.lost(lost, error),
    over: (after) => report.back(after),
  });
  let hasStarted = false;

  return (looks: readonly ({ readonly log: L } | Faulted<L>)[]) => {
    const gone = new Set<L>();
    const faults: Faulted<L>[] = [];
    let fatal: CliError | undefined;
    hasStarted ||= looks.some(({ log }) => log.hasStarted());
    for (const look of looks) {
      const { log } = look;
      if (!('error' in look)) {
        transients.delete(log);
        continue;
      }
      const transient = transients.get(log) ?? createTransient();
      transients.set(log, transient);
      if (look.error.failure === 'notFound') {
        if (transient.passes(look.error, log.hasStarted())) continue;
        gone.add(log);
        report.gone(log, look.error);
      } else if (hasStarted && transient.passes(look.error, true)) {
        faults.push(look);
      } else {
        fatal ??= look.error;
      }
    }
    const [first] = faults;
    lost = faults.map(({ log }) => log);
    if (fatal === undefined) {
      if (first === undefined) outage.mended();
      else outage.failed(first.error);
    }
    return { gone, fatal };
  };
}

/** Maximum poll interval, as a multiple of the minimum. */
const LONGEST = 5;
const GROWTH = 1.5;
/** Randomizes each pause by this share, so that programs don't synchronize. */
const JITTER = 0.2;

/**
 * Returns the pause between two reads of a bursty log, in milliseconds: short while events arrive,
 * then longer and longer.
 */
export function createPace(
  shortest: number,
  clock: Pick<Clock, 'random'>,
): (isBusy: boolean) => number {
  let pause = shortest;
  return (isBusy) => {
    pause = isBusy ? shortest : Math.min(pause * GROWTH, shortest * LONGEST);
    return Math.round(pause * (1 - JITTER + 2 * JITTER * clock.random()));
  };
}
