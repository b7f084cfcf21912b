import type { Instance } from '../../api/index.ts';
import type { CatalogEntry } from '../../catalog/index.ts';
import type { Context } from '../../context.ts';
import type { JobGpu } from '../../json-results/jobs.ts';
import { inRoubles, priceIn } from '../../rules/money.ts';
import type { JobRecord } from '../record/record.ts';
import { peakText } from './gpu.ts';
import { phasesOf } from './receipt.ts';

/** Seconds of a command after which its samples show its largest use. */
const LEAST = 120;

/** A card of 24 GB shows less in nvidia-smi, for example 23,028 MiB with error correction. */
const USABLE = 0.9;

/** Offers to name, cheapest first. */
const MOST = 3;

/** How a command used its instance. */
interface Used {
  readonly gpu: JobGpu;
  /** How long the command ran. */
  readonly seconds: number;
  readonly instance: Pick<Instance, 'offer' | 'price_per_hour_snapshot'> | undefined;
}

/** Notes cheaper offers for the next run of a job. */
export async function noteSmallerOffers(
  record: JobRecord,
  instance: Used['instance'],
  context: Context,
): Promise<void> {
  const { gpu } = record;
  const seconds = phasesOf(record).running;
  if (gpu == null || seconds === null) return;
  const known = await (await context.catalog()).known();
  const text = smallerOffers({ gpu, seconds, instance }, known);
  if (text !== undefined) context.err.note(text);
}

/**
 * Names known offers that would have held the command's peak memory for less. Compares the memory of
 * one card, and needs as many cards as the command had. Returns undefined without such an offer:
 * one whose price or memory is unknown is not named.
 */
export function smallerOffers(
  { gpu, seconds, instance }: Used,
  known: readonly CatalogEntry[],
): string | undefined {
  const paid = priceIn(instance?.price_per_hour_snapshot);
  const cards = instance?.offer?.gpu_count;
  if (seconds < LEAST || paid === undefined || cards == null) return undefined;
  const fitting = known.flatMap(
    ({ kind, name, id, price_per_hour, vram_gb, gpu_count, in_stock }) => {
      const price = priceIn(price_per_hour);
      const isKnown = kind === 'offer' && price !== undefined && vram_gb !== null;
      const isLess = isKnown && price.lt(paid) && in_stock !== false && (gpu_count ?? 0) >= cards;
      const isHeld = isLess && gpu.peak_memory_mib <= vram_gb * 1024 * USABLE;
      return isHeld ? [{ name: name ?? id, price }] : [];
    },
  );
  const named = fitting.sort((a, b) => a.price.cmp(b.price)).slice(0, MOST);
  if (named.length === 0) return undefined;
  const offers = named.map(
    ({ name, price }) => `${name} (${inRoubles(price)} instead of ${inRoubles(paid)})`,
  );
  return `${peakText(gpu)}: catalog offers that would have held it: ${offers.join(', ')}`;
}
