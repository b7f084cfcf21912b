import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, builtBundle } from './bundle.ts';
import { races } from './race.ts';
import { countOf, record, SOAK } from './tools.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

test('never sends two requests for one name at the same time', async (context) => {
  const count = SOAK ? countOf('GPUCLOUD_SOAK_RACES', 100) : 6;
  expect(await races(bundle.path, count)).toEqual([]);
  record(context, { what: 'races of 2, 4 and 8 processes for one name', played: count });
}, 1_200_000);
