import type { CatalogEntry, Kind } from '../../catalog/index.ts';
import { brokenBy } from '../../cli/parse.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { kopecksText, type Money, money } from '../../rules/money.ts';
import { resourceId } from '../../rules/names.ts';
import type { CreateFlags } from '../request/body.ts';
import { dayOf } from '../request/hardware.ts';

const QUESTION: Readonly<Record<Kind, string>> = {
  offer: 'Offer (the hardware)',
  image: 'Base image (the system)',
};

/** Asks for an offer or an image from those known here, or by its id. */
export async function askHardware(
  kind: Kind,
  entries: readonly CatalogEntry[],
  prompts: Prompts,
): Promise<CreateFlags> {
  if (entries.length > 0) {
    const chosen = await prompts.choose(QUESTION[kind], choicesOf(kind, entries));
    if (chosen !== undefined) return { [kind]: chosen };
  } else {
    prompts.print(
      `The published API has no list of ${kind}s, and none has been seen here yet: the web console shows their ids.`,
    );
  }
  const typed = await prompts.text(`Id of the ${kind}`, {
    check: (text) => brokenBy(resourceId)(text.trim()),
  });
  return { [kind]: typed.trim() };
}

/** `RTX 4090, eu-1`, or what was typed. */
export function hardwareText(
  typed: string | undefined,
  entries: readonly CatalogEntry[],
): string | undefined {
  const found = entries.find(({ id }) => id === typed);
  if (found === undefined) return typed;
  const { name, region, cuda_version: cuda } = found;
  return [name, region, cuda && `CUDA ${cuda}`].filter((part) => part).join(', ') || typed;
}

function choicesOf(kind: Kind, entries: readonly CatalogEntry[]): Choice<string | undefined>[] {
  // Prices stand with their points under each other.
  const digits = Math.max(...entries.map((one) => priceText(one).length));
  return [
    ...sorted(kind, entries).map((one) => ({
      name: titleOf(one.name, one.id),
      about:
        kind === 'offer'
          ? aboutOffer(one, digits)
          : [one.cuda_version === null ? '' : `CUDA ${one.cuda_version}`],
      value: one.id,
    })),
    { name: 'Another, by its id', value: undefined },
  ];
}

function aboutOffer(offer: CatalogEntry, digits: number): string[] {
  const { price_at, region, gpu, name, in_stock } = offer;
  const price = priceText(offer);
  const at = Date.parse(price_at ?? '');
  const day = Number.isNaN(at) ? '' : ` on ${dayOf(at)}`;
  return [
    price === '' ? 'price unknown' : `${price.padStart(digits)} RUB/h${day}`,
    in_stock === false ? 'out of stock' : (region ?? ''),
    gpu === name ? '' : (gpu ?? ''),
  ];
}

function priceOf({ price_per_hour }: CatalogEntry): Money | undefined {
  const price = money(price_per_hour ?? '');
  return price.ok ? price.value : undefined;
}

function priceText(entry: CatalogEntry): string {
  const price = priceOf(entry);
  return price ? kopecksText(price) : '';
}

/** What is out of stock last; offers by their price, those without one behind; then by name. */
function sorted(kind: Kind, entries: readonly CatalogEntry[]): CatalogEntry[] {
  const titles = ({ name, id }: CatalogEntry) => name ?? id;
  return [...entries].sort((a, b) => {
    const gone = Number(a.in_stock === false) - Number(b.in_stock === false);
    const [one, other] = kind === 'offer' ? [priceOf(a), priceOf(b)] : [];
    const unpriced = Number(one === undefined) - Number(other === undefined);
    const dearer = one === undefined || other === undefined ? 0 : one.cmp(other);
    return gone || unpriced || dearer || (titles(a) < titles(b) ? -1 : 1);
  });
}
