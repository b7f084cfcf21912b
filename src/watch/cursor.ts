/** An event as the follower sees it: its id, and when it happened in milliseconds since 1970. */
export interface Dated {
  readonly id: string;
  readonly time: number;
}

/** A cursor as it lies on a disk between two runs. */
export interface SavedCursor {
  /** null where nothing has been forgotten. */
  readonly horizon: number | null;
  readonly known: readonly (readonly [id: string, time: number])[];
}

/**
 * Which events of one log are known, exactly and in bounded memory.
 *
 * The ids of the newest events are kept. The older ones are forgotten, all at once and by time: what
 * lies at or before the horizon counts as known without being asked for, and no event after it was
 * ever forgotten. So an event after the horizon is new if, and only if, its id is not kept. Events
 * of one moment are kept or forgotten together, since a service may give them in any order.
 *
 * The price: an event that enters the log with a time before the horizon, that is, behind at least
 * {@link Cursor.kept} newer ones that were read, can't be told from a forgotten one and is not new.
 */
export interface Cursor {
  /** Whether a log was read with it before, in this run or an earlier one. */
  readonly begun: boolean;
  readonly size: number;
  /** At least so many of the newest events are remembered, and at most twice as many. */
  readonly kept: number;
  /** Milliseconds since 1970; -Infinity while nothing is forgotten. */
  readonly horizon: number;
  has(id: string): boolean;
  /** Whether it lies so far back that it counts as known. */
  isPast(time: number): boolean;
  /** Takes the log as read from its newest event down to here. */
  begin(horizon?: number): void;
  learn(events: Iterable<Dated>): void;
  saved(): SavedCursor;
}

/** As far as a log is looked through for late events, which costs a service ten pages. */
export const KEPT = 1000;

export function createCursor(saved?: SavedCursor, { kept = KEPT }: { kept?: number } = {}): Cursor {
  const known = new Map<string, number>(saved?.known);
  let horizon = saved?.horizon ?? Number.NEGATIVE_INFINITY;
  let begun = saved !== undefined;

  /** Seldom done, for many at once: each event takes part in few sortings. */
  function forget(): void {
    const newestFirst = [...known].sort(([, a], [, b]) => b - a);
    const timeAt = (at: number) => newestFirst[at]?.[1];
    let cut = kept;
    while (cut < 1.5 * kept && timeAt(cut) === timeAt(cut - 1)) cut += 1;
    // More events of one moment than can be kept: some of them are forgotten all the same.
    if (timeAt(cut) === timeAt(cut - 1)) cut = kept;
    horizon = Math.max(horizon, timeAt(cut) ?? horizon);
    for (const [id] of newestFirst.slice(cut)) known.delete(id);
  }

  return {
    get begun() {
      return begun;
    },
    get size() {
      return known.size;
    },
    kept,
    get horizon() {
      return horizon;
    },
    has: (id) => known.has(id),
    isPast: (time) => time <= horizon,
    begin(at) {
      begun = true;
      horizon = Math.max(horizon, at ?? horizon);
    },
    learn(events) {
      for (const { id, time } of events) {
        known.set(id, time);
        if (known.size > 2 * kept) forget();
      }
    },
    saved: () => ({ horizon: Number.isFinite(horizon) ? horizon : null, known: [...known] }),
  };
}
