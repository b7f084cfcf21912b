import type { AccountDrive } from '../json-results/money.ts';
import { clamp } from '../output/width.ts';

/** Share of a drive's size from which it counts as full: it then grows by itself. */
const FULL = 0.95;

/** Describes a drive that is almost full; undefined if it is not. */
export function fullText(drive: AccountDrive): string | undefined {
  const { name, id, size_gb: size, used_bytes: used, bills, status } = drive;
  if (bills !== true || status === 'SUSPENDED') return undefined;
  if (used === null || size === null || size <= 0) return undefined;
  // The API document doesn't define GB. The bigger unit, GiB, never reports too early.
  const share = Number(used) / (size * 2 ** 30);
  return share >= FULL
    ? `Drive ${clamp(name ?? id, 40)} uses ${Math.floor(share * 100)} % of its ${size} GB. The service raises its size and price when more data is stored`
    : undefined;
}
