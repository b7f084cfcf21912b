import { instant } from '../output/time.ts';

/** Times of a row in the list. */
export interface Rented {
  readonly id: string | null;
  readonly instance?: { readonly created_at?: string | null | undefined } | undefined;
  readonly last?: { readonly created_at?: string | null | undefined } | undefined;
  readonly asked_at?: string;
  readonly ordered_at?: string;
}

/**
 * Sorts rows by rental time, newest first, as docker lists containers. For equal times the later
 * request comes first, then the ID decides, so two lists never differ. Rows without a time come last.
 */
export function newestFirst<T extends Rented>(rows: readonly T[]): T[] {
  return rows
    .map((row) => ({ row, rented: rentedAt(row), ordered: time(row.ordered_at) }))
    .sort((a, b) => later(a.rented, b.rented) || later(a.ordered, b.ordered) || byId(a.row, b.row))
    .map(({ row }) => row);
}

/** The service's time if known, otherwise the time of the request here. */
function rentedAt({ instance, last, asked_at, ordered_at }: Rented): number {
  return time(instance?.created_at ?? last?.created_at ?? asked_at ?? ordered_at);
}

function time(text: string | null | undefined): number {
  return instant(text) ?? Number.NEGATIVE_INFINITY;
}

function later(a: number, b: number): number {
  return a === b ? 0 : b - a;
}

function byId({ id: a }: Rented, { id: b }: Rented): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : one > other ? 1 : 0;
}
