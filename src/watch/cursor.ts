/** An event as the follower sees it: its ID and its time in milliseconds since 1970. */
export interface Dated {
  readonly id: string;
  readonly time: number;
}

/** A cursor as stored on disk. */
export interface SavedCursor {
  /** null if no event has been dropped. */
  readonly horizon: number | null;
  readonly known: readonly (readonly [id: string, time: number])[];
}

/** Number of known events to search for late events: ten pages. */
export const KEPT = 1000;

export type Cursor = ReturnType<typeof createCursor>;

/**
 * Records which events of one log have been seen, exactly and in bounded memory.
 *
 * It keeps the IDs of the newest events, at least `kept` and at most twice as many. It drops the
 * older IDs in one batch, by time. Events at or before the horizon have been seen; later events are
 * new unless their ID is kept. Events with the same time are kept or dropped together, since a
 * service may return them in any order.
 *
 * The cost: an event may enter the log behind at least `kept` newer events, with a time before the
 * horizon. It looks like a dropped event and does not count as new.
 */
export function createCursor(saved?: SavedCursor, { kept = KEPT } = {}) {
  const known = new Map<string, number>(saved?.known);
  /** Milliseconds since 1970; -Infinity if no event has been dropped. */
  let horizon = saved?.horizon ?? Number.NEGATIVE_INFINITY;
  let begun = saved !== undefined;

  /** Drops many IDs in one rare batch, so each event is sorted only a few times. */
  function forget(): void {
    const newestFirst = [...known].sort(([, a], [, b]) => b - a);
    const timeAt = (at: number) => Number(newestFirst[at]?.[1]);
    let cut = kept;
    while (cut < 1.5 * kept && timeAt(cut) === timeAt(cut - 1)) cut += 1;
    // More events share this time than the cursor can keep, so drop some of them.
    if (timeAt(cut) === timeAt(cut - 1)) cut = kept;
    horizon = Math.max(horizon, timeAt(cut));
    for (const [id] of newestFirst.slice(cut)) known.delete(id);
  }

  return {
    /** Whether this run or an earlier one has read the log. */
    get begun() {
      return begun;
    },
    get size() {
      return known.size;
    },
    kept,
    has: (id: string) => known.has(id),
    /** Whether the event is at or before the horizon and therefore counts as seen. */
    isPast: (time: number) => time <= horizon,
    /** Creates a cursor for a log whose newest events, back to the horizon, have been seen. */
    begin(at?: number) {
      begun = true;
      horizon = Math.max(horizon, at ?? horizon);
    },
    learn(events: Iterable<Dated>) {
      for (const { id, time } of events) {
        known.set(id, time);
        if (known.size > 2 * kept) forget();
      }
    },
    saved: (): SavedCursor => ({
      horizon: Number.isFinite(horizon) ? horizon : null,
      known: [...known],
    }),
  };
}
