import type { TopRow } from '../../json-results/instances.ts';
import type { Block, Cell, Column, Kind, View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { spanText } from '../../output/time.ts';
import type { Clock } from '../../system/clock.ts';

type Gpu = TopRow['gpus'][number];

/** One card and its instance in row formats; only the instance in JSON. */
interface CardRow {
  readonly instance: TopRow;
  readonly gpu?: Gpu | undefined;
}

/** Returns one row per card, and one row for an instance without cards. */
export function cardRows(rows: readonly TopRow[]): CardRow[] {
  return rows.flatMap((instance): CardRow[] =>
    instance.gpus.length === 0 ? [{ instance }] : instance.gpus.map((gpu) => ({ instance, gpu })),
  );
}

function ofGpu(id: keyof Gpu & string, header: string, kind?: Kind): Column<CardRow> {
  return { id, header, ...(kind && { kind }), value: ({ gpu }) => gpu?.[id] };
}

function ofInstance(
  id: Exclude<keyof TopRow & string, 'gpus' | 'error'>,
  header: string,
  how: Pick<Column<CardRow>, 'kind' | 'hidden'> = {},
): Column<CardRow> {
  return { id, header, ...how, value: ({ instance }) => instance[id] };
}

export const topView: View<CardRow> = {
  columns: [
    ofInstance('name', 'NAME'),
    ofInstance('id', 'ID', { hidden: true }),
    ofInstance('status', 'STATUS', { kind: 'status', hidden: true }),
    ofGpu('index', 'GPU'),
    { ...ofGpu('name', 'MODEL'), id: 'model' },
    ofGpu('utilization_percent', 'LOAD', 'load'),
    { ...ofGpu('memory_used_mib', 'VRAM MIB'), id: 'vram_used_mib' },
    { ...ofGpu('memory_total_mib', 'OF MIB'), id: 'vram_total_mib' },
    ofGpu('temperature_c', 'TEMP C'),
    ofGpu('power_w', 'POWER W'),
    ofInstance('cpu_percent', 'CPU', { kind: 'load' }),
    ofInstance('memory_used_mib', 'RAM MIB'),
    ofInstance('memory_total_mib', 'RAM OF MIB', { hidden: true }),
    ofInstance('disk_used_percent', 'DISK %'),
    ofInstance('idle_seconds', 'IDLE SECONDS', { hidden: true }),
    ofInstance('price_per_hour', 'PER HOUR', { kind: 'money' }),
    { id: 'error', header: 'ERROR', value: ({ instance }) => instance.error?.message },
  ],
  id: ({ instance }) => instance.id,
  empty: `No known instance is running. Start one: ${gpucloud('instances', 'start', 'NAME')}, or rent one: ${gpucloud('instances', 'create')}`,
  json: ({ instance }) => instance,
};

/** A column of the screen. Rows below an instance's first leave out what the instance shares. */
interface ScreenColumn {
  readonly header: string;
  readonly kind?: Kind;
  readonly isShared?: true;
  value(row: CardRow): Cell;
}

/**
 * Lays out the screen for people: a row per card, then the reasons for unread instances. A narrow
 * terminal omits the last columns. `history`: the loads that --watch has seen.
 */
export function topBlocks(rows: readonly TopRow[], history?: LoadHistory): Block[] {
  const isIdle = rows.some(({ idle_seconds: idle }) => idle !== null);
  const bar: ScreenColumn = {
    header: '',
    kind: 'bar',
    value: ({ gpu }) => (gpu === undefined ? BELOW : gpu.utilization_percent),
  };
  const columns: ScreenColumn[] = [
    { header: 'NAME', value: ({ instance }) => instance.name },
    { header: 'GPU', value: ({ gpu }) => gpu && `${gpu.index} ${shortModel(gpu.name)}` },
    { header: 'LOAD', kind: 'load', value: ({ gpu }) => gpu?.utilization_percent },
    ...(history === undefined
      ? []
      : [{ header: '2 MIN', kind: 'blocks' as const, value: history.blocks }]),
    { header: 'VRAM', value: ({ gpu }) => share(gpu?.memory_used_mib, gpu?.memory_total_mib) },
    ...(history === undefined ? [] : [bar]),
    { header: 'TEMP', value: ({ gpu }) => withUnit(gpu?.temperature_c, '°C') },
    { header: 'POWER', value: ({ gpu }) => withUnit(gpu?.power_w, 'W') },
    { header: 'CPU', isShared: true, value: ({ instance: i }) => withUnit(i.cpu_percent, '%') },
    {
      header: 'RAM',
      isShared: true,
      value: ({ instance: i }) => share(i.memory_used_mib, i.memory_total_mib),
    },
    {
      header: 'DISK',
      isShared: true,
      value: ({ instance: i }) => withUnit(i.disk_used_percent, '%'),
    },
    ...(isIdle ? [IDLE] : []),
    {
      header: 'PER HOUR',
      kind: 'money',
      isShared: true,
      value: ({ instance }) => instance.price_per_hour,
    },
    ...(history === undefined ? [bar] : []),
  ];
  return [
    {
      kind: 'table',
      columns,
      // Name, card, load and blocks.
      ...(history === undefined ? {} : { uncut: 4 }),
      rows: cardRows(rows).map((row) => {
        const isFirst = row.gpu === undefined || row.gpu === row.instance.gpus[0];
        return columns.map(({ isShared, value }) => (isShared && !isFirst ? BELOW : value(row)));
      }),
    },
    {
      kind: 'items',
      items: rows.flatMap(({ error }) =>
        error === null ? [] : [{ text: error.message, colour: 'yellow' as const }],
      ),
    },
  ];
}

/** Replaces an instance's own value in all rows but its first. */
const BELOW = ' ';

const IDLE: ScreenColumn = {
  header: 'IDLE',
  isShared: true,
  value: ({ instance: { idle_seconds: idle } }) => (idle === null ? null : spanText(idle)),
};

/** Milliseconds of one block, and the number of blocks: two minutes. */
const BLOCK = 10_000;
const BLOCKS = 12;
const EIGHTHS = '▁▂▃▄▅▆▇█';

interface LoadHistory {
  add(rows: readonly TopRow[]): void;
  /** Draws the card's load of the last two minutes, the newest last. */
  blocks(row: CardRow): string;
}

/** Keeps the load of each card for two minutes. */
export function createLoadHistory({ monotonic }: Pick<Clock, 'monotonic'>): LoadHistory {
  const seen = new Map<string, { readonly at: number; readonly load: number }[]>();
  const keyOf = ({ instance, gpu }: CardRow) => `${instance.id} ${gpu?.index}`;
  return {
    add(rows) {
      const at = monotonic();
      for (const row of cardRows(rows)) {
        const load = row.gpu?.utilization_percent;
        const kept = (seen.get(keyOf(row)) ?? []).filter((one) => at - one.at < BLOCK * BLOCKS);
        seen.set(keyOf(row), load == null ? kept : [...kept, { at, load }]);
      }
    },
    blocks(row) {
      const loads = seen.get(keyOf(row)) ?? [];
      const now = loads.at(-1)?.at ?? 0;
      let text = '';
      let shown: string | undefined;
      for (let left = BLOCKS - 1; left >= 0; left -= 1) {
        const within = loads.filter(({ at }) => Math.floor((now - at) / BLOCK) === left);
        const sum = within.reduce((total, { load }) => total + load, 0);
        // An interval without a reading repeats the block before it.
        if (within.length > 0)
          shown = EIGHTHS[Math.min(7, Math.floor((sum / within.length) * 0.08))];
        text += shown ?? '';
      }
      return text;
    },
  };
}

function shortModel(name: string): string {
  return name.replace(/^NVIDIA (GeForce )?/, '');
}

function withUnit(value: number | null | undefined, unit: string): string | null {
  return value == null ? null : `${Math.round(value)} ${unit}`;
}

/** Formats `71/80 GB`. Counts GiB as GB, as GPU vendors do. */
function share(used: number | null | undefined, total: number | null | undefined): string | null {
  if (used == null || total == null) return null;
  const gib = (mib: number) => Math.round(mib / 1024);
  return `${gib(used)}/${gib(total)} GB`;
}
