import type { Listed } from '../instances/known-machines.ts';
import { instant } from '../output/time.ts';

/**
 * Machines in the order that docker lists containers in: by when each was rented, the newest first.
 * Of equal times, the one that this computer asked for later comes first; one of which no time is
 * known comes last. The id decides what is left, so that two lists never differ.
 */
export function newestFirst(rows: readonly Listed[]): Listed[] {
  return rows
    .map((row) => ({ row, rented: rentedAt(row), ordered: time(row.ordered_at) }))
    .sort((a, b) => later(a.rented, b.rented) || later(a.ordered, b.ordered) || byId(a.row, b.row))
    .map(({ row }) => row);
}

/** By the service's own clock where it told; otherwise by when the machine was asked for here. */
function rentedAt({ instance, last, asked_at, ordered_at }: Listed): number {
  return time(instance?.created_at ?? last?.created_at ?? asked_at ?? ordered_at);
}

function time(text: string | null | undefined): number {
  return (typeof text === 'string' ? instant(text) : undefined) ?? Number.NEGATIVE_INFINITY;
}

function later(a: number, b: number): number {
  return a === b ? 0 : b - a;
}

function byId({ id: a }: Listed, { id: b }: Listed): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : one > other ? 1 : 0;
}
