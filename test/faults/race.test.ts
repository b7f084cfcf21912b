import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bundle, builtBundle } from './bundle.ts';
import { races } from './race.ts';
import { countOf, SOAK } from './tools.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

test('never sends two requests for one name at the same time', async () => {
  const count = SOAK ? countOf('GPUCLOUD_SOAK_RACES', 100) : 6;
  expect(await races(bundle.path, count)).toEqual([]);
  if (SOAK) process.stderr.write(`soak: ${count} races for one name, none lost\n`);
}, 1_200_000);
