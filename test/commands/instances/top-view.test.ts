import { expect, test } from 'vitest';
import {
  cardRows,
  createLoadHistory,
  topBlocks,
  topView,
} from '../../../src/commands/instances/top-view.ts';
import type { TopRow } from '../../../src/json-results/instances.ts';
import { screenText } from '../../../src/output/table/screen.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const CARDS = ['NVIDIA H100 80GB', 'my NVIDIA'];

function rowOf(...loads: (number | null)[]): TopRow {
  return {
    id: ID,
    name: 'trainer',
    status: 'ACTIVE',
    price_per_hour: '89.90',
    gpus: loads.map((utilization_percent, index) => ({
      index,
      name: CARDS[index] ?? '',
      utilization_percent,
      memory_used_mib: 72_704,
      memory_total_mib: 81_920,
      temperature_c: 64,
      power_w: 612,
    })),
    cpu_percent: 12,
    memory_used_mib: 5_000,
    memory_total_mib: 64_000,
    disk_used_percent: 61,
    idle_seconds: null,
    error: null,
  };
}

/** Reads loads at seconds, and returns the blocks of the first card. */
function blocksOf(readings: readonly (readonly [seconds: number, load: number | null])[]): string {
  let time = 0;
  const history = createLoadHistory({ monotonic: () => time });
  for (const [seconds, load] of readings) {
    time = seconds * 1000;
    history.add([rowOf(load, 0)]);
  }
  const instance = rowOf(0, 0);
  return history.blocks({ instance, gpu: instance.gpus[0] });
}

type Reading = readonly [seconds: number, load: number | null];
const idle = Array.from({ length: 13 }, (_, at): Reading => [130 + 10 * at, 0]);
/** Reads a load at each of the seconds. */
const loads = (text: string) =>
  text.split(', ').map((one): Reading => {
    const [seconds, load] = one.split(': ');
    return [Number(seconds), load === 'unknown' ? null : Number(load)];
  });

test.each([
  ['draws nothing before the first reading', [], ''],
  ['draws one block for ten seconds', loads('0: 100, 5: 100'), '█'],
  ['draws the lowest block for no load', loads('0: 0, 10: 0'), '▁▁'],
  ['puts the newest block last', loads('0: 0, 10: 50, 20: 100'), '▁▅█'],
  ['averages ten seconds, counted back from the newest', loads('0: 100, 15: 0, 20: 100'), '██▅'],
  ['repeats a missing reading', loads('0: 100, 10: unknown, 20: unknown, 30: 0'), '███▁'],
  ['forgets what is older than two minutes', [[0, 100], ...idle], '▁'.repeat(12)],
] as const)('%s', (_what, readings, blocks) => {
  expect(blocksOf(readings)).toBe(blocks);
});

test('keeps all blocks at 40 columns', async () => {
  let now = 0;
  const history = createLoadHistory({ monotonic: () => now });
  for (; now < 120_000; now += 10_000) history.add([rowOf(97)]);
  const paint = (_colour: unknown, shown: string) => shown;
  const style = { terminal: true, now: () => 0, bars: true, cells: 40, paint };
  expect(await screenText(topBlocks([rowOf(97)], history), style)).toBe(
    'NAME     GPU          LOAD  2 MIN\n' + //
      'trainer  0 H100 80GB  97 %  ████████████\n',
  );
});

test.each([
  [
    120,
    'NAME     GPU          LOAD  2 MIN  VRAM                  TEMP   POWER  CPU   RAM      DISK  PER HOUR\n' +
      'trainer  0 H100 80GB  97 %  █      71/80 GB  █████████▊  64 °C  612 W  12 %  5/63 GB  61 %   89.90 ₽\n',
  ],
  [
    80,
    'NAME     GPU          LOAD  2 MIN  VRAM                  TEMP   POWER  CPU\n' +
      'trainer  0 H100 80GB  97 %  █      71/80 GB  █████████▊  64 °C  612 W  12 %\n',
  ],
  [
    40,
    'NAME     GPU          LOAD  2 MIN\n' + //
      'trainer  0 H100 80GB  97 %  █\n',
  ],
])('shows the bar and the blocks of --watch at %i columns', async (cells, text) => {
  const history = createLoadHistory({ monotonic: () => 0 });
  const rows = [rowOf(97)];
  history.add(rows);
  const style = { terminal: true, now: () => 0, bars: true, cells };
  const paint = (_colour: unknown, shown: string) => shown;
  expect(await screenText(topBlocks(rows, history), { ...style, paint })).toBe(text);
  // A screen reader gets neither.
  const plain = await screenText(topBlocks(rows, history), { ...style, paint, bars: false });
  expect(plain).not.toMatch(/[█▊▇]/);
});

test('shows each card below its instance, and what could not be read below all', async () => {
  const error = { code: 'unreachable', message: 'lab: SSH does not respond.' };
  const rows = [
    rowOf(97, null),
    { ...rowOf(), name: 'lab', idle_seconds: 3_900, cpu_percent: null, error },
  ];
  const paint = (_colour: unknown, shown: string) => shown;
  const style = { terminal: true, now: () => 0, bars: true, cells: 120, paint };
  expect(await screenText(topBlocks(rows), style)).toBe(
    [
      'NAME     GPU          LOAD  VRAM      TEMP   POWER  CPU   RAM      DISK  IDLE       PER HOUR',
      'trainer  0 H100 80GB  97 %  71/80 GB  64 °C  612 W  12 %  5/63 GB  61 %  -           89.90 ₽  █████████▊',
      'trainer  1 my NVIDIA     -  71/80 GB  64 °C  612 W                                            -',
      'lab      -               -  -         -      -      -     5/63 GB  61 %  1 h 5 min   89.90 ₽',
      '',
      '- lab: SSH does not respond.',
      '',
    ].join('\n'),
  );
  expect(
    cardRows(rows).map((row) => topView.columns.map(({ value }) => value(row) ?? null)),
  ).toEqual(
    [
      [0, 97],
      [1, null],
    ]
      .map(([at = null, load = null]): unknown[] => [
        ...['trainer', ID, 'ACTIVE', at, CARDS[Number(at)], load, 72_704, 81_920, 64, 612],
        ...[12, 5_000, 64_000, 61, null, '89.90', null],
      ])
      .concat([
        [
          ...['lab', ID, 'ACTIVE', null, null, null, null, null, null, null],
          ...[null, 5_000, 64_000, 61, 3_900, '89.90', error.message],
        ],
      ]),
  );
});
