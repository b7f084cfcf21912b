import type { DetailLine, Section, View } from '../../output/output.ts';
import { roublesText } from '../../rules/money.ts';
import type { BaseImage, PricedOffer, SandboxStatus } from '../../sandbox/index.ts';

/** A time of the virtual clock: always absolute. */
function virtualTime(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** The state of a sandbox, and for `advance` its cost. */
interface ShownStatus extends SandboxStatus {
  /** Roubles that left the balance during this command. */
  readonly charged?: string;
}

const statusSections: readonly Section<ShownStatus>[] = [
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
    heading: 'Failures to come',
    lines: (s) => s.faults.map((fault) => ({ label: fault, value: 'not caused yet' })),
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

export const statusView: View<ShownStatus> = {
  columns: [
    { id: 'now', header: 'SANDBOX TIME', value: (s) => s.now },
    { id: 'speed', header: 'SPEED', value: (s) => s.speed },
    { id: 'balance', header: 'BALANCE', kind: 'money', value: (s) => s.balance },
    { id: 'available', header: 'AVAILABLE', kind: 'money', value: (s) => s.available },
    { id: 'reserved', header: 'RESERVED', kind: 'money', value: (s) => s.reserved },
    { id: 'debt', header: 'DEBT', kind: 'money', value: (s) => s.debt },
    { id: 'charged', header: 'CHARGED', kind: 'money', value: (s) => s.charged, hidden: true },
    { id: 'instances', header: 'INSTANCES', value: (s) => s.instances.length },
    { id: 'drives', header: 'DRIVES', value: (s) => s.drives.length },
    { id: 'faults', header: 'FAULTS', value: (s) => s.faults.join(' '), hidden: true },
  ],
  // There is one sandbox per file, and it has no id.
  id: () => null,
  empty: 'No sandbox.',
  sections: statusSections,
};

/** The word to type for an offer or image. */
export type Typed = (one: { readonly id: string; readonly name: string }) => string;

/** Offers and images share too few columns for one table. */
export const offerView = (typed: Typed): View<PricedOffer> => ({
  columns: [
    { id: 'offer', header: 'OFFER', value: typed },
    { id: 'name', header: 'NAME', value: (o) => o.name },
    { id: 'price_per_hour', header: 'PER HOUR', kind: 'money', value: (o) => o.price_per_hour },
    { id: 'vram_gb', header: 'VRAM', kind: 'gigabytes', value: (o) => o.vram_gb },
    { id: 'in_stock', header: 'STOCK', kind: 'yes', value: (o) => o.in_stock },
    { id: 'region', header: 'REGION', value: (o) => o.region },
  ],
  id: (o) => o.id,
  empty: 'No offers.',
});

export const imageView = (typed: Typed): View<BaseImage> => ({
  columns: [
    { id: 'image', header: 'IMAGE', value: typed },
    { id: 'name', header: 'NAME', value: (i) => i.name },
    { id: 'cuda_version', header: 'CUDA', value: (i) => i.cuda_version },
    { id: 'driver_version', header: 'DRIVER', value: (i) => i.driver_version },
    { id: 'supports_docker', header: 'DOCKER', kind: 'yes', value: (i) => i.supports_docker },
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
  columns: [
    { id: 'offers', header: 'OFFERS', value: (c) => c.offers.length },
    { id: 'images', header: 'IMAGES', value: (c) => c.images.length },
  ],
  id: () => null,
  empty: 'The catalog is empty.',
};

/** An offer or image as a list row, for row formats. */
export type CatalogRow =
  | ({ readonly kind: 'offer' } & PricedOffer)
  | ({ readonly kind: 'image' } & BaseImage);

export const catalogRowView: View<CatalogRow> = {
  columns: [
    { id: 'kind', header: 'KIND', value: (r) => r.kind },
    { id: 'id', header: 'ID', value: (r) => r.id },
    { id: 'name', header: 'NAME', value: (r) => r.name },
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

/** Address and key of a served sandbox: a contract with scripts. */
export interface Served {
  readonly url: string;
  readonly api_key: string;
}

export const servedView: View<Served> = {
  columns: [
    { id: 'url', header: 'URL', value: (s) => s.url },
    { id: 'api_key', header: 'API KEY', value: (s) => s.api_key },
  ],
  id: (s) => s.url,
  empty: 'No sandbox is running.',
};
