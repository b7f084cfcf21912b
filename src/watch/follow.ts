import type { Clock } from '../clock.ts';
import { CliError } from '../errors.ts';
import type { Follower } from './follower.ts';
import type { DatedEvent, LogEvent, Walk } from './log-walk.ts';
import { createPace } from './pace.ts';
import { createPatience, type Faulted } from './patience.ts';

/** One log of several that are followed as one stream. */
export interface FollowedLog<E extends LogEvent> extends Follower<E> {
  /**
   * Whether the log has come to its end. It is asked before each look, and one more look follows
   * the Yes, since a service may record an event a moment after what caused it.
   */
  hasEnded?(): Promise<boolean>;
}

export interface FollowOptions<L extends FollowedLog<E>, E extends LogEvent> {
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
  readonly tell: FollowTold<L>;
}

/** What is told beside the events. */
export interface FollowTold<L> {
  /** These can't be read for now. Told once, until all can be read again. */
  lost(logs: readonly L[], error: CliError): void;
  /** Milliseconds for which something could not be read. */
  back(after: number): void;
  /** `until`: milliseconds since 1970 of the first event behind the gap. */
  gap(log: L, why: NonNullable<Walk<LogEvent>['gap']>, until: number): void;
  /** The service knows the machine no more, or never did; the others are followed on. */
  gone(log: L, error: CliError): void;
  /** All logs were looked at, and so many events handed on; the stream goes on. */
  looked(shown: number): void;
}

export interface FollowedEvent<L, E extends LogEvent> {
  readonly log: L;
  readonly event: E;
}

type Look<L, E extends LogEvent> =
  | { readonly log: L; readonly walk: Pick<Walk<E>, 'news' | 'gap'>; readonly hasEnded: boolean }
  | Faulted<L>;

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
  const { clock, signal, tell } = options;
  const pace = createPace(options.interval, clock);
  const patience = createPatience<L>({ clock, tell });
  const ending = new Set<L>();
  const noted = new Set<L>();
  let open = options.logs;

  while (open.length > 0) {
    const looks = await options.each(open, (log) => lookAt<L, E>(log, ending, signal));
    if (signal.aborted) return;
    const { gone, atLeast, fatal } = patience.meet(looks);
    const over = new Set<L>();
    const found: Found<L, E>[] = [];
    let isFirst = false;
    for (const look of looks) {
      if ('error' in look) continue;
      const { log, walk } = look;
      const [first] = walk.news;
      if (walk.gap !== undefined && first !== undefined) tell.gap(log, walk.gap, first.time);
      for (const one of walk.news) found.push({ ...one, log });
      if (look.hasEnded) (ending.has(log) ? over : ending).add(log);
      isFirst ||= !noted.has(log);
      noted.add(log);
    }
    // What is oldest of all goes first; within a log the order is that of its news.
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
    tell.looked(shown);
    const isBusy = found.length > 0 || open.some((log) => ending.has(log));
    await pause(pace.next({ isBusy, atLeast }), clock, signal);
    if (signal.aborted) return;
  }
}

type Found<L, E extends LogEvent> = DatedEvent<E> & { readonly log: L };

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

async function pause(milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(milliseconds, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
