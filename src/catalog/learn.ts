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
export type Lesson = Pick<
  NameRecord,
  'kind' | 'id' | 'name' | 'region' | 'gpu' | 'cuda_version' | 'price_per_hour' | 'price_at'
>;

/** Nobody could type a longer name. */
const LONGEST = 200;

/** "Last seen" is stored to the hour, so that following an instance does not write at each read. */
const SEEN_STEP = 3_600_000;

export function lessonsOf(instance: SeenInstance): Lesson[] {
  const { offer, base_image: image } = instance;
  const { name, region, gpu_model } = offer ?? {};
  return [
    ...lesson('offer', offer?.id, { name, region, gpu: gpu_model?.name, ...priceOf(instance) }),
    ...lesson('image', image?.id, { name: image?.name, cuda_version: image?.cuda_version }),
  ];
}

function lesson(kind: Kind, id: Text, texts: Readonly<Record<string, Text>>): Lesson[] {
  if (typeof id !== 'string' || !resourceId(id).ok) return [];
  const facts = Object.entries(texts).filter(
    ([, text]) => typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST,
  );
  return [{ kind, id, ...Object.fromEntries(facts) }];
}

/** The price is fixed at creation (API document: Instance), so its date is the creation's. */
function priceOf({ price_per_hour_snapshot: price, created_at }: SeenInstance) {
  if (!isMoney(price ?? '')) return {};
  const at = Date.parse(created_at ?? '');
  return {
    price_per_hour: price,
    price_at: Number.isNaN(at) ? undefined : new Date(at).toISOString(),
  };
}

/** Merges the lesson into the record; returns the same record if nothing is new. */
export function learned(
  before: NameRecord | undefined,
  lesson: Lesson,
  service: string,
  now: number,
): NameRecord {
  const seen_at = new Date(now).toISOString();
  const { price_per_hour, price_at = seen_at, ...facts } = lesson;
  const known: NameRecord = before ?? { service, kind: lesson.kind, id: lesson.id };
  // An older instance's price never replaces a newer one's.
  const isNewer = price_at >= (known.price_at ?? '');
  const isNews = lesson.price_at !== undefined || price_per_hour !== known.price_per_hour;
  const price =
    price_per_hour !== undefined && isNewer && isNews ? { price_per_hour, price_at } : {};
  const after: NameRecord = { ...known, ...facts, ...price };
  const isChanged = Object.keys(after).some((field) => after[field] !== known[field]);
  // A clock that was set back must not freeze the date for good.
  const isRecent = Math.abs(now - Date.parse(known.seen_at ?? '')) < SEEN_STEP;
  return isChanged || !isRecent ? { ...after, seen_at } : known;
}
