import type { Instance } from '../api/index.ts';
import { partValue, type Sample } from './sample.ts';

// The idle rule, as a function of what is known and what was read. It reads no clock and no file.
//
// It errs on one side: whatever is missing, strange or late counts as use.

/** A card above this is in use, in percent. */
const CARD = 5;
/** Cores in use on average: a tenth of one. */
const CORES = 0.1;
/** Bytes per second received and sent, on average. */
const TRAFFIC = 10_000;

/** Seconds by which the clocks of the service and the instance may disagree about one interval. */
const CLOCKS = 30;
/** Averages over a shorter time show little more than the look itself. */
const SHORTEST = 30;
/** Seconds that a terminal's time of input may lag. */
const INPUT_LAG = 10;

/** The counters of an instance at one time. */
interface Counters {
  /** By the service's clock, in milliseconds. */
  readonly at: number;
  /** Seconds since the start of the system. */
  readonly uptime: number;
  /** When the system started, in seconds since 1970 by the instance's own clock. */
  readonly booted: number;
  /** Differs after a start or a restart. */
  readonly boot: string;
  /** CPU time used, in hundredths of a second. */
  readonly cpu: number;
  /** Bytes received and sent. */
  readonly traffic: number;
}

/** What an instance shows at one time. */
export interface Signs extends Omit<Counters, 'at'> {
  /** The highest load of any card, in percent. */
  readonly load: number;
  readonly job: boolean;
  /** Seconds since the last input in a terminal, at least. */
  readonly input: number;
}

/** Since when an instance is idle, by both clocks. */
interface Since {
  /** By the service's clock, in milliseconds. */
  readonly at: number;
  readonly uptime: number;
}

/** What is known of an instance with a rule. */
export interface IdleState {
  /** null if it is in use, or nothing is known. */
  readonly since: Since | null;
  /** Of the last pass; null if it could not judge. */
  readonly last: Counters | null;
}

export const NOTHING_KNOWN: IdleState = { since: null, last: null };

export interface IdleRule {
  /** Milliseconds. */
  readonly after: number;
  /** Milliseconds between two passes. */
  readonly every: number;
}

interface Verdict {
  readonly state: IdleState;
  /** The rule ends the instance. */
  readonly isDue: boolean;
}

/** Judges an instance at one time, by the service's clock; undefined signs could not be read. */
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
  // Both clocks must agree that the time is over.
  const idle = Math.min(at - since.at, (uptime - since.uptime) * 1000);
  return { state: { since, last }, isDue: idle >= after };
}

/** Whether the time between two passes can't be judged: it is too long, or something started again. */
function isBroken(before: Counters, now: Counters, every: number): boolean {
  const seconds = now.uptime - before.uptime;
  const byService = (now.at - before.at) / 1000;
  const longest = (2 * every) / 1000;
  return (
    seconds < 0 ||
    byService < 0 ||
    seconds > longest ||
    byService > longest ||
    Math.abs(byService - seconds) > CLOCKS ||
    // The age of input is measured with this clock.
    Math.abs(now.booted - before.booted) > CLOCKS ||
    now.boot !== before.boot ||
    now.cpu < before.cpu ||
    now.traffic < before.traffic
  );
}

/** The signs in a sample; as text, why one is missing. */
export function signsOf(
  sample: Sample,
  { started_at }: Pick<Instance, 'started_at'>,
): Signs | string {
  const { uptime, booted, cpu, traffic, input, job, cards } = sample;
  for (const part of [uptime, booted, cpu, traffic, input, job, cards]) {
    if ('fault' in part) return part.fault;
  }
  const loads = (partValue(cards) ?? []).flat().map((card) => card.utilization_percent);
  if (loads.length === 0 || loads.includes(null)) return 'nvidia-smi reports no load of a card';
  return {
    uptime: partValue(uptime) ?? 0,
    booted: partValue(booted) ?? 0,
    boot: `${started_at ?? ''} ${sample.boot}`,
    cpu: partValue(cpu)?.[0].used ?? 0,
    traffic: partValue(traffic) ?? 0,
    load: Math.max(...loads.map((load) => load ?? 100)),
    job: partValue(job) ?? true,
    input: partValue(input) ?? 0,
  };
}
