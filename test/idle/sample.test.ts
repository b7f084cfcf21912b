import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PROBE_SCRIPT } from '../../src/idle/probe-script.ts';
import { parseSample, type Sample } from '../../src/idle/sample.ts';
import { PARTS, probeOutput } from './probe-output.ts';

const parse = (text: string) => parseSample(text, 3);

const CARD = {
  ...{ index: 0, name: 'NVIDIA H100 80GB HBM3', utilization_percent: 0, memory_used_mib: 5 },
  ...{ memory_total_mib: 81559, temperature_c: 31, power_w: 69.95 },
};

test('parses every part of a sample', () => {
  expect(parse(probeOutput())).toEqual({
    uptime: { value: 5000.25 },
    booted: { value: 1768473400 },
    boot: 'b1e2\n42',
    cpu: {
      value: [
        { used: 1520, total: 91820 },
        { used: 1570, total: 92020 },
      ],
    },
    traffic: { value: 5000 },
    memory: { value: { used_mib: 5120, total_mib: 64000 } },
    disk: { value: 61 },
    input: { value: Number.POSITIVE_INFINITY },
    job: { value: false },
    cards: {
      value: [[CARD], [{ ...CARD, utilization_percent: 1 }], [{ ...CARD, power_w: 70.01 }]],
    },
  });
});

const card = (index: number, name: string, load: number) =>
  `${index}, ${name}, ${load}, 5, 6, 7, 8`;
const zero = (left: number) => `MemTotal: 2048 kB\nMemAvailable: ${left} kB`;
const MOST = Number.MAX_SAFE_INTEGER;

/** What a part holds at the edges of what it may hold; undefined for unexpected output. */
test.each<[string, string, keyof Sample, unknown]>([
  ['cpu2', 'cpu  1 2 4 8 16 32 64 128 256 512', 'cpu', { used: 231, total: 255 }],
  ['cpu2', 'cpu  1 2 4 8', 'cpu', { used: 7, total: 15 }],
  ['cpu2', 'cpu  1 2 4', 'cpu', undefined],
  ['cpu2', 'acpu  1 2 4 8\ncpu  1 2 4 8 x', 'cpu', undefined],
  ['cpu1', 'cpu  1 2 4 8\nabtime 5\nbtime 6 7', 'booted', undefined],
  ['cpu2', `cpu  1 0 0 ${MOST - 1}`, 'cpu', { used: 1, total: MOST }],
  ['cpu2', `cpu  1 0 0 ${MOST}`, 'cpu', undefined],
  [
    'net',
    `Inter-|\n face |\n a: ${MOST - 2} 0 0 0 0 0 0 0 1\nb:1 0 0 0 0 0 0 0 0`,
    'traffic',
    MOST,
  ],
  ['net', `Inter-|\n face |\n a: ${MOST} 0 0 0 0 0 0 0 1`, 'traffic', undefined],
  ['net', 'Inter-|\n face |\n a: 1 0 0 0 0 0 0 0', 'traffic', undefined],
  ['net', 'Inter-|\n face |\n a b: 1 0 0 0 0 0 0 0 1', 'traffic', undefined],
  ['net', 'Other-|\n face |\n a: 1 0 0 0 0 0 0 0 1', 'traffic', undefined],
  ['memory', zero(2048), 'memory', { used_mib: 0, total_mib: 2 }],
  ['memory', zero(511), 'memory', { used_mib: 2, total_mib: 2 }],
  ['memory', zero(2049), 'memory', undefined],
  ['memory', 'MemTotal: 2048 kB', 'memory', undefined],
  ['memory', 'MemAvailable: 2048 kB', 'memory', undefined],
  ['disk', '/dev/vda1 100 61 39 7% /\n/dev/b 1 1 1 8% /mnt', 'disk', 7],
  ['disk', '/dev/b 1 1 1 8% /mnt', 'disk', undefined],
  ['uptime', `${'1'.repeat(15)}.${'0'.repeat(9)} 1`, 'uptime', 111_111_111_111_111],
  ['uptime', '1'.repeat(16), 'uptime', undefined],
  ['cards1', card(999, 'x'.repeat(100), 100), 'cards', [999, 'x'.repeat(100), 100]],
  ['cards1', card(1000, 'x', 0), 'cards', undefined],
  ['cards1', card(1, 'x'.repeat(101), 0), 'cards', undefined],
  ['cards1', card(1, 'Ж', 0), 'cards', undefined],
])('parses %s: %s', (name, text, key, wanted) => {
  const part = parseSample(probeOutput({ [name]: text }), 1)[key];
  const value = Reflect.get(Object(part), 'value');
  const [first] = key === 'cards' && value !== undefined ? value[0] : [];
  const shown = first && [first.index, first.name, first.utilization_percent];
  expect(key === 'cards' ? shown : key === 'cpu' ? value?.[1] : value).toEqual(wanted);
  const odd = / printed unexpected output$/;
  if (wanted === undefined) expect(Reflect.get(Object(part), 'fault')).toMatch(odd);
});

