import { describe, expect, test } from 'vitest';
import { createCursor } from '../../src/watch/cursor.ts';

const events = (from: number, to: number, time = (at: number) => at) =>
  Array.from({ length: to - from }, (_, at) => ({ id: `e${from + at}`, time: time(from + at) }));

describe('the cursor of a log', () => {
  test('keeps the newest events in a cursor, at most twice the minimum', () => {
    const cursor = createCursor(undefined, { kept: 10 });
    for (const one of events(0, 5_000)) {
      cursor.learn([one]);
      expect(cursor.size).toBeLessThanOrEqual(20);
    }
    expect(cursor.size).toBeGreaterThanOrEqual(10);
    for (const { id } of events(4_990, 5_000)) expect(cursor.has(id)).toBe(true);
  });

  test('keeps the newest 1,000 events by default, and at most twice as many', () => {
    const cursor = createCursor();
    cursor.learn(events(0, 2_000));
    expect(cursor.size).toBe(2_000);
    cursor.learn(events(2_000, 2_001));
    expect(cursor.size).toBe(1_000);
  });

  test('drops only events at or before the horizon, and keeps only later ones', () => {
    const all = events(0, 1_000, (at) => Math.floor(at / 3));
    for (const inOrder of [all, [...all].reverse()]) {
      const cursor = createCursor(undefined, { kept: 10 });
      cursor.learn(inOrder);
      for (const { id, time } of all) expect(cursor.isPast(time)).toBe(!cursor.has(id));
    }
  });

  test('keeps or drops events with equal timestamps as a group', () => {
    const cursor = createCursor(undefined, { kept: 10 });
    // Twelve simultaneous events straddle the cut.
    cursor.learn([...events(0, 9), ...events(9, 21, () => 100)]);
    expect(events(9, 21).every(({ id }) => cursor.has(id))).toBe(true);
    expect(events(0, 9).some(({ id }) => cursor.has(id))).toBe(false);
    expect(cursor.isPast(100)).toBe(false);
  });

  test('limits a cursor with more simultaneous events than it can keep', () => {
    const cursor = createCursor(undefined, { kept: 10 });
    cursor.learn(events(0, 1_000, () => 7));
    expect(cursor.size).toBeLessThanOrEqual(20);
    expect(cursor.isPast(7)).toBe(true);
  });

  test('restores a saved cursor with the same state', () => {
    const cursor = createCursor(undefined, { kept: 10 });
    cursor.learn(events(0, 100));
    const text = JSON.stringify(cursor.saved());
    const again = createCursor(JSON.parse(text), { kept: 10 });
    expect(again.begun).toBe(true);
    expect(JSON.stringify(again.saved())).toBe(text);
    expect(again.isPast(80)).toBe(cursor.isPast(80));
    const fresh = JSON.stringify(createCursor().saved());
    expect(fresh).toBe('{"horizon":null,"known":[]}');
    expect(createCursor(JSON.parse(fresh)).isPast(-1e15)).toBe(false);
  });
});
