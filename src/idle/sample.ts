import type { TopRow } from '../json-results/instances.ts';
import { PROGRAM_LIMIT } from './probe-script.ts';

/** A part of a probe: its value, or the reason why it can't be used. */
export type Part<T> = { readonly value: T } | { readonly fault: string };

type Card = TopRow['gpus'][number];

/** CPU time of all cores since the start, in hundredths of a second. */
export interface CpuTime {
  readonly used: number;
  readonly total: number;
}

/** An instance's resource use. */
export interface Sample {
  /** Seconds since the system started. */
  readonly uptime: Part<number>;
  /** When the system started, in seconds since 1970. Moves if the instance's clock is set. */
  readonly booted: Part<number>;
  /** Changes with every restart; empty if unknown. */
  readonly boot: string;
  /** CPU times at the start and end of the probe. */
  readonly cpu: Part<readonly [CpuTime, CpuTime]>;
  /** Bytes received and sent since the system started. */
  readonly traffic: Part<number>;
  readonly memory: Part<{ readonly used_mib: number; readonly total_mib: number }>;
  /** Used share of the root file system, in percent. */
  readonly disk: Part<number>;
  /**
   * At least this many seconds have passed since the last input in a terminal; Infinity without a
   * terminal.
   */
  readonly input: Part<number>;
  /** Whether a command of `gpucloud run` is running. */
  readonly job: Part<boolean>;
  /** All cards, one list per read. */
  readonly cards: Part<readonly (readonly Card[])[]>;
}

/** Returns the value of a part, or null if it can't be used. */
export function partValue<T>(part: Part<T>): T | null {
  return 'value' in part ? part.value : null;
}

/**
 * Parses the output of the probe, complete or cut off, and ignores anything before or between its
 * parts.
 */
export function parseSample(text: string, samples: number): Sample {
  const parts = partsIn(text);
  const part = <T>(name: string, parse: (body: string) => T | undefined): Part<T> =>
    read(parts.get(name), name, parse);
  const boot = part('boot', (body) => body.trim());
  const cpu1 = part('cpu1', cpuTime);
  const cpu2 = part('cpu2', cpuTime);
  return {
    uptime: part('uptime', (body) => decimal(body.split(' ')[0])),
    booted: part('cpu1', (body) => decimal(/^btime (\d+)$/m.exec(body)?.[1])),
    boot: 'value' in boot ? boot.value : '',
    cpu:
      'fault' in cpu1
        ? cpu1
        : 'fault' in cpu2
          ? cpu2
          : { value: [cpu1.value, cpu2.value] as const },
    traffic: part('net', traffic),
    memory: part('memory', memory),
    disk: part('disk', (body) => decimal(/ (\d+)% +\/$/m.exec(body)?.[1])),
    input: least(part('terminals', lastInput), part('ptys', lastRead)),
    job: part('job', isJobRunning),
    cards: allCards(Array.from({ length: samples }, (_, at) => part(`cards${at + 1}`, cardsIn))),
  };
}

interface Raw {
  readonly body: string;
  readonly code: number;
}

/** Returns the parts that were not cut off. */
function partsIn(text: string): Map<string, Raw> {
  const parts = new Map<string, Raw>();
  let open: { name: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const [, mark, name = '', code] =
      /^gpucloud-probe (begin|end) ([a-z0-9]+)(?: (\d{1,3}))?$/.exec(line) ?? [];
    if (mark === 'begin') open = { name, lines: [] };
    else if (mark === 'end' && open?.name === name && code !== undefined) {
      parts.set(name, { body: open.lines.join('\n'), code: Number(code) });
      open = undefined;
    } else {
      open?.lines.push(line);
    }
  }
  return parts;
}

/** Names in messages for the parts of a sample. */
const SOURCES: Readonly<Record<string, string>> = {
  cards: 'nvidia-smi',
  terminals: 'who',
  ptys: 'stat of /dev/pts',
  job: 'the state of the job',
  disk: 'df',
  cpu: '/proc/stat',
  net: '/proc/net/dev',
  memory: '/proc/meminfo',
  uptime: '/proc/uptime',
};

function read<T>(
  raw: Raw | undefined,
  name: string,
  parse: (body: string) => T | undefined,
): Part<T> {
  const source = SOURCES[name.replace(/\d/, '')] ?? name;
  if (raw === undefined) return { fault: `${source} did not finish` };
  if (raw.code === 127) return { fault: `${source} is missing` };
  if (raw.code === 137) return { fault: `${source} did not respond within ${PROGRAM_LIMIT} s` };
  if (raw.code !== 0) return { fault: `${source} failed with exit code ${raw.code}` };
  const value = parse(raw.body);
  return value === undefined ? { fault: `${source} printed unexpected output` } : { value };
}

/** Returns undefined unless the text is a plain decimal. */
function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : undefined;
}

