/** What a name is for. */
export type Kind = 'offer' | 'image';

export const KINDS: readonly Kind[] = ['offer', 'image'];

/** How a name came to be known: by hand, from a machine that was read, as a part of the sandbox. */
export type Source = 'added' | 'seen' | 'sandbox';

/** An offer or a base image of one service, as far as this computer knows it. */
export interface CatalogEntry {
  readonly kind: Kind;
  readonly id: string;
  /** The name given by hand, or else the service's own. */
  readonly name: string | null;
  readonly given_name: string | null;
  readonly service_name: string | null;
  readonly region: string | null;
  /** Whether it can be had now, as the sandbox alone tells; null where nobody does. */
  readonly in_stock: boolean | null;
  /** The model of the GPU. */
  readonly gpu: string | null;
  readonly cuda_version: string | null;
  /** Roubles, a decimal string: what the newest machine of this offer that was seen costs. */
  readonly price_per_hour: string | null;
  /** When that machine was created, which is when its price was fixed. ISO 8601. */
  readonly price_at: string | null;
  /** When a machine with it was last read, to the hour. ISO 8601. */
  readonly seen_at: string | null;
  readonly sources: readonly Source[];
}

/** What the sandbox knows of itself. */
export interface BuiltIn {
  readonly offers: readonly {
    readonly id: string;
    readonly name: string;
    readonly region: string;
    readonly in_stock: boolean;
    readonly gpu_model: { readonly name: string };
    readonly price_per_hour: string;
  }[];
  readonly images: readonly {
    readonly id: string;
    readonly name: string;
    readonly cuda_version: string | null;
  }[];
}

export function builtInEntries({ offers, images }: BuiltIn): CatalogEntry[] {
  return [
    ...offers.map(({ id, name, region, gpu_model, price_per_hour, in_stock }) => ({
      ...entry({ kind: 'offer', id, name, region, gpu: gpu_model.name, price_per_hour }),
      in_stock,
    })),
    ...images.map(({ id, name, cuda_version }) =>
      entry({ kind: 'image', id, name, cuda_version: cuda_version ?? undefined }),
    ),
  ].map((known) => ({ ...known, sources: ['sandbox'] }));
}

/** What the file holds of an offer or an image; see schema.ts. */
export interface EntryFields {
  readonly kind: Kind;
  readonly id: string;
  readonly given_name?: string | undefined;
  readonly name?: string | undefined;
  readonly region?: string | undefined;
  readonly gpu?: string | undefined;
  readonly cuda_version?: string | undefined;
  readonly price_per_hour?: string | undefined;
  readonly price_at?: string | undefined;
  readonly seen_at?: string | undefined;
}

export function entry(fields: EntryFields): CatalogEntry {
  const { given_name, name, seen_at } = fields;
  return {
    kind: fields.kind,
    id: fields.id,
    name: given_name ?? name ?? null,
    given_name: given_name ?? null,
    service_name: name ?? null,
    region: fields.region ?? null,
    in_stock: null,
    gpu: fields.gpu ?? null,
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

/** An entry of the sandbox that was given a name by hand as well. */
export function joined(builtIn: CatalogEntry, own: CatalogEntry): CatalogEntry {
  return {
    ...builtIn,
    name: own.given_name ?? builtIn.name,
    given_name: own.given_name,
    sources: [...own.sources, ...builtIn.sources],
  };
}
