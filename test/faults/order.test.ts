import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { PROGRAM } from '../support/program.ts';
import { disorder } from './order.ts';

describe('strace of a create', () => {
  test.for(['create', 'reorder'] as const)(
    'syncs the request before sending it, and its outcome before printing: %s',
    { timeout: 120_000, ...needs('strace') },
    async (operation) => {
      expect(await disorder(PROGRAM, operation)).toEqual([]);
    },
  );
});
