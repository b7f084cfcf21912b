import type { TopRow } from '../../json-results/instances.ts';
import type { Block, Cell, Column, Kind, View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { spanText } from '../../output/time.ts';

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

/** Lays out the screen for people: a row per card, then the reasons for unread instances. */
export function topBlocks(rows: readonly TopRow[]): Block[] {
  const isIdle = rows.some(({ idle_seconds: idle }) => idle !== null);
  return [
    {
      kind: 'table',
      columns: [
        { header: 'NAME' },
        { header: 'GPU' },
        { header: 'LOAD', kind: 'load' },
        { header: 'VRAM' },
        { header: 'TEMP' },
        { header: 'POWER' },
        { header: 'CPU' },
        { header: 'RAM' },
        { header: 'DISK' },
        ...(isIdle ? [{ header: 'IDLE' }] : []),
        { header: 'PER HOUR', kind: 'money' },
        // A narrow terminal omits the last columns.
        { header: '', kind: 'bar' },
      ],
      rows: cardRows(rows).map((row) => {
        const isFirst = row.gpu === undefined || row.gpu === row.instance.gpus[0];
        return cellsOf(row, isFirst, isIdle);
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

function cellsOf({ instance, gpu }: CardRow, isFirst: boolean, isIdle: boolean): Cell[] {
  const whole = (value: Cell) => (isFirst ? value : BELOW);
  const { cpu_percent: cpu, disk_used_percent: disk, idle_seconds: idle } = instance;
  return [
    instance.name,
    gpu === undefined ? null : `${gpu.index} ${shortModel(gpu.name)}`,
    gpu?.utilization_percent,
    share(gpu?.memory_used_mib, gpu?.memory_total_mib),
    withUnit(gpu?.temperature_c, '°C'),
    withUnit(gpu?.power_w, 'W'),
    whole(withUnit(cpu, '%')),
    whole(share(instance.memory_used_mib, instance.memory_total_mib)),
    whole(withUnit(disk, '%')),
    ...(isIdle ? [whole(idle === null ? null : spanText(idle))] : []),
    whole(instance.price_per_hour),
    gpu === undefined ? BELOW : gpu.utilization_percent,
  ];
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
