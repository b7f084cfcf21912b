import type { CatalogEntry, Source } from '../../catalog/index.ts';
import type { View } from '../../output/output.ts';

const WORDS: Readonly<Record<Source, string>> = {
  added: 'by hand',
  seen: 'machines',
  sandbox: 'sandbox',
};

export const entryView: View<CatalogEntry> = {
  columns: [
    { id: 'kind', header: 'KIND', value: (one) => one.kind },
    { id: 'name', header: 'NAME', value: (one) => one.name },
    { id: 'id', header: 'ID', value: (one) => one.id },
    {
      id: 'price_per_hour',
      header: 'LAST PRICE',
      kind: 'money',
      value: (one) => one.price_per_hour,
    },
    { id: 'price_at', header: 'PRICE OF', kind: 'time', value: (one) => one.price_at },
    { id: 'sources', header: 'FROM', value: fromText },
    { id: 'seen_at', header: 'SEEN', kind: 'time', value: (one) => one.seen_at, hidden: true },
    { id: 'service_name', header: 'SERVICE NAME', value: (one) => one.service_name, hidden: true },
    { id: 'region', header: 'REGION', value: (one) => one.region, hidden: true },
    { id: 'gpu', header: 'GPU', value: (one) => one.gpu, hidden: true },
    { id: 'cuda_version', header: 'CUDA', value: (one) => one.cuda_version, hidden: true },
  ],
  id: (one) => one.id,
  empty:
    'No known offers or images yet. Reading an instance adds its offer and image; "gpucloud catalog add" adds one by hand.',
};

function fromText({ sources }: CatalogEntry): string {
  return sources.map((source) => WORDS[source]).join(', ');
}