test('parses missing values of the GPU driver as null', () => {
  const name = 'NVIDIA A100-SXM4-40GB MIG 1g.5gb';
  const line = `1, ${name}, [N/A], [Not Supported], [N/A], N/A, [Unknown Error]`;
  const missing = { utilization_percent: null, memory_used_mib: null, temperature_c: null };
  expect(parseSample(probeOutput({ cards1: line }), 1).cards).toEqual({
    value: [[{ ...missing, index: 1, name, memory_total_mib: null, power_w: null }]],
  });
});

type Change = Parameters<typeof probeOutput>[0];
type Fault = readonly [keyof Sample, Change, string];
/** Texts of a part that are unexpected output. */
const odd = (part: keyof Sample, name: string, source: string, ...texts: string[]) =>
  texts.map((text): Fault => [part, { [name]: text }, `${source} printed unexpected output`]);
const JOB = 'the state of the job';
/** Each part, what its program printed, and the message in the sample. */
const FAULTS: readonly Fault[] = [
  ['cards', { cards1: { code: 127 } }, 'nvidia-smi is missing'],
  ['cards', { cards2: { code: 137 } }, 'nvidia-smi did not respond within 4 s'],
  ...[1, 2, 3, 6, 9, 12, 15, 126, 255].map((code): Fault => {
    const change = { cards3: { code, text: PARTS.cards1 ?? '' } };
    return ['cards', change, `nvidia-smi failed with exit code ${code}`];
  }),
  ...odd(
    ...(['cards', 'cards1', 'nvidia-smi', ''] as const),
    ...['x[N/A]', '[N/A] W', 'N/A W', '69,95'].map((power) => `0, H100, 0, 5, 81559, 31, ${power}`),
    ...['0, NVIDIA H100 80GB HBM3, 0, 5', card(0, 'H100', 101), card(0, 'H100', -1)],
    ...[card(0, '\u001b[2J', 0), '\u007fELF\u0002\u0001\u0000\u00ff, \u0000'],
    `${PARTS.cards1}\nUnable to determine the device handle`,
  ),
  ['cpu', { cpu1: { code: 1 } }, '/proc/stat failed with exit code 1'],
  ...odd('cpu', 'cpu2', '/proc/stat', 'cpu  all of it'),
  ...odd('traffic', 'net', '/proc/net/dev', 'Inter-|', `${PARTS.net}\n  eth1: many`),
  ...odd('uptime', 'uptime', '/proc/uptime', '5000,25'),
  ['input', { terminals: { code: 1 } }, 'who failed with exit code 1'],
  ...odd('input', 'terminals', 'who', 'root  pts/0  Jan 15 10:00   ?   1234 (10.0.0.1)'),
  ['input', { ptys: { code: 127 } }, 'stat of /dev/pts is missing'],
  ['input', { ptys: { code: 1, text: '900 1' } }, 'stat of /dev/pts failed with exit code 1'],
  ...odd(
    ...(['input', 'ptys', 'stat of /dev/pts'] as const),
    ...['1010 1000', '900.5 1000', '900', '900 1000\n? 1000', '900 ', '900 1000x'],
  ),
  ...odd('job', 'job', JOB, 'gpucloud-run paused\ngpucloud-run ready', 'gpucloud-run exited'),
];

