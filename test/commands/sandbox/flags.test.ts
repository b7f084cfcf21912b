import { expect, test } from 'vitest';
import {
  advanceable,
  depositAmount,
  gpuLoad,
  listeningPort,
  openingBalance,
  speed,
} from '../../../src/commands/sandbox/flags.ts';

const DAY = 86_400_000;

/** Each row is a rule, the texts at its edges with their values, and texts that it rejects. */
test.each([
  [gpuLoad, { auto: 'auto', 0: 0, 100: 100 }, ['-1', '101', '1.5', 'all', '']],
  [listeningPort, { 0: 0, 65535: 65_535 }, ['-1', '65536', '80.5', '']],
  [speed, { 0: 0, '0.000001': 0.000001, 1000000: 1_000_000 }, ['-1', '1000001', '0.0000001', '']],
  [advanceable, { '1s': 1000, '366d': 366 * DAY }, ['367d', '1', '']],
  [openingBalance, { 0: '0.00', '0.01': '0.01' }, ['-0.01', 'x']],
  [depositAmount, { '0.01': '0.01' }, ['0', '-0.01', 'x']],
])('takes the edges of %o', (rule, taken, rejected) => {
  const values = Object.keys(taken).map((text) => {
    const verdict = rule(text);
    return [text, verdict.ok ? verdict.value : verdict.rule];
  });
  expect(Object.fromEntries(values)).toEqual(taken);
  expect(rejected.filter((text) => rule(text).ok)).toEqual([]);
});
