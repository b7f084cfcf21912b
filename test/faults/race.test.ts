import { expect, test } from 'vitest';
import { PROGRAM } from '../support/program.ts';
import { races } from './race.ts';
import { countOf, record, SOAK } from './tools.ts';

test('never sends two requests for one name at the same time', async (context) => {
  const count = SOAK ? countOf('GPUCLOUD_SOAK_RACES', 100) : 6;
  expect(await races(PROGRAM, count)).toEqual([]);
  record(context, { what: 'races of 2, 4 and 8 processes for one name', played: count });
}, 1_200_000);