test.each(FAULTS)('rejects a sample: %s of %j', (part, change, fault) => {
  expect(parse(probeOutput(change))[part]).toEqual({ fault });
});

test('rejects a part of a sample that is truncated or ends within a line', () => {
  const whole = probeOutput();
  const cut = whole.slice(0, whole.indexOf('gpucloud-probe end cards2'));
  expect(parse(cut).cards).toEqual({ fault: 'nvidia-smi did not finish' });
  expect(parse(cut).disk).toEqual({ value: 61 });
  const inLine = whole.replace('\ngpucloud-probe end cards1 0', 'gpucloud-probe end cards1 0');
  expect(parse(inLine).cards).toEqual({ fault: 'nvidia-smi did not finish' });
  for (const text of ['', '\n', 'Welcome', 'gpucloud-probe begin', '\u0000\u00ff'.repeat(1000)]) {
    expect(parse(text).uptime).toEqual({ fault: '/proc/uptime did not finish' });
  }
});

test('never parses a truncated part as complete', () => {
  const whole = probeOutput();
  for (let end = 0; end < whole.length - 1; end += 1) {
    const { cards, cpu } = parse(whole.slice(0, end));
    const isAfter = (name: string) =>
      end >= whole.indexOf(`gpucloud-probe end ${name} 0`) + `gpucloud-probe end ${name} 0`.length;
    expect('value' in cards).toBe(isAfter('cards3'));
    expect('value' in cpu).toBe(isAfter('cpu2'));
  }
});

test.each([
  ['root     pts/0        Jan 15 10:00   .          1234 (10.0.0.1)', 0],
  ['root     pts/0        2026-01-15 10:00 00:05        1234 (10.0.0.1)', 300],
  ['root     pts/0        Jan 15 10:00 23:59        1234', 86_340],
  ['root     pts/0        Jan 15 10:00  old         1234 (tmux(77).%0)', 86_400],
  ['a pts/0 Jan 1 10:00 old 1 (x)\nb pts/1 Jan 1 10:00 00:07 2 (y)', 420],
  ['a pts/0 Jan 1 10:00 00:07 1 (x)\n\nb pts/1 Jan 1 10:00 old 2 (y)\n', 420],
])('reads the last input in a sample with %j', (terminals, seconds) => {
  expect(parse(probeOutput({ terminals })).input).toEqual({ value: seconds });
});

test.each([
  ['', '900 1000', 100],
  ['', '900 1000\n998 1001\n0 1001', 3],
  ['', '998 1001\n900 1000', 3],
  ['a pts/0 Jan 1 10:00 00:07 1 (x)', '900 1000', 100],
  ['a pts/0 Jan 1 10:00 . 1 (x)', '900 1000', 0],
  ['a pts/0 Jan 1 10:00 00:07 1 (x)', '', 420],
])('uses the most recent input of who %j and the terminals %j', (terminals, ptys, seconds) => {
  expect(parse(probeOutput({ terminals, ptys })).input).toEqual({ value: seconds });
});

const NO_STATE = { fault: 'the state of the job printed unexpected output' };
test.each([
  ['gpucloud-run running\ngpucloud-run ready', { value: true }],
  ['gpucloud-run exited 0\ngpucloud-run rsync\ngpucloud-run ready', { value: false }],
  ['gpucloud-run lost\ngpucloud-run home\ngpucloud-run ready', { value: false }],
  ['gpucloud-run exited 0\ngpucloud-run running\ngpucloud-run ready', { value: true }],
  ['gpucloud-run none\ngpucloud-run ready', { value: false }],
  ['gpucloud-run running', NO_STATE],
  ['gpucloud-run exited 0', NO_STATE],
  ['', NO_STATE],
])('reads the state of the job from %j', (job, state) => {
  expect(parse(probeOutput({ job })).job).toEqual(state);
});

