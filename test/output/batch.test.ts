import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBatch } from '../../src/output/formats/batch.ts';
import type { Sink } from '../../src/output/sink.ts';

const FULL = 60 * 1024;
const LONG = 'x'.repeat(FULL - 1);

/** Each row has the texts before each pause of the source, and the writes until the batch ends. */
test.each([
  ['at each pause', true, [['a', 'b'], ['c', 'd', 'e'], []], ['ab', 'cde', '']],
  ['only at the end', false, [['a', 'b'], ['c', 'd', 'e'], []], ['abcde']],
  ['once it is full', false, [[LONG, 'a', 'b'], ['c']], [`${LONG}a`, 'bc']],
  ['once it is full, and at each pause', true, [[LONG, 'a'], ['b']], [`${LONG}a`, 'b', '']],
])('writes %s', async (_when, isPrompt, groups, written) => {
  const writes: string[] = [];
  const sink: Partial<Sink> = {
    async write(text) {
      writes.push(String(text));
    },
  };
  const batch = createBatch(sink as Sink, isPrompt);
  for (const group of groups) {
    for (const text of group) await batch.add(text);
    await setImmediate();
    await setImmediate();
  }
  await batch.finish();
  expect(writes).toEqual(written);
});
