import { instant } from '../output/time.ts';

/** What orders instances. */
interface Rented {
  readonly id: string | null;
  readonly created_at?: string | null | undefined;
  readonly asked_at?: string | null | undefined;
  /** When this computer requested the instance. */
  readonly ordered_at?: string | undefined;
}

/**
 * Sorts rows by rental time, newest first, as docker lists containers. Rows without a time come
 * last. For equal times, the later request comes first, then the ID decides, so that the order is
 * always the same.
 */
export function newestFirst<T extends Rented>(rows: readonly T[]): T[] {
  return rows
    .map((row) => ({ row, rented: timeOf(rentedAt(row)), ordered: timeOf(row.ordered_at) }))
    .sort((a, b) => later(a.rented, b.rented) || later(a.ordered, b.ordered) || byId(a.row, b.row))
    .map(({ row }) => row);
}

/**
 * Returns the service's time of creation if known, otherwise this computer's time of the request.
 */
function rentedAt({ created_at, asked_at, ordered_at }: Rented) {
  return created_at ?? asked_at ?? ordered_at;
}

function timeOf(text: string | null | undefined): number {
  return instant(text) ?? Number.NEGATIVE_INFINITY;
}

function later(a: number, b: number): number {
  return a === b ? 0 : b - a;
}

function byId(a: Rented, b: Rented): number {
  return String(a.id) < String(b.id) ? -1 : 1;
}
