import { describe, expect, test } from 'vitest';
import { createLogMemory } from '../../src/watch/log-memory.ts';

const events = (from: number, to: number, time = (at: number) => at) =>
  Array.from({ length: to - from }, (_, at) => ({ id: `e${from + at}`, time: time(from + at) }));

describe('the memory of a log', () => {
  test('keeps the newest, and at most twice as many as it has to', () => {
    const memory = createLogMemory(undefined, { kept: 10 });
    for (const one of events(0, 5_000)) {
      memory.learn([one]);
      expect(memory.size).toBeLessThanOrEqual(20);
    }
    expect(memory.size).toBeGreaterThanOrEqual(10);
    for (const { id } of events(4_990, 5_000)) expect(memory.has(id)).toBe(true);
  });

  test('what was forgotten lies at or before the horizon, and nothing that is kept does', () => {
    const memory = createLogMemory(undefined, { kept: 10 });
    const all = events(0, 1_000, (at) => Math.floor(at / 3));
    memory.learn(all);
    for (const { id, time } of all) expect(memory.isPast(time)).toBe(!memory.has(id));
  });

  test('events of one moment are kept or forgotten together', () => {
    const memory = createLogMemory(undefined, { kept: 10 });
    // Twelve of one moment lie across the place where the cut would be.
    memory.learn([...events(0, 9), ...events(9, 21, () => 100)]);
    expect(events(9, 21).every(({ id }) => memory.has(id))).toBe(true);
    expect(events(0, 9).some(({ id }) => memory.has(id))).toBe(false);
    expect(memory.isPast(100)).toBe(false);
  });

  test('more of one moment than can be kept: some are forgotten, and it stays bounded', () => {
    const memory = createLogMemory(undefined, { kept: 10 });
    memory.learn(events(0, 1_000, () => 7));
    expect(memory.size).toBeLessThanOrEqual(20);
    expect(memory.isPast(7)).toBe(true);
  });

  test('it is the same after a turn on a disk', () => {
    const memory = createLogMemory(undefined, { kept: 10 });
    memory.learn(events(0, 100));
    const text = JSON.stringify(memory.saved());
    const again = createLogMemory(JSON.parse(text), { kept: 10 });
    expect(again.begun).toBe(true);
    expect(JSON.stringify(again.saved())).toBe(text);
    expect(again.isPast(80)).toBe(memory.isPast(80));
    const fresh = JSON.stringify(createLogMemory().saved());
    expect(fresh).toBe('{"horizon":null,"known":[]}');
    expect(createLogMemory(JSON.parse(fresh)).isPast(-1e15)).toBe(false);
  });
});
