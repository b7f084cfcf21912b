import type { CatalogEntry } from './entry.ts';

/**
 * The entries that a typed text may mean, at the first of these steps at which any does: the id;
 * a name in any case, given by hand before learned; the same written as a slug (`rtx-4090`).
 */
export function fitting(typed: string, entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const wanted = { name: folded(typed), slug: slug(typed) };
  const steps: ((one: CatalogEntry) => boolean)[] = [
    (one) => one.id === typed,
    (one) => folded(one.given_name) === wanted.name,
    (one) => folded(one.service_name) === wanted.name,
    (one) => slug(one.given_name) === wanted.slug,
    (one) => slug(one.service_name) === wanted.slug,
  ];
  if (wanted.name === '') {
    return [];
  }
  for (const fits of wanted.slug === '' ? steps.slice(0, 3) : steps) {
    const found = entries.filter(fits);
    if (found.length > 0) {
      return found;
    }
  }
  return [];
}

/** The classes of all scripts take a millisecond to set up, which most names do not need. */
function isAscii(text: string): boolean {
  return /^[\u0000-\u007f]*$/.test(text);
}

function folded(name: string | null): string {
  return (name ?? '').normalize('NFKC').trim().toLowerCase();
}

/** `RTX 4090` as `rtx-4090`, `Ubuntu 22.04` as `ubuntu-22-04`. */
export function slug(name: string | null): string {
  const text = folded(name);
  return text
    .split(isAscii(text) ? /[^a-z0-9]+/ : /[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .join('-');
}

/** An entry among others that fit as well: `RTX 4090 (ru-1) 4090…`. */
export function told({ name, region, id }: CatalogEntry): string {
  return [name, region === null ? null : `(${region})`, id]
    .filter((part) => part !== null)
    .join(' ');
}
