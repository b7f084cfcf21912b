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
  // Skipped where strace is not there, or may not be used.
  test.skipIf(!HAS_STRACE).each(['create', 'reorder'] as const)(
    'the intent and its folder on the disk before the request, the outcome before the words: %s',
    async (operation) => {
      expect(await disorder(bundle.path, operation)).toEqual([]);
    },
  );
});
