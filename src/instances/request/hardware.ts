import type { Instance } from '../../api/index.ts';
import { type CatalogEntry, describeEntry, fitting, type Kind, slug } from '../../catalog/index.ts';
import { brokenRule } from '../../cli/parse.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { local, relative } from '../../output/time.ts';
import { inRoubles, money } from '../../rules/money.ts';
import { isUuid, resourceId, typedName } from '../../rules/names.ts';
import { nearest } from '../../rules/nearest.ts';

/** An offer or image as it was asked for: its id, and what is known of it here. */
export interface Chosen {
  readonly id: string;
  readonly known: CatalogEntry | undefined;
}

/**
 * The offer or image that a text means: an id, or a name of the catalog. A text that fits no name
 * is taken for an id, and the service answers for it: what is known here may be out of date, and the
 * document gives ids of offers and images no form.
 * Throws a usage error for what fits several, and for what is neither a name known here nor an id.
 */
export async function findHardware(kind: Kind, typed: string, context: Context): Promise<Chosen> {
  const flag = `--${kind}`;
  const entries = (await (await context.catalog()).known()).filter((one) => one.kind === kind);
  const found = fitting(typed, entries);
  const [first, second] = found;
  if (second !== undefined) {
    throw usageError(
      `${flag} "${typed}" fits several ${kind}s: ${found.map(describeEntry).join(', ')}`,
      `use an id, or name one: gpucloud catalog add ${kind} ID --name NAME`,
    );
  }
  if (first !== undefined) {
    return { id: first.id, known: first };
  }
  const near = nearest(
    typed,
    entries.flatMap(({ name }) => (name === null ? [] : [slug(name), name])),
  );
  const verdict = resourceId(typed);
  if (!verdict.ok) {
    const rule = `no ${kind} of that name is known here (see gpucloud catalog list), and ${verdict.rule}`;
    throw brokenRule(flag, typed, rule, near === undefined ? undefined : `did you mean ${near}?`);
  }
  if (!isUuid(typed)) {
    const text = `No ${kind} named "${typed}" is known here: it is sent as an id.`;
    // Nobody types an id that is nearly a name: a program is told of that, too.
    if (near === undefined) context.err.note(text);
    else context.err.warn('unknown_id', `${text} Did you mean ${near}?`);
  }
  return { id: typed, known: undefined };
}

/** What is known of the price before the service is asked, which tells it only by renting. */
export function notePrice(offer: Chosen, { clock, err }: Context): void {
  const name = offer.known?.name ?? 'This offer';
  const price = knownPrice(offer, clock.now());
  err.note(
    price === undefined
      ? 'Price per hour: unknown until created; --max-price sets a limit.'
      : `${name}: ${price}.`,
  );
}

/** The price that was told before is that of another day: whoever agreed to it learns of a higher one. */
export function warnIfDearer(
  { id, name, price_per_hour_snapshot }: Instance,
  { known }: Chosen,
  { err }: Context,
): void {
  const before = money(known?.price_per_hour ?? '');
  const now = money(price_per_hour_snapshot ?? '');
  if (before.ok && now.ok && now.value.gt(before.value)) {
    err.warn(
      'price',
      `${name ?? id} costs ${inRoubles(now.value)} per hour, more than the ${inRoubles(before.value)} when the offer was last seen. To terminate it: gpucloud instances terminate ${typedName(name, id)}`,
    );
  }
}

/** Whether the embedded sandbox, and not a service, has it. */
export function isOfSandbox({ known }: Pick<Chosen, 'known'>): boolean {
  return known?.sources.includes('sandbox') === true;
}

/**
 * What an hour cost when it was last seen: `89.90 ₽ per hour when last seen, on …`; undefined where
 * no price was ever seen.
 */
export function knownPrice({ known }: Chosen, now: number): string | undefined {
  const price = money(known?.price_per_hour ?? '');
  if (known === undefined || !price.ok) {
    return undefined;
  }
  const hour = `${inRoubles(price.value)} per hour`;
  const at = Date.parse(known.price_at ?? '');
  if (isOfSandbox({ known })) {
    return `${hour}, of the sandbox's play money`;
  }
  const when = Number.isNaN(at) ? '' : `, on ${dayOf(at)} (${relative(at, now)})`;
  return `${hour} when last seen${when}; the price of today is unknown until created`;
}

/** `2026-01-15`, of this computer's time. */
export function dayOf(time: number): string {
  return local(time).slice(0, 10);
}
