import type { Instance } from '../api/index.ts';
import { CLOCKS } from '../system/clock.ts';
import type { Sample } from './sample.ts';

// The idle rule as a pure function: it reads no clock and no file.
//
// Missing, odd or late data counts as use.

/** Load, in percent, above which a card counts as in use. */
const CARD = 5;
/** Average number of busy cores that counts as use. */
const CORES = 0.1;
/** Average bytes per second, received and sent, that count as use. */
const TRAFFIC = 10_000;

/** Shortest interval to judge, in seconds: a shorter average mostly shows the check itself. */
const SHORTEST = 30;
/** Seconds by which the recorded time of a terminal's last input may lag. */
const INPUT_LAG = 10;

/** An instance's counters at one time. */
interface Counters {
  /** Milliseconds since 1970, by the service's clock. */
  readonly at: number;
  /** Seconds since the system started. */
  readonly uptime: number;
  /** When the system started, in seconds since 1970 by the instance's own clock. */
  readonly booted: number;
  /** Changes with every start or restart. */
  readonly boot: string;
  /** CPU time used, in hundredths of a second. */
  readonly cpu: number;
  /** Bytes received and sent. */
  readonly traffic: number;
}

/** An instance's use at one time. */
export interface Signs extends Omit<Counters, 'at'> {
  /** Highest GPU utilization, in percent. */
  readonly load: number;
  readonly job: boolean;
  /** At least this many seconds have passed since the last input in a terminal. */
  readonly input: number;
}

/** When an instance became idle, by both clocks. */
interface Since {
  /** Milliseconds since 1970, by the service's clock. */
  readonly at: number;
  readonly uptime: number;
}

/** The findings of earlier passes about an instance with an idle rule. */
export interface IdleState {
  /** null if the instance is in use, or if nothing is known. */
  readonly since: Since | null;
  /** Counters of the last pass; null if that pass could not judge the instance. */
  readonly last: Counters | null;
}

export const NOTHING_KNOWN: IdleState = { since: null, last: null };

export interface IdleRule {
  /** Idle time in milliseconds after which the rule terminates the instance. */
  readonly after: number;
  /** Milliseconds between two passes. */
  readonly every: number;
}

interface Verdict {
  readonly state: IdleState;
  /** Whether the rule terminates the instance. */
  readonly isDue: boolean;
}

/**
 * Judges an instance at one time, by the service's clock. `signs` is undefined if the signs could
 * not be read.
 */
export function judge(
  state: IdleState,
  signs: Signs | undefined,
  at: number,
  { after, every }: IdleRule,
): Verdict {
  if (signs === undefined) return { state: NOTHING_KNOWN, isDue: false };
  const { uptime, booted, boot, cpu, traffic, load, job } = signs;
  const last: Counters = { at, uptime, booted, boot, cpu, traffic };
  const now: Since = { at, uptime };
  const isBusyNow = load > CARD || job;
  if (isBusyNow) return { state: { since: null, last }, isDue: false };
  const before = state.last;
  if (before === null || isBroken(before, last, every))
    return { state: { since: now, last }, isDue: false };
  const seconds = uptime - before.uptime;
  if (seconds < SHORTEST) return { state, isDue: false };
  const wasBusy =
    (cpu - before.cpu) / 100 >= CORES * seconds ||
    traffic - before.traffic >= TRAFFIC * seconds ||
    signs.input < seconds + INPUT_LAG;
  if (wasBusy) return { state: { since: now, last }, isDue: false };
  const since = state.since ?? now;
  // The idle time must be over by both clocks.
  const idle = Math.min(at - since.at, (uptime - since.uptime) * 1000);
  return { state: { since, last }, isDue: idle >= after };
}

/**
 * Whether the interval between two passes can't be judged, since it is too long or the instance
 * restarted.
 */
function isBroken(before: Counters, now: Counters, every: number): boolean {
  const seconds = now.uptime - before.uptime;
  const byService = (now.at - before.at) / 1000;
  const longest = (2 * every) / 1000;
  return (
    seconds < 0 ||
    byService < 0 ||
    seconds > longest ||
    byService > longest ||
    Math.abs(byService - seconds) * 1000 > CLOCKS.interval ||
    // A jump of the instance's clock makes the age of input wrong.
    Math.abs(now.booted - before.booted) * 1000 > CLOCKS.interval ||
    now.boot !== before.boot ||
    now.cpu < before.cpu ||
    now.traffic < before.traffic
  );
}

/** Returns the signs in a sample, or the reason why one is missing. */
export function signsOf(
  sample: Sample,
  { started_at }: Pick<Instance, 'started_at'>,
): Signs | string {
  const { uptime, booted, boot, cpu, traffic, input, job, cards } = sample;
  if ('fault' in uptime) return uptime.fault;
  if ('fault' in booted) return booted.fault;
  if ('fault' in cpu) return cpu.fault;
  if ('fault' in traffic) return traffic.fault;
  if ('fault' in input) return input.fault;
  if ('fault' in job) return job.fault;
  if ('fault' in cards) return cards.fault;
  // Each sample has at least one card.
  const loads = cards.value.flat().map((card) => card.utilization_percent);
  if (!loads.every((load) => load !== null)) return 'nvidia-smi did not report the load of a GPU';
  return {
    uptime: uptime.value,
    booted: booted.value,
    boot: `${started_at ?? ''} ${boot}`,
    cpu: cpu.value[0].used,
    traffic: traffic.value,
    load: Math.max(...loads),
    job: job.value,
    input: input.value,
  };
}
