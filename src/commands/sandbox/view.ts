import type { SandboxStatus, ServedSandbox } from '../../json-results/local.ts';
import { type DetailLine, field, type Section, type View } from '../../output/output.ts';
import { local } from '../../output/time.ts';
import { roublesText } from '../../rules/money.ts';
import type { BaseImage, PricedOffer } from '../../sandbox/index.ts';

/** Formats a time of the virtual clock, always as an absolute time. */
function virtualTime(iso: string): string {
  return local(Date.parse(iso));
}

const statusSections: readonly Section<SandboxStatus>[] = [
  {
    lines: (s) => [
      { label: 'Sandbox time', value: virtualTime(s.now) },
      { label: 'Speed', value: `${s.speed}× real time` },
      { label: 'Charged', value: s.charged, kind: 'money' },
      { label: 'Balance', value: s.balance, kind: 'money' },
      { label: 'Available', value: s.available, kind: 'money' },
      { label: 'Reserved', value: s.reserved, kind: 'money' },
      { label: 'Debt', value: Number(s.debt) === 0 ? null : s.debt, kind: 'money' },
      { label: 'Instances', value: countText(s.counts.instances) },
      { label: 'Drives', value: countText(s.counts.drives) },
    ],
  },
  { heading: 'Instances', lines: (s) => s.instances.map(instanceLine) },
  { heading: 'Drives', lines: (s) => s.drives.map(driveLine) },
  {
    heading: 'Pending failures',
    lines: (s) => s.faults.map((fault) => ({ label: fault, value: 'pending' })),
  },
];

function countText(counts: Readonly<Partial<Record<string, number>>>): string {
  const parts = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function instanceLine(instance: SandboxStatus['instances'][number]): DetailLine {
  const paid = instance.paid_until;
  const until = paid === null ? '' : `, paid until ${virtualTime(paid)}`;
  return {
    label: instance.name,
    value: `${instance.status}, ${roublesText(instance.price_per_hour)}/h${until}`,
  };
}

function driveLine(drive: SandboxStatus['drives'][number]): DetailLine {
  return {
    label: drive.name,
    value: `${drive.status}, ${drive.size_gb} GB, ${roublesText(drive.price_per_hour)}/h`,
  };
}

export const statusView: View<SandboxStatus> = {
  columns: [
    field('now', 'SANDBOX TIME'),
    field('speed', 'SPEED'),
    field('balance', 'BALANCE', { kind: 'money' }),
    field('available', 'AVAILABLE', { kind: 'money' }),
    field('reserved', 'RESERVED', { kind: 'money' }),
    field('debt', 'DEBT', { kind: 'money' }),
    field('charged', 'CHARGED', { kind: 'money', hidden: true }),
    { id: 'instances', header: 'INSTANCES', value: (s) => s.instances.length },
    { id: 'drives', header: 'DRIVES', value: (s) => s.drives.length },
    { id: 'faults', header: 'FAULTS', value: (s) => s.faults.join(' '), hidden: true },
  ],
  // Identifies a sandbox by its file, since it has no ID.
  id: () => null,
  empty: 'No sandbox.',
  sections: statusSections,
};

/** Returns the word to type for an offer or image. */
export type Typed = (one: { readonly id: string; readonly name: string }) => string;

/** Offers have their own table, since they share few columns with images. */
export const offerView = (typed: Typed): View<PricedOffer> => ({
  columns: [
    { id: 'offer', header: 'OFFER', value: typed },
    field('name', 'NAME'),
    field('price_per_hour', 'PER HOUR', { kind: 'money' }),
    field('vram_gb', 'VRAM', { kind: 'gigabytes' }),
    field('in_stock', 'STOCK', { kind: 'yes' }),
    field('region', 'REGION'),
  ],
  id: (o) => o.id,
  empty: 'No offers.',
});

export const imageView = (typed: Typed): View<BaseImage> => ({
  columns: [
    { id: 'image', header: 'IMAGE', value: typed },
    field('name', 'NAME'),
    field('cuda_version', 'CUDA'),
    field('driver_version', 'DRIVER'),
    field('supports_docker', 'DOCKER', { kind: 'yes' }),
  ],
  id: (i) => i.id,
  empty: 'No images.',
});

export interface Catalog {
  readonly offers: readonly PricedOffer[];
  readonly images: readonly BaseImage[];
}

/** The whole catalog as one document, for structured formats. */
export const catalogView: View<Catalog> = {
  columns: [],
  id: () => null,
  empty: 'The catalog is empty.',
};

/** An offer or image as a list row, for row formats. */
export type CatalogRow =
  | ({ readonly kind: 'offer' } & PricedOffer)
  | ({ readonly kind: 'image' } & BaseImage);

export const catalogRowView: View<CatalogRow> = {
  columns: [
    field('kind', 'KIND'),
    field('id', 'ID'),
    field('name', 'NAME'),
    { id: 'price_per_hour', header: 'PER HOUR', kind: 'money', value: offered('price_per_hour') },
    { id: 'gpu', header: 'GPU', value: (r) => (r.kind === 'offer' ? r.gpu_model.name : null) },
    { id: 'gpu_count', header: 'GPUS', value: offered('gpu_count') },
    { id: 'vram_gb', header: 'VRAM', kind: 'gigabytes', value: offered('vram_gb') },
    { id: 'in_stock', header: 'STOCK', kind: 'yes', value: offered('in_stock') },
    { id: 'region', header: 'REGION', value: offered('region') },
    {
      id: 'cuda_version',
      header: 'CUDA',
      value: (r) => (r.kind === 'image' ? r.cuda_version : null),
    },
  ],
  id: (r) => r.id,
  empty: 'The catalog is empty.',
};

function offered<K extends keyof PricedOffer>(field: K) {
  return (row: CatalogRow) => (row.kind === 'offer' ? row[field] : null);
}

export const servedView: View<ServedSandbox> = {
  columns: [field('url', 'URL'), field('api_key', 'API KEY')],
  id: (s) => s.url,
  empty: 'No sandbox is running.',
};
