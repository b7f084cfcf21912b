import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBatch } from '../../src/output/formats/batch.ts';
import type { Format } from '../../src/output/output.ts';
import type { Sink } from '../../src/output/sink.ts';
import { outputOn, Page } from './world.ts';

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

test.each<[Format, boolean, string[]]>([
  ['json', false, ['[\n  {\n    "id": "a"\n  },\n  {\n    "id": "b"\n  }\n]\n']],
  ['yaml', false, ['- id: a\n- id: b\n']],
  ['yaml', true, ['- id: a\n', '- id: b\n']],
  ['jsonl', false, ['{"id":"a"}\n', '{"id":"b"}\n']],
  ['csv', true, ['id\n', 'a\n', 'b\n']],
  ['id', false, ['a\n', 'b\n']],
])('writes rows that arrive slowly in %s (live: %s)', async (format, live, expected) => {
  const writes: string[] = [];
  class Recorder extends Page {
    override _write(...[chunk, encoding, done]: Parameters<Page['_write']>): void {
      if (chunk !== '') writes.push(String(chunk));
      super._write(chunk, encoding, done);
    }
  }
  async function* slow() {
    for (const id of ['a', 'b']) {
      await setImmediate();
      await setImmediate();
      yield { id };
    }
    await setImmediate();
    await setImmediate();
  }
  const view = {
    columns: [{ id: 'id', header: 'ID', value: ({ id }: { id: string }) => id }],
    id: ({ id }: { id: string }) => id,
    empty: 'None.',
  };
  await outputOn(new Recorder(), { format }).list(slow(), view, { live });
  expect(writes).toEqual(expected);
});
