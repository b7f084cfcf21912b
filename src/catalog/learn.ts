import { isMoney } from '../rules/is-money.ts';
import { resourceId } from '../rules/names.ts';
import type { Kind } from './entry.ts';
import type { NameRecord } from './file.ts';

type Text = string | null | undefined;

/** The instance fields about its offer and image. */
export interface SeenInstance {
  readonly price_per_hour_snapshot?: Text;
  readonly created_at?: Text;
  readonly offer?:
    | {
        readonly id?: Text;
        readonly name?: Text;
        readonly region?: Text;
        readonly gpu_model?: { readonly name?: Text } | null | undefined;
      }
    | null
    | undefined;
  readonly base_image?:
    | { readonly id?: Text; readonly name?: Text; readonly cuda_version?: Text }
    | null
    | undefined;
}

/** The facts that one instance shows about an offer or image. */
export interface Lesson {
  readonly kind: Kind;
  readonly id: string;
  readonly facts: Partial<Record<'name' | 'region' | 'gpu' | 'cuda_version', string>>;
  readonly price?: { readonly per_hour: string; readonly at: string | undefined };
}

/** Nobody could type a longer name. */
const LONGEST = 200;

/** "Last seen" is stored to the hour, so that following an instance does not write at each read. */
const SEEN_STEP = 3_600_000;

export function lessonsOf(instance: SeenInstance): Lesson[] {
  const { offer, base_image: image } = instance;
  const lessons: Lesson[] = [];
  if (isId(offer?.id)) {
    const { name, region, gpu_model } = offer;
    const price = priceOf(instance);
    const facts = factsOf({ name, region, gpu: gpu_model?.name });
    lessons.push({ kind: 'offer', id: offer.id, facts, ...(price === undefined ? {} : { price }) });
  }
  if (isId(image?.id)) {
    const { id, name, cuda_version } = image;
    lessons.push({ kind: 'image', id, facts: factsOf({ name, cuda_version }) });
  }
  return lessons;
}

function isId(id: Text): id is string {
  return typeof id === 'string' && resourceId(id).ok;
}

function factsOf(texts: Partial<Record<keyof Lesson['facts'], Text>>): Lesson['facts'] {
  return Object.fromEntries(
    Object.entries(texts).filter(
      ([, text]) => typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST,
    ),
  );
}

/** The price is fixed at creation (API document: Instance), so its date is the creation's. */
function priceOf({ price_per_hour_snapshot: price, created_at }: SeenInstance): Lesson['price'] {
  if (typeof price !== 'string' || !isMoney(price)) return undefined;
  const at = Date.parse(created_at ?? '');
  return { per_hour: price, at: Number.isNaN(at) ? undefined : new Date(at).toISOString() };
}

/** Merges the lesson into the record; returns the same record if nothing is new. */
export function learned(
  before: NameRecord | undefined,
  { kind, id, facts, price }: Lesson,
  service: string,
  now: number,
): NameRecord {
  const known: NameRecord = before ?? { service, kind, id };
  const after: NameRecord = { ...known, ...facts, ...priceFields(known, price, now) };
  const isChanged = Object.keys(after).some((field) => after[field] !== known[field]);
  // A clock that was set back must not freeze the date for good.
  const isRecent = Math.abs(now - Date.parse(known.seen_at ?? '')) < SEEN_STEP;
  return isChanged || !isRecent ? { ...after, seen_at: new Date(now).toISOString() } : known;
}

/** An older instance's price never replaces a newer one's. */
function priceFields(known: NameRecord, price: Lesson['price'], now: number): Partial<NameRecord> {
  const isSame = price?.at === undefined && price?.per_hour === known.price_per_hour;
  if (price === undefined || isSame) return {};
  const at = price.at ?? new Date(now).toISOString();
  const isOlder = price.at !== undefined && at < (known.price_at ?? '');
  return isOlder ? {} : { price_per_hour: price.per_hour, price_at: at };
}
