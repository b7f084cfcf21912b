import { expect, test } from 'vitest';
import { gpuWords } from '../../src/jobs/end/gpu.ts';

test.each([
  [12, 3174, 24564, 'GPU busy 12 % on average, peak memory 3.1 of 24 GiB'],
  [0, 1, 81559, 'GPU busy 0 % on average, peak memory 0 of 79.6 GiB'],
  [100, 24576, 24576, 'GPU busy 100 % on average, peak memory 24 of 24 GiB'],
])('says how busy %i %, %i of %i MiB are', (busy_percent, peak_memory_mib, total, expected) => {
  const gpu = { busy_percent, peak_memory_mib, memory_total_mib: total };
  expect(gpuWords(gpu)).toBe(expected);
});
