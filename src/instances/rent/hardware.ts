import type { Instance } from '../../api/index.ts';
import {
  type CatalogEntry,
  dayIn,
  describeEntry,
  fitting,
  type Kind,
} from '../../catalog/index.ts';
import { brokenBy, brokenRule } from '../../command-line/parse.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { gpucloud, shellLine } from '../../output/shell-line.ts';
import { relative } from '../../output/time.ts';
import { inRoubles, isOver, type Money, priceIn } from '../../rules/money.ts';
import { isUuid, resourceId, typedName } from '../../rules/names.ts';
import { nearest } from '../../rules/nearest.ts';
import { serviceName } from './account.ts';
import type { Given } from './given.ts';

/** A requested offer or image: its ID, and its catalog entry if known. */
export interface Chosen {
  readonly id: string;
  readonly known: CatalogEntry | undefined;
}

/**
 * Finds an offer or image by its ID or catalog name. If no entry is known, accepts any text as an
 * ID, since the document shows no format. Throws a usage error for an ambiguous name and for a text
 * that can't be an ID.
 */
export async function findHardware(
  kind: Kind,
  typed: string,
  flag: string,
  context: Context,
): Promise<Chosen> {
  const entries = (await (await context.catalog()).known()).filter((one) => one.kind === kind);
  const found = fitting(typed, entries);
  const [known, second] = found;
  if (second !== undefined) {
    throw usageError(
      `${flag} "${typed}" matches several ${kind}s: ${found.map(describeEntry).join(', ')}`,
      `use an ID, or name an entry: ${gpucloud('catalog', 'add', kind, 'ID', '--name', 'NAME')}`,
    );
  }
  const rule = brokenHardware(kind, typed, entries);
  if (rule !== undefined) {
    const near = nearest(
      typed,
      entries.flatMap(({ name }) => name ?? []),
    );
    const list =
      entries.length === 0
        ? `copy the ID from ${await whereIdsAre(context)}; to use the name: ${gpucloud('catalog', 'add', kind, 'ID', '--name', typed)}`
        : `list known ${kind}s: ${gpucloud('catalog', 'list')}`;
    throw brokenRule(
      flag,
      typed,
      rule,
      near === undefined ? list : `did you mean ${shellLine([near])}? ${list}`,
    );
  }
  if (known === undefined && !isUuid(typed)) {
    context.err.note(`No known ${kind} is named "${typed}"; using the text as an ID.`);
  }
  return { id: known?.id ?? typed, known };
}

/** A service on this computer has no web console: it is most likely a served sandbox. */
async function whereIdsAre(context: Context): Promise<string> {
  return (await serviceName(context)).startsWith('http:')
    ? `"${gpucloud('sandbox', 'catalog', '-o', 'csv')}" for "sandbox serve", else from the service's web console`
    : "the service's web console";
}

/**
 * Throws a usage error for an offer or image that can't be rented, before a file names it. Without
 * a service, any name may be right.
 */
export async function ensureHardware({ flags, from }: Given, context: Context): Promise<void> {
  if ((await serviceName(context)) === '') return;
  for (const [at, offer] of (flags.offer ?? []).entries()) {
    await findHardware('offer', offer, from('offer', at), context);
  }
  if (flags.image !== undefined) {
    await findHardware('image', flags.image, from('image'), context);
  }
}

/** Returns the rule that a name or ID of an offer or image breaks. */
export function brokenHardware(
  kind: Kind,
  typed: string,
  entries: readonly CatalogEntry[],
): string | undefined {
  const { length } = fitting(typed, entries);
  if (length > 1) return `several ${kind}s have that name: use an ID`;
  if (length === 1 || isUuid(typed)) return undefined;
  // If all known IDs are UUIDs, assumes the same of the service's other IDs.
  const areUuids = entries.length > 0 && entries.every(({ id }) => isUuid(id));
  if (!areUuids && brokenBy(resourceId)(typed) === undefined) return undefined;
  return entries.length === 0
    ? `no ${kind} of this service is known here, and it is not an ID`
    : `no known ${kind} has that name, and it is not an ID`;
}

/**
 * Notes the last known price before renting, since the service shows the price only afterwards.
 * Warns if it is over the limit: the new instance would be terminated. `count` is the number of
 * instances.
 */
export function notePrice(
  offer: Chosen,
  {
    count = 1,
    maxPrice,
  }: { readonly count?: number | undefined; readonly maxPrice?: Money | undefined },
  { clock, err }: Context,
): void {
  const name = offer.known?.name;
  const price = knownPrice(offer, clock.now());
  err.note(
    price === undefined
      ? 'Price per hour: unknown until created; --max-price sets a limit.'
      : `${name}: ${count > 1 ? `${count} × ` : ''}${price}.`,
  );
  if (maxPrice !== undefined && isOver(offer.known?.price_per_hour ?? '0', maxPrice)) {
    err.warn(
      'price',
      `The last known price of ${name} is over --max-price ${inRoubles(maxPrice)}. At that price, the new instance is terminated at once.`,
    );
  }
  const day = offer.known?.in_stock === false ? dayIn(offer.known.in_stock_at) : undefined;
  if (day !== undefined) err.note(`${name} was out of stock when last seen, on ${day}.`);
}

/** Warns if the instance costs more than the last known price, or an unreadable price. */
export function warnIfDearer(
  { id, name, price_per_hour_snapshot }: Instance,
  { known }: Chosen,
  { err }: Context,
): void {
  const before = priceIn(known?.price_per_hour);
  if (before === undefined || !isOver(price_per_hour_snapshot, before)) return;
  const now = priceIn(price_per_hour_snapshot);
  const then = `${inRoubles(before)} when the offer was last seen`;
  const what =
    now === undefined
      ? `has an unreadable price; it was ${then}`
      : `costs ${inRoubles(now)} per hour, more than the ${then}`;
  err.warn(
    'price',
    `${name ?? id} ${what}. To terminate it: ${gpucloud('instances', 'terminate', typedName(name, id))}`,
  );
}

/** Whether the offer or image is the built-in sandbox's. */
export function isOfSandbox({ known }: Pick<Chosen, 'known'>): boolean {
  return known?.sources.includes('sandbox') === true;
}

/**
 * Describes the last price seen: `89.90 ₽ per hour when last seen, on …`. Returns undefined if none
 * was seen.
 */
export function knownPrice({ known }: Chosen, now: number): string | undefined {
  const price = priceIn(known?.price_per_hour);
  if (known === undefined || price === undefined) return undefined;
  const hour = `${inRoubles(price)} per hour`;
  if (isOfSandbox({ known })) {
    return `${hour} of sandbox play money`;
  }
  const day = dayIn(known.price_at);
  const at = Date.parse(known.price_at ?? '');
  // The service's clock may be ahead of this computer's.
  const when = day === undefined ? '' : `, on ${day} (${relative(Math.min(at, now), now)})`;
  return `${hour} when last seen${when}; the current price is unknown until created`;
}