/** Counts waiting for a disk as idle, since it uses no processor. */
function cpuTime(body: string): CpuTime | undefined {
  const fields = /^cpu +([\d ]+)$/m.exec(body)?.[1]?.trim().split(' ').map(Number) ?? [];
  const [user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0] = fields;
  if (user === undefined || nice === undefined || system === undefined || idle === undefined) {
    return undefined;
  }
  const used = user + nice + system + irq + softirq + steal;
  return Number.isSafeInteger(used + idle + iowait)
    ? { used, total: used + idle + iowait }
    : undefined;
}

/** Adds up all interfaces except loopback. */
function traffic(body: string): number | undefined {
  const lines = body.split('\n').slice(2);
  if (!body.startsWith('Inter-') || lines.length === 0) return undefined;
  let bytes = 0;
  for (const line of lines) {
    const [, name, rest = ''] = /^\s*(\S+):\s*([\d ]+)$/.exec(line) ?? [];
    const counters = rest.trim().split(/ +/).map(Number);
    const [received, sent] = [counters[0], counters[8]];
    if (name === undefined || received === undefined || sent === undefined) return undefined;
    if (name !== 'lo') bytes += received + sent;
  }
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

function memory(body: string): { used_mib: number; total_mib: number } | undefined {
  const kib = (name: string) => decimal(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(body)?.[1]);
  const [total, available] = [kib('MemTotal'), kib('MemAvailable')];
  if (total === undefined || available === undefined || available > total) return undefined;
  const mib = (amount: number) => Math.round(amount / 1024);
  return { used_mib: mib(total - available), total_mib: mib(total) };
}

/** `who` prints whole minutes, `.` for less than one, `old` for more than a day. */
function lastInput(body: string): number | undefined {
  let least = Number.POSITIVE_INFINITY;
  for (const line of body.split('\n')) {
    if (line.trim() === '') continue;
    const [, idle, hours, minutes] =
      / (\.|old|(\d\d):(\d\d)) +\d+(?: +\(.*\))?\s*$/.exec(line) ?? [];
    if (idle === undefined) return undefined;
    const seconds =
      idle === '.' ? 0 : idle === 'old' ? 86_400 : Number(hours) * 3600 + Number(minutes) * 60;
    least = Math.min(least, seconds);
  }
  return least;
}

/** Parses a line per terminal: the time of its last read, and the current time. */
function lastRead(body: string): number | undefined {
  let last = Number.POSITIVE_INFINITY;
  for (const line of body.split('\n').filter((line) => line !== '')) {
    const [, at, now] = /^(\d{1,15}) (\d{1,15})$/.exec(line) ?? [];
    const seconds = Number(now) - Number(at);
    // The age is unknown if the time is in the future: the clock was set.
    if (!(seconds >= 0)) return undefined;
    last = Math.min(last, seconds);
  }
  return last;
}

function least(a: Part<number>, b: Part<number>): Part<number> {
  if ('fault' in a) return a;
  if ('fault' in b) return b;
  return { value: Math.min(a.value, b.value) };
}

function isJobRunning(body: string): boolean | undefined {
  const words: readonly string[] = body.match(/(?<=^gpucloud-run )\S*/gm) ?? [];
  if (!words.includes('ready')) return undefined;
  const states = words.filter((word) => !['ready', 'home', 'rsync', 'tar'].includes(word));
  if (states.includes('running')) return true;
  return states.every((word) => ['none', 'exited', 'lost'].includes(word)) ? false : undefined;
}

function allCards(samples: readonly Part<readonly Card[]>[]): Sample['cards'] {
  const value: (readonly Card[])[] = [];
  for (const sample of samples) {
    if ('fault' in sample) return sample;
    value.push(sample.value);
  }
  return { value };
}

function cardsIn(body: string): readonly Card[] | undefined {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  const cards = lines.flatMap((line) => cardIn(line) ?? []);
  return cards.length > 0 && cards.length === lines.length ? cards : undefined;
}

/** The driver prints `[N/A]`, `[Not Supported]` or `N/A` for a value that it does not report. */
const UNREPORTED = /^(\[.*\]|N\/A)$/;

function cardIn(line: string): Card | undefined {
  const fields = line.split(',').map((field) => field.trim());
  const [index, name, ...numbers] = fields;
  if (fields.length !== 7 || index === undefined || !/^\d{1,3}$/.test(index)) return undefined;
  // A card's name must be printable ASCII.
  if (name === undefined || !/^[ -~]{1,100}$/.test(name)) return undefined;
  const values = numbers.map((text) => (UNREPORTED.test(text) ? null : decimal(text)));
  const [load, used, total, temperature, power] = values;
  if (values.includes(undefined) || (load ?? 0) > 100) return undefined;
  return {
    index: Number(index),
    name,
    utilization_percent: load ?? null,
    memory_used_mib: used ?? null,
    memory_total_mib: total ?? null,
    temperature_c: temperature ?? null,
    power_w: power ?? null,
  };
}
