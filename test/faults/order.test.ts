import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Bundle, builtBundle } from './bundle.ts';
import { disorder } from './order.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

describe('strace shows', () => {
  test.for(['create', 'reorder'] as const)(
    'the intent and its folder on the disk before the request, the outcome before the words: %s',
    { timeout: 120_000, ...needs('strace') },
    async (operation) => {
      expect(await disorder(bundle.path, operation)).toEqual([]);
    },
  );
});
