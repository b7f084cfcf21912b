import type { Instance } from '../../api/index.ts';
import type { Kind } from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inRoubles, isOver, kopecksText, priceIn } from '../../rules/money.ts';
import { isSameId, typedName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import type { Given } from './given.ts';
import { findHardware } from './hardware.ts';

/** An existing instance can't be used. It bills, but no command may terminate it for that. */
export class UnusableExisting extends CliError {}

/**
 * Checks that an existing instance matches the request. Throws UnusableExisting: 'otherEnd' for
 * ERROR, and 'wrongState' with code `name_taken` and the differences.
 */
export async function ensureUsable(found: Instance, given: Given, context: Context): Promise<void> {
  const { id, name, status } = found;
  const typed = typedName(name, id);
  const is = `${name ?? id} already exists (${id})`;
  const details = { resource: id, mayBeBilling: mayBill(status) };
  const again = `to create it again, terminate it first: ${gpucloud('instances', 'terminate', typed)}`;
  if (status === 'ERROR') {
    throw new UnusableExisting('otherEnd', `${is}, but its status is ERROR. Nothing was sent.`, {
      ...details,
      hint: `see what happened: ${gpucloud('instances', 'events', typed)}; ${again}`,
    });
  }
  const different = [
    ...(await otherHardware('offer', found.offer, given, context)),
    ...(await otherHardware('image', found.base_image, given, context)),
    ...overPrice(found, given),
  ];
  if (different.length === 0) return;
  throw new UnusableExisting(
    'wrongState',
    `${is}, but ${different.join(', and ')}. Nothing was sent.`,
    {
      ...details,
      code: 'name_taken',
      hint: `see it: ${gpucloud('instances', 'get', typed)}; ${again}; or choose another name`,
    },
  );
}

/** Returns the difference in hardware, or none if the response does not show the hardware. */
async function otherHardware(
  kind: Kind,
  has: { readonly [field in 'id' | 'name']?: string | null | undefined } | null | undefined,
  { flags, from }: Given,
  context: Context,
): Promise<string[]> {
  const { id: own, name } = has ?? {};
  const wanted = [flags[kind] ?? []].flat();
  if (wanted.length === 0 || own == null) return [];
  for (const [at, text] of wanted.entries()) {
    const { id } = await findHardware(
      kind,
      text,
      from(kind, kind === 'offer' ? at : undefined),
      context,
    );
    if (isSameId(own, id)) return [];
  }
  const shown = name == null ? own : `${name} (${own})`;
  return [`its ${kind} is ${shown}, not ${wanted.join(' or ')}`];
}

/**
 * Returns a difference if the instance costs too much. An unreadable price counts as too high, as
 * for a new instance.
 */
function overPrice(
  { price_per_hour_snapshot }: Instance,
  { flags: { maxPrice } }: Given,
): string[] {
  if (maxPrice === undefined || !isOver(price_per_hour_snapshot, maxPrice)) return [];
  const price = priceIn(price_per_hour_snapshot);
  const over = `over --max-price ${kopecksText(maxPrice)}`;
  return [
    price === undefined
      ? `its price is unreadable, which counts as ${over}`
      : `it costs ${inRoubles(price)} per hour, ${over}`,
  ];
}
