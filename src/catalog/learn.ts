import { isoTime } from '../clock.ts';
import { resourceId } from '../rules/ids.ts';
import { isMoney } from '../rules/is-money.ts';
import type { Kind } from './entry.ts';
import type { NameRecord } from './schema.ts';

type Text = string | null | undefined;

/** A machine as the service told it, as far as offers and images are concerned. */
export interface SeenMachine {
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

/** What one machine teaches of one offer or image. */
export interface Lesson {
  readonly kind: Kind;
  readonly id: string;
  readonly facts: Partial<Record<Fact, string>>;
  readonly price?: { readonly per_hour: string; readonly at: string | undefined };
}

type Fact = 'name' | 'region' | 'gpu' | 'cuda_version';

/** Longer texts are no names that anyone could type. */
const LONGEST = 200;

/** "Last seen" is kept to the hour, so that following a machine does not write at each reading. */
const SEEN_STEP = 3_600_000;

export function lessonsOf(machine: SeenMachine): Lesson[] {
  const { offer, base_image: image } = machine;
  const lessons: Lesson[] = [];
  if (isId(offer?.id)) {
    const price = priceOf(machine);
    lessons.push({
      kind: 'offer',
      id: offer.id,
      facts: factsOf({ name: offer.name, region: offer.region, gpu: offer.gpu_model?.name }),
      ...(price === undefined ? {} : { price }),
    });
  }
  if (isId(image?.id)) {
    lessons.push({
      kind: 'image',
      id: image.id,
      facts: factsOf({ name: image.name, cuda_version: image.cuda_version }),
    });
  }
  return lessons;
}

function isId(id: Text): id is string {
  return typeof id === 'string' && resourceId(id).ok;
}

function factsOf(texts: Partial<Record<Fact, Text>>): Partial<Record<Fact, string>> {
  return Object.fromEntries(
    Object.entries(texts).filter(
      ([, text]) => typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST,
    ),
  );
}

/** The price is fixed at creation (API document: Instance), so that is the date it belongs to. */
function priceOf({ price_per_hour_snapshot: price, created_at }: SeenMachine): Lesson['price'] {
  if (typeof price !== 'string' || !isMoney(price)) {
    return undefined;
  }
  const at = Date.parse(created_at ?? '');
  return { per_hour: price, at: Number.isNaN(at) ? undefined : isoTime(at) };
}

/** The record with the lesson in it; the very same record where it holds nothing new. */
export function learned(
  before: NameRecord | undefined,
  { kind, id, facts, price }: Lesson,
  service: string,
  now: number,
): NameRecord {
  const known: NameRecord = before ?? { service, kind, id };
  const after: NameRecord = { ...known, ...facts, ...priceFields(known, price, now) };
  const isNew = Object.keys(after).some((field) => after[field] !== known[field]);
  const lastSeen = Date.parse(known.seen_at ?? '');
  // A clock that was set back must not stop the date for good.
  const isStale = !(Math.abs(now - lastSeen) < SEEN_STEP);
  return isNew || isStale ? { ...after, seen_at: new Date(now).toISOString() } : known;
}

/** An older machine's price never takes the place of a newer one's. */
function priceFields(
  known: NameRecord,
  price: Lesson['price'],
  now: number,
): Pick<NameRecord, 'price_per_hour' | 'price_at'> {
  if (price === undefined) {
    return {};
  }
  if (price.at === undefined) {
    return price.per_hour === known.price_per_hour
      ? {}
      : { price_per_hour: price.per_hour, price_at: new Date(now).toISOString() };
  }
  const isOlder = known.price_at !== undefined && price.at < known.price_at;
  return isOlder ? {} : { price_per_hour: price.per_hour, price_at: price.at };
}
