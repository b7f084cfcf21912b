import { type CatalogEntry, fitting, type Kind, slug } from '../../catalog/index.ts';
import { brokenBy } from '../../cli/parse.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { roublesText } from '../../rules/money.ts';
import { resourceId } from '../../rules/names.ts';
import { dayOf } from '../request/hardware.ts';
import type { Answer } from './answer.ts';

const QUESTION: Readonly<Record<Kind, string>> = {
  offer: 'Offer (the hardware)',
  image: 'Base image (the system)',
};

/** Asks for a known offer or image, or for its ID. */
export async function askHardware(
  kind: Kind,
  entries: readonly CatalogEntry[],
  prompts: Prompts,
): Promise<Answer> {
  if (entries.length === 0) {
    prompts.print(`No ${kind} is known here yet. The web console shows the IDs of ${kind}s.`);
  }
  const choices: Choice<CatalogEntry | undefined>[] = [
    ...sorted(entries).map((entry) => ({
      name: titleOf(entry.name, entry.id),
      about: kind === 'offer' ? aboutOffer(entry) : [cudaOf(entry)],
      value: entry,
    })),
    { name: 'Another, by its ID', value: undefined },
  ];
  const chosen = entries.length === 0 ? undefined : await prompts.choose(QUESTION[kind], choices);
  if (chosen === undefined) {
    const check = (text: string) => brokenId(kind, text.trim(), entries);
    const id = (await prompts.text(`ID of the ${kind}`, { check })).trim();
    return { flags: { [kind]: id }, typed: { [kind]: id }, text: id };
  }
  const { id, name, region } = chosen;
  const parts = [titleOf(name, id), region, cudaOf(chosen)];
  return {
    flags: { [kind]: id },
    typed: { [kind]: typedEntry(chosen, entries) },
    text: parts.filter(Boolean).join(', '),
  };
}

/** Accepts a known name too. */
function brokenId(kind: Kind, text: string, entries: readonly CatalogEntry[]): string | undefined {
  const { length } = fitting(text, entries);
  if (length > 1) return `several ${kind}s have that name: use an ID`;
  return length === 1 ? undefined : brokenBy(resourceId)(text);
}

function typedEntry({ id, name }: CatalogEntry, all: readonly CatalogEntry[]): string {
  const names = [slug(name), name ?? ''].filter((one) => one !== '');
  return names.find((one) => fitting(one, all).every((entry) => entry.id === id)) ?? id;
}

function cudaOf({ cuda_version: cuda }: CatalogEntry): string {
  return cuda === null ? '' : `CUDA ${cuda}`;
}

function aboutOffer(offer: CatalogEntry): string[] {
  const { price_per_hour: price, price_at, region, gpu, name, in_stock } = offer;
  const at = Date.parse(price_at ?? '');
  const day = Number.isNaN(at) ? '' : ` on ${dayOf(at)}`;
  return [
    price === null ? 'price unknown' : `${roublesText(price)}/h${day}`,
    in_stock === false ? 'out of stock' : (region ?? ''),
    gpu === name ? '' : (gpu ?? ''),
  ];
}

/** In stock first, then the cheapest, then by name. */
function sorted(entries: readonly CatalogEntry[]): CatalogEntry[] {
  // Floating point is exact enough for sorting.
  const price = ({ price_per_hour }: CatalogEntry) => Number(price_per_hour ?? Number.MAX_VALUE);
  const title = ({ name, id }: CatalogEntry) => name ?? id;
  return [...entries].sort(
    (a, b) =>
      Number(a.in_stock === false) - Number(b.in_stock === false) ||
      price(a) - price(b) ||
      (title(a) < title(b) ? -1 : 1),
  );
}
