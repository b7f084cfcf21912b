import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Bundle, builtBundle } from './bundle.ts';
import { disorder } from './order.ts';

let bundle: Bundle;
beforeAll(async () => {
  bundle = await builtBundle();
});
afterAll(() => bundle.remove());

describe('strace of a create', () => {
  test.for(['create', 'reorder'] as const)(
    'syncs the request before sending it, and its outcome before printing: %s',
    { timeout: 120_000, ...needs('strace') },
    async (operation) => {
      expect(await disorder(bundle.path, operation)).toEqual([]);
    },
  );
});
