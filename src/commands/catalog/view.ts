import type { CatalogEntry, Source } from '../../catalog/index.ts';
import { field, type View } from '../../output/output.ts';
import { gpucloud } from '../../output/shell-line.ts';

const WORDS: Readonly<Record<Source, string>> = {
  added: 'by hand',
  seen: 'instances',
  sandbox: 'sandbox',
};

export const entryView: View<CatalogEntry> = {
  columns: [
    field('kind', 'KIND'),
    field('name', 'NAME'),
    field('id', 'ID'),
    { id: 'sources', header: 'FROM', value: fromText, spared: true },
    field('price_per_hour', 'LAST PRICE', { kind: 'money' }),
    field('price_at', 'PRICE OF', { kind: 'time', spared: true }),
    field('seen_at', 'SEEN', { kind: 'time', hidden: true }),
    field('service_name', 'SERVICE NAME', { hidden: true }),
    field('in_stock', 'IN STOCK', { kind: 'yes', hidden: true }),
    field('in_stock_at', 'STOCK OF', { kind: 'time', hidden: true }),
    field('region', 'REGION', { hidden: true }),
    field('gpu', 'GPU', { hidden: true }),
    field('gpu_count', 'GPUS', { hidden: true }),
    field('vram_gb', 'VRAM', { kind: 'gigabytes', hidden: true }),
    field('cuda_version', 'CUDA', { hidden: true }),
  ],
  id: (one) => one.id,
  empty: `No known offers or images yet. Copy their IDs from the service's web console; "${gpucloud('catalog', 'add')}" names them. Reading an instance adds its offer and image.`,
};

function fromText({ sources }: CatalogEntry): string {
  return sources.map((source) => WORDS[source]).join(', ');
}
