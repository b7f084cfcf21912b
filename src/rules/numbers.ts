import { broken, kept, type Verdict } from './rule.ts';

/**
 * Checks a whole number within bounds, in plain decimal digits: rejects `0x10`, `1e3`, `1.5` and
 * `+1`.
 */
export function wholeNumber(text: string, from: number, to: number, what = ''): Verdict<number> {
  const value = Number(text);
  if (!/^[0-9]{1,15}$/.test(text) || value < from || value > to) {
    return broken(`${what}${what && ' '}must be a whole number from ${from} to ${to}`);
  }
  return kept(value);
}

/**
 * Checks a page number or page size (API document: Conventions, `meta`; no maximum is documented).
 */
export function count(text: string): Verdict<number> {
  return wholeNumber(text, 1, 1_000_000_000);
}

/**
 * Checks `shm_size_gb` (API document: Limits): minimum 0.1. The upper limit catches typing errors.
 */
export const SHARED_MEMORY_GB = { least: 0.1, most: 999_999 } as const;

/**
 * Parses shared memory in GB. `8g`, as in docker, is 8; docker's other units would have to be
 * rounded.
 */
export function sharedMemoryGb(typed: string): Verdict<number> {
  const text = typed.replace(/(?<=[0-9])gb?$/i, '');
  const value = Number(text);
  const { least, most } = SHARED_MEMORY_GB;
  return /^[0-9]+(\.[0-9]+)?$/.test(text) && value >= least && value <= most
    ? kept(value)
    : broken(`must be ${least} to ${most} GB`);
}

const GB_IN: Readonly<Record<string, number>> = { '': 1, g: 1, gb: 1, t: 1000, tb: 1000 };

/**
 * Parses `size_gb` of a drive (API document: POST /storage/drives): `500`, `500G`, `500GB`, `2TB`.
 * The value is in GB; 1 TB is 1000 GB. The document has no limits, so the service decides about
 * large sizes.
 */
export function sizeGb(text: string): Verdict<number> {
  const match = /^([0-9]{1,9})(gb?|tb?)?$/i.exec(text);
  const unit = GB_IN[(match?.[2] ?? '').toLowerCase()];
  if (match === null || unit === undefined) {
    return broken('must be a whole number of GB or TB, such as 500, 500GB or 2TB (1 TB = 1000 GB)');
  }
  const size = Number(match[1]) * unit;
  return size > 0 ? kept(size) : broken('must be more than zero');
}
