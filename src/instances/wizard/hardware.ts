import { type CatalogEntry, fitting, type Kind, slug } from '../../catalog/index.ts';
import type { Choice, Prompts } from '../../prompts/prompts.ts';
import { titleOf } from '../../prompts/words.ts';
import { resourceId } from '../../rules/ids.ts';
import { kopecksText, type Money, money } from '../../rules/money.ts';
import { dayOf } from '../request/hardware.ts';
import type { Answer } from './step.ts';

const QUESTION: Readonly<Record<Kind, string>> = {
  offer: 'Offer (the hardware)',
  image: 'Base image (the system)',
};

/** Asks for an offer or an image from those known here, or by its id. */
export async function askHardware(
  kind: Kind,
  entries: readonly CatalogEntry[],
  prompts: Prompts,
): Promise<Answer> {
  const listed = sorted(kind, entries);
  const chosen = listed.length === 0 ? undefined : await chooseEntry(kind, listed, prompts);
  if (chosen !== undefined) {
    return {
      flags: { [kind]: chosen.id },
      spoken: { [kind]: typedName(chosen, entries) },
      shown: [chosen.name, chosen.region, chosen.cuda_version && `CUDA ${chosen.cuda_version}`]
        .filter((part) => part)
        .join(', '),
    };
  }
  if (listed.length === 0) {
    prompts.tell(
      `The published API has no list of ${kind}s, and none has been seen here yet: the web console shows their ids.`,
    );
  }
  const typed = await prompts.text(`Id of the ${kind}`, {
    check: (text) => {
      const verdict = resourceId(text.trim());
      return verdict.ok ? undefined : verdict.rule;
    },
  });
  return { flags: { [kind]: typed.trim() }, shown: typed.trim() };
}

async function chooseEntry(
  kind: Kind,
  entries: readonly CatalogEntry[],
  prompts: Prompts,
): Promise<CatalogEntry | undefined> {
  const digits = Math.min(DIGITS, Math.max(...entries.map((one) => priceText(one).length)));
  const choices: Choice<CatalogEntry | undefined>[] = entries.map((one) => ({
    name: titleOf(one.name, one.id),
    about: kind === 'offer' ? aboutOffer(one, digits) : aboutImage(one),
    value: one,
  }));
  return await prompts.choose(QUESTION[kind], [
    ...choices,
    { name: 'Another, by its id', value: undefined },
  ]);
}

/** A price that is longer stands out of the column, and pushes no other to the right. */
const DIGITS = 12;

/** `digits` is the length of the longest price: they stand with their points under each other. */
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

function priceText({ price_per_hour }: CatalogEntry): string {
  const price = money(price_per_hour ?? '');
  return price.ok ? kopecksText(price.value) : '';
}

function aboutImage({ cuda_version: cuda }: CatalogEntry): string[] {
  return [cuda === null ? '' : `CUDA ${cuda}`];
}

/** What is out of stock last; offers by their price, those without one behind; then by name. */
function sorted(kind: Kind, entries: readonly CatalogEntry[]): CatalogEntry[] {
  const byName = (a: CatalogEntry, b: CatalogEntry) =>
    (a.name ?? a.id) < (b.name ?? b.id) ? -1 : 1;
  const priceOf = ({ price_per_hour }: CatalogEntry): Money | undefined => {
    const price = money(kind === 'offer' ? (price_per_hour ?? '') : '');
    return price.ok ? price.value : undefined;
  };
  return [...entries].sort((a, b) => {
    const gone = Number(a.in_stock === false) - Number(b.in_stock === false);
    if (gone !== 0) return gone;
    const [one, other] = [priceOf(a), priceOf(b)];
    if (one === undefined || other === undefined) {
      return one === other ? byName(a, b) : one === undefined ? 1 : -1;
    }
    return one.cmp(other) || byName(a, b);
  });
}

/** What is quickest to type and means this very entry. */
function typedName(entry: CatalogEntry, all: readonly CatalogEntry[]): string {
  for (const name of [slug(entry.name), entry.name ?? '']) {
    const [first, ...others] = name === '' ? [] : fitting(name, all);
    if (first?.id === entry.id && others.length === 0) return name;
  }
  return entry.id;
}
