import { asCliError } from '../errors.ts';
import type { CatalogEntry } from '../json-results/local.ts';
import { instant } from '../output/time.ts';
import { isMoney } from '../rules/is-money.ts';
import { resourceId } from '../rules/names.ts';
import type { Clock } from '../system/clock.ts';
import { type BuiltIn, builtInEntries, entry, joined, type Kind } from './entry.ts';
import { type CatalogFile, changeFile, type NameRecord, readFile } from './file.ts';

export type { CatalogEntry } from '../json-results/local.ts';
export {
  dayIn,
  describeEntry,
  fitting,
  KINDS,
  type Kind,
  priceSeen,
  type Source,
  slug,
  stockSeen,
} from './entry.ts';

interface CatalogSettings {
  /** Path of catalog.json, with the names of all services. */
  readonly file: string;
  /** Service with these names: its base URL, or `sandbox`. */
  readonly service: string;
  readonly builtIn?: () => Promise<BuiltIn>;
  readonly clock: Clock;
  warn(text: string): void;
}

export type Catalog = ReturnType<typeof openCatalog>;

/** Names the offers and images of one service, since its API does not list them. */
export function openCatalog({ file, service, builtIn, clock, warn }: CatalogSettings) {
  let latest: CatalogFile | undefined;
  let isWarned = false;
  // Serializes writes, so that parallel reads store each offer once.
  let last: Promise<void> = Promise.resolve();

  async function change(edit: (names: readonly NameRecord[]) => readonly NameRecord[]) {
    latest = await changeFile(file, (before) => {
      const names = edit(before.names);
      return names === before.names ? before : { ...before, names: [...names] };
    });
  }

  function isOf(kind: Kind, id: string) {
    return (one: NameRecord | CatalogEntry) =>
      one.kind === kind && one.id === id && (!('service' in one) || one.service === service);
  }

  async function builtInOnes(): Promise<readonly CatalogEntry[]> {
    return builtIn === undefined ? [] : builtInEntries(await builtIn());
  }

  async function entriesIn(names: readonly NameRecord[]): Promise<readonly CatalogEntry[]> {
    const own = names.filter((record) => record.service === service).map(entry);
    const given = await builtInOnes();
    return [
      ...given.map((known) => joined(known, own.find(isOf(known.kind, known.id)))),
      ...own.filter((one) => !given.some(isOf(one.kind, one.id))),
    ];
  }

  /** Failing to store names must not affect work on an instance. */
  function warnOnce(error: unknown): void {
    if (!isWarned) warn(asCliError(error).message);
    isWarned = true;
  }

  async function learn(instance: SeenInstance): Promise<void> {
    const given = await builtInOnes();
    const lessons = lessonsOf(instance).filter(({ kind, id }) => !given.some(isOf(kind, id)));
    // Opens no file for nothing.
    if (lessons.length === 0 || isWarned) return;
    const taught = (before: readonly NameRecord[]) =>
      lessons.reduce((names, lesson) => {
        const known = names.find(isOf(lesson.kind, lesson.id));
        const after = learned(known, lesson, service, clock.now());
        return after === known ? names : [...names.filter((one) => one !== known), after];
      }, before);
    latest ??= readFile(file);
    if (taught(latest.names) !== latest.names) await change(taught);
  }

  return {
    /** Returns every entry, unsorted. Throws CliError('storage') for an unusable file. */
    async entries() {
      latest = readFile(file);
      return entriesIn(latest.names);
    },
    /** Returns every entry; warns once if the file is unusable. */
    async known() {
      try {
        latest ??= readFile(file);
      } catch (error) {
        warnOnce(error);
      }
      return entriesIn(latest?.names ?? []);
    },
    /** Stores the user's name, and replaces any earlier one. Throws CliError('storage'). */
    async add(kind: Kind, id: string, name: string): Promise<CatalogEntry> {
      let named: NameRecord = { service, kind, id };
      await change((before) => {
        const known = before.find(isOf(kind, id));
        named = { ...(known ?? named), given_name: name };
        return [...before.filter((one) => one !== known), named];
      });
      const builtIn = (await builtInOnes()).find(isOf(kind, id));
      return builtIn === undefined ? entry(named) : joined(builtIn, entry(named));
    },
    /** Deletes an entry's stored facts. Throws CliError('storage'). */
    async remove(kind: Kind, id: string) {
      const isIt = isOf(kind, id);
      await change((before) => before.filter((one) => !isIt(one)));
    },
    /**
     * Stores an instance's offer and image if they changed. Never fails: warns once if storing
     * fails.
     */
    learn(instance: SeenInstance) {
      last = last.then(() => learn(instance)).catch(warnOnce);
      return last;
    },
  };
}

