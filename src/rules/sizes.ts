import { broken, kept, type Verdict } from './rule.ts';

const GB_IN: Readonly<Record<string, number>> = { '': 1, gb: 1, tb: 1000 };

/**
 * `size_gb` of a drive (spec: POST /storage/drives) as people write it: `500`, `500GB`, `2TB`. The
 * value is GB. A TB is 1000 GB, as the sellers of storage count; the document names no other unit
 * than GB and gives no bounds, so the largest size is the service's to judge.
 */
export function sizeGb(text: string): Verdict<number> {
  const match = /^([0-9]{1,9})(gb|tb)?$/i.exec(text);
  const unit = GB_IN[(match?.[2] ?? '').toLowerCase()];
  if (match === null || unit === undefined) {
    return broken(
      'a size is a whole number of GB or TB, such as 500, 500GB or 2TB (1 TB = 1000 GB)',
    );
  }
  const size = Number(match[1]) * unit;
  return size > 0 ? kept(size) : broken('a size is more than zero');
}
