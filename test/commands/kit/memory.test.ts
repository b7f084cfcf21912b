import { expect, it } from 'vitest';
import { createMemory } from '../../../src/commands/kit/memory.ts';

it('remembers the last ones and forgets those long past', () => {
  const memory = createMemory(3);
  for (let at = 1; at <= 100; at += 1) {
    memory.add(`t-${at}`);
    for (let back = at; back > Math.max(0, at - 3); back -= 1) {
      expect(memory.has(`t-${back}`)).toBe(true);
    }
    expect(memory.has(`t-${at - 6}`)).toBe(false);
  }
});
