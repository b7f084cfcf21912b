import { expect, test } from 'vitest';
import { findOne } from '../../src/command-line/lookup.ts';

const ITEMS: readonly { id: string; name?: string | null; slug?: string }[] = [
  { id: 'aaaa1', name: 'data' },
  { id: 'aaaab2', name: null },
  { id: 'b', name: 'Data' },
  { id: 'data-3', slug: 'logs' },
  { id: 'e', name: 'aaaa1' },
];
const none = (typed: string, hint: string, failure = 'notFound') => ({
  ...{ failure, message: `--drive "${typed}": no drive has that name or ID.`, hint },
  resource: typed,
});
const many = (typed: string, ids: string) => ({
  ...{ failure: 'usage', message: `--drive "${typed}" is ambiguous: ${ids}`, hint: 'use an ID' },
});
const EXISTING = 'existing drives: data, aaaab2, Data, data-3, aaaa1. List all: LIST';

test.each([
  ['aaaa1', 5, 'aaaa1'],
  ['data', 5, 'aaaa1'],
  ['DATA', 5, many('DATA', 'aaaa1, b')],
  ['logs', 5, 'data-3'],
  ['LOGS', 5, 'data-3'],
  ['data-', 5, 'data-3'],
  ['aaaa1', 1, 'aaaa1'],
  ['AAAA', 5, many('AAAA', 'data aaaa1, aaaab2')],
  ['dta', 5, none('dta', 'did you mean "data"? List all: LIST')],
  ['aa', 5, none('aa', EXISTING)],
  ['quite another', 5, none('quite another', EXISTING)],
  ['quite another', 6, none('quite another', 'LIST')],
  ['quite another', 0, none('quite another', 'LIST')],
])('finds %s among %d drives', async (typed, count, found) => {
  const items = [...ITEMS, { id: 'f', name: 'more' }].slice(0, count);
  const outcome = await findOne(typed, {
    flag: '--drive',
    what: 'a drive',
    list: async () => items,
    also: (item: (typeof ITEMS)[number]) => [item.slug],
    hint: 'LIST',
  }).then(
    ({ id }) => id,
    (error: unknown) => error,
  );
  if (typeof found === 'string') expect(outcome).toBe(found);
  else expect(outcome).toMatchObject(found);
});