type Text = string | null | undefined;

/** An instance's offer and image fields. */
export interface SeenInstance {
  readonly price_per_hour_snapshot?: Text;
  readonly created_at?: Text;
  readonly offer?:
    | {
        readonly id?: Text;
        readonly name?: Text;
        readonly region?: Text;
        readonly in_stock?: boolean | null | undefined;
        readonly gpu_count?: number | null | undefined;
        readonly gpu_model?:
          | { readonly name?: Text; readonly vram_gb?: number | null | undefined }
          | null
          | undefined;
      }
    | null
    | undefined;
  readonly base_image?:
    | { readonly id?: Text; readonly name?: Text; readonly cuda_version?: Text }
    | null
    | undefined;
}

/** Offer or image facts read from one instance. */
export type Lesson = Pick<
  NameRecord,
  | 'kind'
  | 'id'
  | 'name'
  | 'region'
  | 'in_stock'
  | 'gpu'
  | 'gpu_count'
  | 'vram_gb'
  | 'cuda_version'
  | 'price_per_hour'
  | 'price_at'
>;

/** Longer names are useless, since nobody would type them. */
const LONGEST = 200;

/** Updates `seen_at` at most hourly, to avoid a write for every read of the same instance. */
const SEEN_STEP = 3_600_000;

function lessonsOf(instance: SeenInstance): Lesson[] {
  const { offer, base_image: image } = instance;
  const { name, region, gpu_count, gpu_model, in_stock } = offer ?? {};
  const stock = typeof in_stock === 'boolean' ? { in_stock } : {};
  const vram_gb = gpu_model?.vram_gb;
  const size = {
    ...(isSize(gpu_count) ? { gpu_count } : {}),
    ...(isSize(vram_gb) ? { vram_gb } : {}),
  };
  return [
    ...lesson('offer', offer?.id, {
      name,
      region,
      gpu: gpu_model?.name,
      ...priceOf(instance),
    }).map((one) => ({ ...one, ...stock, ...size })),
    ...lesson('image', image?.id, { name: image?.name, cuda_version: image?.cuda_version }),
  ];
}

function isSize(value: number | null | undefined): value is number {
  return typeof value === 'number' && value > 0;
}

function lesson(kind: Kind, id: Text, texts: Readonly<Record<string, Text>>): Lesson[] {
  if (typeof id !== 'string' || !resourceId(id).ok) return [];
  const facts = Object.entries(texts).filter(
    ([, text]) => typeof text === 'string' && text.trim() !== '' && text.length <= LONGEST,
  );
  return [{ kind, id, ...Object.fromEntries(facts) }];
}

/** Dates the price at creation, since creation fixed it (API document: Instance). */
function priceOf({ price_per_hour_snapshot: price, created_at }: SeenInstance) {
  if (!isMoney(price ?? '')) return {};
  const at = instant(created_at);
  return {
    price_per_hour: price,
    price_at: at === undefined ? undefined : new Date(at).toISOString(),
  };
}

/** Merges new facts into a record; returns the same record if nothing is new. */
export function learned(
  before: NameRecord | undefined,
  lesson: Lesson,
  service: string,
  now: number,
): NameRecord {
  const seen_at = new Date(now).toISOString();
  const { price_per_hour, price_at = seen_at, ...facts } = lesson;
  const known: NameRecord = before ?? { service, kind: lesson.kind, id: lesson.id };
  // An older instance's price never replaces a newer instance's price.
  const isNewer = price_at >= (known.price_at ?? '');
  const isNews = lesson.price_at !== undefined || price_per_hour !== known.price_per_hour;
  const price =
    price_per_hour !== undefined && isNewer && isNews ? { price_per_hour, price_at } : {};
  const after: NameRecord = { ...known, ...facts, ...price };
  const isChanged = Object.keys(after).some((field) => after[field] !== known[field]);
  // Compares in both directions, so that a clock set back can't freeze the date.
  const isRecent = Math.abs(now - Date.parse(known.seen_at ?? '')) < SEEN_STEP;
  const stock = lesson.in_stock === undefined ? {} : { in_stock_at: seen_at };
  return isChanged || !isRecent ? { ...after, ...stock, seen_at } : known;
}
