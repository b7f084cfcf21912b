import { expect, test } from 'vitest';
import { findOne } from '../../src/command-line/lookup.ts';

const ITEMS: readonly { id: string; name?: string | null; slug?: string }[] = [
  { id: 'aaaa1', name: 'data' },
  { id: 'aaaab2', name: null },
  { id: 'b', name: 'Data' },
  { id: 'data-3', slug: 'logs' },
  { id: 'e', name: 'aaaa1' },
  { id: 'f', name: 'more' },
];

test.each([
  ...['aaaa1', 'data', 'DATA', 'logs', 'LOGS', 'data-', 'AAAA', 'aa', 'dta', 'another'].map(
    (typed) => [typed, 5] as const,
  ),
  ...([6, 1, 0] as const).map((count) => ['another', count] as const),
])('finds %s among %d drives', async (typed, count) => {
  const outcome = await findOne(typed, {
    ...{ flag: '--drive', what: 'a drive', hint: 'LIST' },
    list: async () => ITEMS.slice(0, count),
    also: (item: (typeof ITEMS)[number]) => [item.slug],
  }).catch(({ failure, message, resource, hint }) => ({ failure, message, resource, hint }));
  expect(outcome).toMatchSnapshot();
});
