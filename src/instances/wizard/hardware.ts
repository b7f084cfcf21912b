import type { CatalogEntry, Kind } from '../../catalog/index.ts';
import { brokenBy } from '../../cli/parse.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { roublesText } from '../../rules/money.ts';
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
  return [
    ...sorted(entries).map((one) => ({
      name: titleOf(one.name, one.id),
      about:
        kind === 'offer'
          ? aboutOffer(one)
          : [one.cuda_version === null ? '' : `CUDA ${one.cuda_version}`],
      value: one.id,
    })),
    { name: 'Another, by its id', value: undefined },
  ];
}

function aboutOffer({
  price_per_hour,
  price_at,
  region,
  gpu,
  name,
  in_stock,
}: CatalogEntry): string[] {
  const at = Date.parse(price_at ?? '');
  const day = Number.isNaN(at) ? '' : ` on ${dayOf(at)}`;
  return [
    price_per_hour === null ? 'price unknown' : `${roublesText(price_per_hour)}/h${day}`,
    in_stock === false ? 'out of stock' : (region ?? ''),
    gpu === name ? '' : (gpu ?? ''),
  ];
}

/** What is out of stock last, the cheapest first; then by name. */
function sorted(entries: readonly CatalogEntry[]): CatalogEntry[] {
  // Numbers are exact enough to order by.
  const price = ({ price_per_hour }: CatalogEntry) => Number(price_per_hour ?? Number.MAX_VALUE);
  const title = ({ name, id }: CatalogEntry) => name ?? id;
  return [...entries].sort(
    (a, b) =>
      Number(a.in_stock === false) - Number(b.in_stock === false) ||
      price(a) - price(b) ||
      (title(a) < title(b) ? -1 : 1),
  );
}
