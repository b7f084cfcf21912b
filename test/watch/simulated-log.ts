import type { LogPage } from '../../src/watch/log-walk.ts';

/** A change of a log, or an outage. */
export type Happening =
  /** Adds events newer than all others, or as new as the newest (`later` 0). */
  | { readonly kind: 'arrive'; readonly count: number; readonly later: number }
  /** Adds an event behind others. `tie`: gives it the same time as the event before it. */
  | { readonly kind: 'late'; readonly depth: number; readonly tie: boolean }
  /** Drops the oldest events. */
  | { readonly kind: 'prune'; readonly count: number }
  /** Changes the page size. */
  | { readonly kind: 'size'; readonly limit: number }
  /** Makes this many reads fail. */
  | { readonly kind: 'outage'; readonly readings: number }
  /** From now on, changes the order of simultaneous events. */
  | { readonly kind: 'shuffle' };

export interface SimulatedEvent {
  readonly id: string;
  readonly created_at: string;
  /** In units of 250 ms since the first moment. */
  readonly time: number;
  /** Whether the event entered the log behind another event. */
  readonly late: boolean;
}

export class Unreadable extends Error {}

const EPOCH = Date.parse('2026-01-15T12:00:00.000Z');
const UNIT = 250;
const MOST_AT_ONCE = 12;

/** A log as in the API document: newest first, in numbered pages. */
export class SimulatedLog {
  /** Newest first. */
  events: SimulatedEvent[] = [];
  readonly pruned: SimulatedEvent[] = [];
  /** The number of shuffles of simultaneous events. */
  shuffles = 0;
  private count = 0;
  private time = 0;
  private failing = 0;
  private readonly name: string;
  private limit: number;

  constructor(name: string, limit: number) {
    this.name = name;
    this.limit = limit;
  }

  happen(what: Happening): void {
    switch (what.kind) {
      case 'arrive':
        for (let left = what.count; left > 0; left -= 1) {
          this.time += left === what.count ? what.later : 0;
          // A follower can't distinguish more simultaneous events than it remembers.
          if (this.events[MOST_AT_ONCE - 1]?.time === this.time) this.time += 1;
          this.enter(0, this.time);
        }
        return;
      case 'late': {
        const at = Math.min(what.depth, this.events.length);
        const newer = this.events[at - 1]?.time ?? this.time;
        const older = this.events[at]?.time ?? newer - 2;
        this.enter(at, what.tie ? newer : (newer + older) / 2, true);
        return;
      }
      case 'prune':
        this.pruned.push(...this.events.splice(Math.max(0, this.events.length - what.count)));
        return;
      case 'size':
        this.limit = what.limit;
        return;
      case 'outage':
        this.failing += what.readings;
        return;
      case 'shuffle':
        this.shuffles += 1;
    }
  }

  /** Makes all further reads succeed. */
  recover(): void {
    this.failing = 0;
  }

  /** Returns a page. Simultaneous events keep their order unless shuffled. */
  page(page: number): LogPage<SimulatedEvent> {
    if (this.failing > 0) {
      this.failing -= 1;
      throw new Unreadable('the simulated service does not answer');
    }
    const ordered =
      this.shuffles === 0
        ? this.events
        : [...this.events].sort(
            (a, b) => b.time - a.time || rank(a.id, this.shuffles) - rank(b.id, this.shuffles),
          );
    const total = ordered.length;
    return {
      data: ordered.slice((page - 1) * this.limit, page * this.limit),
      meta: { total, limit: this.limit, total_pages: Math.ceil(total / this.limit) },
    };
  }

  private enter(at: number, time: number, late = false): void {
    this.count += 1;
    const created_at = new Date(EPOCH + Math.round(time * UNIT)).toISOString();
    this.events.splice(at, 0, { id: `${this.name}${this.count}`, created_at, time, late });
  }
}

/** Shuffles deterministically from the seed. */
function rank(id: string, seed: number): number {
  let hash = seed * 2_654_435_761;
  for (const letter of id) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619);
  return hash >>> 0;
}
