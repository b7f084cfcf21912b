import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createStop, firstOf, type Stop } from '../src/stop.ts';

/** What is done to a signal, by the numbers of five listeners. */
const step = fc.oneof(
  fc.record({ what: fc.constant('add' as const), listener: fc.nat(4) }),
  fc.record({ what: fc.constant('remove' as const), listener: fc.nat(4) }),
  fc.record({ what: fc.constant('abort' as const), reason: fc.nat(1) }),
);

/** Which listener takes which other one back when it is called. */
const takesBack = fc.array(fc.option(fc.nat(4), { nil: undefined }), {
  minLength: 5,
  maxLength: 5,
});

function played(
  stop: Stop,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
  back: readonly (number | undefined)[],
): unknown[] {
  const seen: unknown[] = [];
  const { signal } = stop;
  const listeners = back.map((other, at) => () => {
    seen.push(at, signal.aborted, signal.reason);
    const listener = other === undefined ? undefined : listeners[other];
    if (listener !== undefined) signal.removeEventListener('abort', listener);
  });
  for (const one of steps) {
    if (one.what === 'abort') stop.abort(`reason ${one.reason}`);
    else {
      const listener = listeners[one.listener] as () => void;
      if (one.what === 'add') signal.addEventListener('abort', listener, { once: true });
      else signal.removeEventListener('abort', listener);
    }
    seen.push(signal.aborted, signal.reason);
  }
  return seen;
}

test('tells the same listeners the same as an AbortController does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), takesBack, (steps, back) => {
      // After the end Node calls nobody who comes later either: the event has been.
      expect(played(createStop(), steps, back)).toEqual(played(new AbortController(), steps, back));
    }),
  );
});

describe('a signal', () => {
  it('throws its reason once it is aborted', () => {
    const stop = createStop();
    expect(() => stop.signal.throwIfAborted()).not.toThrow();
    stop.abort(new Error('the reason'));
    expect(() => stop.signal.throwIfAborted()).toThrow('the reason');
  });

  it('calls the others too where one of them throws', () => {
    const stop = createStop();
    const called: number[] = [];
    stop.signal.addEventListener('abort', () => {
      throw new Error('boom');
    });
    for (const at of [1, 2]) stop.signal.addEventListener('abort', () => called.push(at));
    expect(() => stop.abort()).toThrow('boom');
    expect(called).toEqual([1, 2]);
  });

  it('has a reason where none was given', () => {
    const stop = createStop();
    stop.abort();
    expect(stop.signal.reason).toBeInstanceOf(Error);
  });
});

describe('the first of several', () => {
  it('ends with the reason of the one that ends first', () => {
    const one = createStop();
    const other = new AbortController();
    const both = firstOf(one.signal, other.signal);
    expect(both.aborted).toBe(false);
    other.abort('other');
    one.abort('one');
    expect(both).toMatchObject({ aborted: true, reason: 'other' });
  });

  it('has ended where one of them had', () => {
    const ended = createStop();
    ended.abort('before');
    expect(firstOf(createStop().signal, ended.signal)).toMatchObject({ reason: 'before' });
  });
});
