import { expect, test } from 'vitest';
import { entry } from '../../src/catalog/entry.ts';
import type { Context } from '../../src/context.ts';
import { noteSmallerOffers, smallerOffers } from '../../src/jobs/end/smaller-offers.ts';
import { jobRecord } from '../support/job-record.ts';

const GPU = { busy_percent: 12, peak_memory_mib: 3174, memory_total_mib: 24564 };

function offer(name: string, price_per_hour: string, vram_gb?: number, more = {}) {
  const fields = { id: name, name, price_per_hour, gpu_count: 1, ...more };
  return entry({ service: 'any', kind: 'offer', ...(vram_gb && { vram_gb }), ...fields });
}
const small = offer('RTX 3060', '31', 12);

const used = (
  more: { price?: string; cards?: number | null; seconds?: number; peak?: number } = {},
) => {
  const { price = '89.90', cards = 1, seconds = 120, peak = GPU.peak_memory_mib } = more;
  const gpu = { ...GPU, peak_memory_mib: peak };
  const instance = { price_per_hour_snapshot: price, offer: { gpu_count: cards } };
  return { gpu, seconds, instance };
};

test.each([
  [
    'the cheapest offers first, at most three',
    used(),
    [offer('A', '40', 24), small, offer('B', '35.5', 16), offer('C', '89', 8)],
    'RTX 3060 (31.00 ₽ instead of 89.90 ₽), B (35.50 ₽ instead of 89.90 ₽), A (40.00 ₽ instead of 89.90 ₽)',
  ],
  [
    'the ID of an offer without a name',
    used(),
    [{ ...small, name: null }],
    'RTX 3060 (31.00 ₽ instead of 89.90 ₽)',
  ],
  ['no dearer offer', used({ price: '31' }), [small], undefined],
  ['no offer whose memory is unknown', used(), [offer('A', '31')], undefined],
  ['no offer whose price is unknown', used(), [{ ...small, price_per_hour: null }], undefined],
  ['no offer that is out of stock', used(), [{ ...small, in_stock: false }], undefined],
  ['no offer with fewer cards', used({ cards: 2 }), [small], undefined],
  ['no offer whose number of cards is unknown', used(), [{ ...small, gpu_count: null }], undefined],
  ['no image', used(), [{ ...small, kind: 'image' as const }], undefined],
  // 10 GB are 10,240 MiB, of which a card may show nine tenths.
  [
    'an offer that just holds it',
    used({ peak: 9_216 }),
    [offer('RTX 3080', '31', 10)],
    'RTX 3080 (31.00 ₽ instead of 89.90 ₽)',
  ],
  ['no offer that may not hold it', used({ peak: 9_217 }), [offer('A', '31', 10)], undefined],
  ['nothing after a short command', used({ seconds: 119 }), [small], undefined],
  ['nothing for an unknown price', used({ price: 'cheap' }), [small], undefined],
  ['nothing for an unknown number of cards', used({ cards: null }), [small], undefined],
])('names %s', (_what, given, known, offers) => {
  const peak = Number((given.gpu.peak_memory_mib / 1024).toFixed(1));
  const text = `peak memory ${peak} of 24 GiB: catalog offers that would have held it: ${offers}`;
  expect(smallerOffers(given, known)).toBe(offers === undefined ? undefined : text);
});

test('notes them if the use of the cards and the time are known', async () => {
  const notes: string[] = [];
  const err = { note: (text: string) => notes.push(text) };
  const catalog = async () => ({ known: async () => [small] });
  const context = { catalog, err } as unknown as Context;
  const took = { setup: 9, command: 120 };
  const record = jobRecord({ id: 'a', name: 'a', service: '' }, { gpu: GPU, took });
  for (const more of [{ gpu: null }, { took: undefined }, { took: { ...took, command: 119 } }, {}])
    await noteSmallerOffers({ ...record, ...more } as typeof record, used().instance, context);
  expect(notes).toEqual([smallerOffers(used(), [small])]);
});
