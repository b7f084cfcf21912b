import type { CatalogEntry } from '../json-results/local.ts';
import { local } from '../output/time.ts';
import { roublesText } from '../rules/money.ts';
import type { NameRecord } from './file.ts';

/** What a catalog name can identify. */
export type Kind = CatalogEntry['kind'];

export const KINDS: readonly Kind[] = ['offer', 'image'];

export type Source = CatalogEntry['sources'][number];

/** The sandbox's built-in catalog. */
export interface BuiltIn {
  readonly offers: readonly {
    readonly id: string;
    readonly name: string;
    readonly region: string;
    readonly in_stock: boolean;
    readonly gpu_count: number;
    readonly gpu_model: { readonly name: string; readonly vram_gb: number };
    readonly price_per_hour: string;
  }[];
  readonly images: readonly {
    readonly id: string;
    readonly name: string;
    readonly cuda_version: string;
  }[];
}

export function builtInEntries({ offers, images }: BuiltIn): CatalogEntry[] {
  return [
    ...offers.map(({ id, name, region, gpu_count, gpu_model, price_per_hour, in_stock }) => ({
      ...entry({
        service: 'sandbox',
        kind: 'offer',
        id,
        name,
        region,
        gpu: gpu_model.name,
        gpu_count,
        vram_gb: gpu_model.vram_gb,
        price_per_hour,
      }),
      in_stock,
    })),
    ...images.map(({ id, name, cuda_version }) =>
      entry({ service: 'sandbox', kind: 'image', id, name, cuda_version }),
    ),
  ].map((known) => ({ ...known, sources: ['sandbox'] }));
}

/** Builds an entry from its stored facts. */
export function entry(fields: NameRecord): CatalogEntry {
  const { given_name, name, seen_at } = fields;
  return {
    kind: fields.kind,
    id: fields.id,
    name: given_name ?? name ?? null,
    given_name: given_name ?? null,
    service_name: name ?? null,
    region: fields.region ?? null,
    in_stock: fields.in_stock ?? null,
    in_stock_at: fields.in_stock_at ?? null,
    gpu: fields.gpu ?? null,
    gpu_count: fields.gpu_count ?? null,
    vram_gb: fields.vram_gb ?? null,
    cuda_version: fields.cuda_version ?? null,
    price_per_hour: fields.price_per_hour ?? null,
    price_at: fields.price_at ?? null,
    seen_at: seen_at ?? null,
    sources: [
      ...(given_name === undefined ? [] : (['added'] as const)),
      ...(seen_at === undefined ? [] : (['seen'] as const)),
    ],
  };
}

/** Merges a sandbox entry with the user's name for it, if any. */
export function joined(builtIn: CatalogEntry, own: CatalogEntry | undefined): CatalogEntry {
  if (own === undefined) return builtIn;
  return {
    ...builtIn,
    name: own.given_name ?? builtIn.name,
    given_name: own.given_name,
    sources: [...own.sources, ...builtIn.sources],
  };
}

/**
 * Returns the entries that match a typed text. Tries the ID first, then a name in any case (added
 * before seen), then the slug (`rtx-4090`), and stops at the first match.
 */
export function fitting(typed: string, entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const [name, short] = [folded(typed), slug(typed)];
  const steps: ((one: CatalogEntry) => boolean)[] = [
    (one) => one.id === typed,
    (one) => name !== '' && folded(one.given_name) === name,
    (one) => name !== '' && folded(one.service_name) === name,
    (one) => short !== '' && slug(one.given_name) === short,
    (one) => short !== '' && slug(one.service_name) === short,
  ];
  return steps.map((fits) => entries.filter(fits)).find(({ length }) => length > 0) ?? [];
}

function folded(name: string | null): string {
  return (name ?? '').normalize('NFKC').trim().toLowerCase();
}

/** `RTX 4090` becomes `rtx-4090`, `Ubuntu 22.04` becomes `ubuntu-22-04`. */
export function slug(name: string | null): string {
  const text = folded(name);
  // Skips compiling the Unicode classes: most names don't need them.
  return text
    .split(/^[\u0000-\u007f]*$/.test(text) ? /[^a-z0-9]+/ : /[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .join('-');
}

/** Describes an entry so that it differs from other matches: `RTX 4090 (ru-1) 4090…`. */
export function describeEntry({ name, region, id }: CatalogEntry): string {
  return [name, region === null ? null : `(${region})`, id]
    .filter((part) => part !== null)
    .join(' ');
}

/** Formats the last price seen, as `45.50 ₽/h on 2026-01-15`; undefined if it is unknown. */
export function priceSeen({ price_per_hour, price_at }: CatalogEntry): string | undefined {
  return price_per_hour === null ? undefined : `${roublesText(price_per_hour)}/h${onDay(price_at)}`;
}

/** Formats `out of stock on 2026-01-15`; undefined unless the offer was last seen out of stock. */
export function stockSeen({ in_stock, in_stock_at }: CatalogEntry): string | undefined {
  return in_stock === false ? `out of stock${onDay(in_stock_at)}` : undefined;
}

function onDay(text: string | null): string {
  const day = dayIn(text);
  return day === undefined ? '' : ` on ${day}`;
}

/** Returns the day of a time, as `2026-01-15` in local time. The sandbox's entries have none. */
export function dayIn(text: string | null): string | undefined {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : local(at).slice(0, 10);
}
