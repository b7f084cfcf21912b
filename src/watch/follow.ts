import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import type { Follower, Look as LogLook, Missed } from './follower.ts';
import type { DatedEvent, LogEvent, Walk } from './log-walk.ts';
import { createOutage } from './outage.ts';
import { poll, type Turn } from './poll.ts';
import { createTransient, type Transient } from './transient.ts';

/** One log of several that are followed as one stream. */
export interface FollowedLog<E extends LogEvent> extends Follower<E> {
  /**
   * Whether the log has come to its end. It is asked before each look, and one more look follows
   * the Yes, since a service may record an event a moment after what caused it.
   */
  hasEnded?(): Promise<boolean>;
}

interface FollowOptions<L extends FollowedLog<E>, E extends LogEvent> {
  readonly logs: readonly L[];
  readonly clock: Clock;
  /** Ends the stream in order: what was handed on is taken. */
  readonly signal: AbortSignal;
  /** Milliseconds between two looks while something happens. */
  readonly interval: number;
  /** Does the same for each log, a few at a time. */
  each<R>(logs: readonly L[], work: (log: L) => Promise<R>): Promise<R[]>;
  /** Whether an event is to be handed on; the others are passed over for good. */
  shows(event: E): boolean;
  /** Whether an event ends its log: none behind it is handed on. */
  isLast(event: E, log: L): boolean;
  /**
   * Brings all that was handed on to its reader. False when there is none any more: then the last
   * events don't count as handed on, and the stream ends.
   */
  flush(): Promise<boolean>;
  /** All that was handed on has been taken: the moment to note how far the stream has come. */
  onTaken(): Promise<void>;
  readonly report: FollowReport<L>;
}

/** What is reported beside the events. */
export interface FollowReport<L> {
  /** These can't be read for now. Once, until all can be read again. */
  lost(logs: readonly L[], error: CliError): void;
  /** Milliseconds for which something could not be read. */
  back(after: number): void;
  /** `until`: milliseconds since 1970 of the first event behind the gap. */
  gap(log: L, why: NonNullable<Walk<LogEvent>['gap']>, until: number): void;
  /** Events that entered the log too late to be found. */
  missed(log: L, what: Missed): void;
  /** The service does not know the instance, or not any more; the others are followed on. */
  gone(log: L, error: CliError): void;
  /** All logs were looked at, and so many events handed on; the stream goes on. */
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

/** So many events are handed on before it is noted how far the stream has come. */
const CHUNK = 500;

/**
 * The events of several logs as one stream. In each round every log is looked at, and what is new
 * in any of them comes oldest first. An event comes once.
 *
 * Faults that may pass are waited out once a log could be read. The stream ends when each log has
 * ended or is gone, when the reader of the events is gone, or when it is interrupted. Throws
 * CliError for what waiting does not mend.
 */
export async function* follow<L extends FollowedLog<E>, E extends LogEvent>(
  options: FollowOptions<L, E>,
): AsyncGenerator<FollowedEvent<L, E>, void> {
  const { clock, signal, report } = options;
  const judge = createJudge<L>(options);
  const ending = new Set<L>();
  const noted = new Set<L>();
  let open = options.logs;
  if (open.length === 0) return;

  const pace = createPace(options.interval, clock);
  const rounds = poll({
    read: () => options.each(open, (log) => lookAt<L, E>(log, ending, signal)),
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
      if (walk.missed !== undefined) report.missed(log, walk.missed);
      for (const one of walk.news) found.push({ ...one, log });
      if (look.hasEnded) (ending.has(log) ? over : ending).add(log);
      isFirst ||= !noted.has(log);
      noted.add(log);
    }
    // The oldest of all goes first; within a log the order is that of its news.
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
    // Where it begins is noted at once: what comes next belongs to it, even after a crash.
    if (isFirst && found.length === 0) await options.onTaken();

    if (fatal !== undefined) throw fatal;
    open = open.filter((log) => !over.has(log) && !gone.has(log));
    if (open.length === 0) return;
    report.looked(shown);
  }
}

/** The readings of a poll, which itself throws when the signal aborts. */
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
  signal: AbortSignal,
): Promise<Look<L, E>> {
  try {
    const hasEnded = ending.has(log) || (await log.hasEnded?.()) === true;
    // The last look goes deep: what entered the log late would be lost for good.
    const walk = await log.look({ isSweep: hasEnded });
    return { log, walk, hasEnded };
  } catch (error) {
    if (error instanceof CliError) return { log, error };
    if (signal.aborted) return { log, error: new CliError('interrupted', 'Interrupted.') };
    throw error;
  }
}

/**
 * Tells faults that waiting may mend from the others, round by round. A fault before any log could
 * be read ends the stream, as it ends a command that reads once.
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

/** So many times the shortest pause is the longest. */
const LONGEST = 5;
const GROWTH = 1.5;
/** A pause is up to this part shorter or longer, so that programs do not fall into step. */
const JITTER = 0.2;

/**
 * Milliseconds between two readings of something that comes in bursts: short while something comes,
 * longer and longer while nothing does.
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
