import { money } from '../rules/money.ts';
import type { Order } from './forms.ts';
import type { Cell, Kind } from './output.ts';

/** Returns a sorted copy. Equal rows keep their order; rows without a value come last. */
export function sortRows<T>(rows: readonly T[], order: Order<T>): T[] {
  const { column, downwards } = order;
  const turn = downwards ? -1 : 1;
  return rows
    .map((row) => ({ row, value: column.value(row) }))
    .sort((a, b) => {
      const missing = Number(isMissing(a.value)) - Number(isMissing(b.value));
      return missing !== 0 ? missing : turn * compare(a.value, b.value, column.kind);
    })
    .map(({ row }) => row);
}

function isMissing(value: Cell): boolean {
  return value === null || value === undefined || value === '';
}

/** Compares by meaning: amounts and sizes by value, times by time, words ignoring case. */
function compare(a: Cell, b: Cell, kind: Kind | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a), String(b)];
  if (kind === 'money' || kind === 'bytes' || kind === 'gigabytes') {
    const [one, other] = [money(left), money(right)];
    if (one.ok && other.ok) return one.value.cmp(other.value);
  }
  if (kind === 'time') {
    const difference = Date.parse(left) - Date.parse(right);
    if (!Number.isNaN(difference)) return difference;
  }
  return byCode(left.toLowerCase(), right.toLowerCase()) || byCode(left, right);
}

/** Avoids localeCompare: its first call takes longer than sorting a whole list. */
function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
