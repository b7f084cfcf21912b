import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundle, builtBundle } from './bundle.ts';
import { disorder } from './order.ts';
import { HAS_STRACE } from './tools.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

describe('strace shows', () => {
  test.for(['create', 'reorder'] as const)(
    'the intent and its folder on the disk before the request, the outcome before the words: %s',
    { timeout: 120_000 },
    async (operation, task) => {
      task.skip(!HAS_STRACE, 'strace is not there, or may not be used');
      expect(await disorder(bundle.path, operation)).toEqual([]);
    },
  );
});
