import type { Offer } from '../tree.ts';

/** Quotes a text of ours as one word of bash, zsh and fish. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same for fish, where a backslash counts inside single quotes. */
export function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

export function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** An offer as the scripts read it: its kind, then its words. */
export function offerText(offer: Offer): string {
  switch (offer.kind) {
    case 'words':
    case 'list':
      return [offer.kind, ...offer.words].join(' ');
    case 'names':
      return ['names', ...offer.of].join(' ');
    case 'sort':
      return ['words', ...offer.words].join(' ');
    default:
      return offer.kind;
  }
}