describe('the probe script', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gpucloud-probe-'));
    mkdirSync(join(home, 'bin'));
    mkdirSync(join(home, 'proc', 'net'), { recursive: true });
    write('proc/stat', `${PARTS.cpu1}\n`);
    write('proc/uptime', `${PARTS.uptime}\n`);
    write('proc/meminfo', `${PARTS.memory}\n`);
    write('proc/net/dev', `${PARTS.net}\n`);
    // Only the time limit really elapses; other sleeps return at once.
    program('sleep', 'case $1 in 1) ;; *) exec /bin/sleep 0.3 ;; esac');
    program('who', '');
    program('nvidia-smi', `echo "${PARTS.cards1}"`);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const write = (name: string, text: string, mode = 0o644) =>
    writeFileSync(join(home, name), text, { mode });
  const program = (name: string, script: string) =>
    write(`bin/${name}`, `#!/bin/sh\n${script}\n`, 0o755);
  const probe = (samples = 1) =>
    parseSample(
      execFileSync('sh', ['-c', PROBE_SCRIPT, 'sh', String(samples)], {
        cwd: home,
        env: {
          PATH: `${home}/bin:/usr/bin:/bin`,
          GPUCLOUD_PROC: join(home, 'proc'),
          LC_ALL: 'de_DE.UTF-8',
        },
        encoding: 'latin1',
        timeout: 10_000,
      }),
      samples,
    );

  test('reads every part of a sample and deletes its files', () => {
    const before = readdirSync(home, { recursive: true });
    const sample = probe(3);
    for (const part of Object.values(sample))
      if (typeof part === 'object') expect(part).toHaveProperty('value');
    expect(sample.cards).toMatchObject({ value: { length: 3 } });
    expect(readdirSync(home, { recursive: true })).toEqual(before);
  });

  test('reports a missing program and stops a hanging one', () => {
    program('who', 'exec /bin/sleep 30');
    program('nvidia-smi', 'exit 127');
    const sample = probe();
    expect(sample.input).toEqual({ fault: 'who did not respond within 4 s' });
    expect(sample.cards).toEqual({ fault: 'nvidia-smi is missing' });
    expect(sample.traffic).toEqual({ value: 5000 });
  });

  /** Adds a terminal that was last read this many seconds ago. */
  const terminal = (name: string, ago: number) => {
    mkdirSync(join(home, 'proc', 'pts'), { recursive: true });
    write(`proc/pts/${name}`, '');
    const at = Math.floor(Date.now() / 1000) - ago;
    utimesSync(join(home, 'proc', 'pts', name), at, at - 5000);
  };

  test('reports input in a terminal that who does not list', () => {
    terminal('ptmx', 0);
    expect(probe().input).toEqual({ value: Number.POSITIVE_INFINITY });
    terminal('0', 7200);
    terminal('12', 600);
    const { input } = probe();
    const seconds = 'value' in input ? input.value : Number.NaN;
    expect(seconds).toBeGreaterThanOrEqual(600);
    expect(seconds).toBeLessThan(660);
  });

  test.each([
    ['is missing', 'exit 127', 'stat of /dev/pts is missing'],
    ['fails', 'echo 0; exit 1', 'stat of /dev/pts failed with exit code 1'],
    ['prints unexpected output', 'echo 900.5', 'stat of /dev/pts printed unexpected output'],
  ])('reports that stat %s only if a terminal is open', (_what, script, fault) => {
    program('stat', script);
    expect(probe().input).toEqual({ value: Number.POSITIVE_INFINITY });
    terminal('0', 7200);
    const sample = probe();
    expect(sample.input).toEqual({ fault });
    expect(sample.cards).toMatchObject({ value: { length: 1 } });
  });

  test('reports a running job in a sample', () => {
    mkdirSync(join(home, 'gpucloud-run', 'started'), { recursive: true });
    expect(probe().job).toEqual({ value: true });
    write('gpucloud-run/exit', '000\n');
    expect(probe().job).toEqual({ value: false });
  });

  test('reports missing files and reads the other parts', () => {
    rmSync(join(home, 'proc'), { recursive: true });
    const sample = probe();
    expect(sample.cpu).toEqual({ fault: '/proc/stat failed with exit code 1' });
    expect(sample.cards).toMatchObject({ value: { length: 1 } });
  });
});
