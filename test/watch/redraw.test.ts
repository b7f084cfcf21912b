import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { CliError } from '../../src/errors.ts';
import type { Foot } from '../../src/output/output.ts';
import { watch } from '../../src/watch/watch.ts';

/** A read: what it shows, or its fault; how long it takes; the faults of its parts; its warnings. */
interface Read {
  readonly shows: string | CliError;
  readonly takes?: number;
  readonly faults?: readonly CliError[];
  readonly warnings?: readonly string[];
}

interface More {
  readonly isOver?: (reading: Read) => boolean;
  /** The terminal closes after this many frames. */
  readonly endsAfter?: number;
}

const START = Date.parse('2026-01-15T12:00:00Z');
const down = new CliError('unreachable', 'Could not reach the service.');
const busy = (seconds: number) =>
  new CliError('rateLimited', 'Too many requests.', { retryAfterMs: seconds * 1000 });

/** Watches these reads at a terminal, and returns each frame with its time; then comes Ctrl-C. */
async function frames(reads: readonly Read[], { isOver, endsAfter }: More = {}) {
  const lines: string[] = [];
  const left = [...reads];
  const stop = new AbortController();
  let [now, drawn, isDone] = [0, 0, false];
  const timers: { readonly at: number; wake(): void }[] = [];
  const say = (text: string) => void lines.push(`${now / 1000}: ${text}`);
  const clock = {
    now: () => START + now,
    monotonic: () => now,
    sleep: (length: number, signal?: AbortSignal) =>
      new Promise<void>((wake, reject) => {
        signal?.throwIfAborted();
        const stopped = () => reject(signal?.reason);
        signal?.addEventListener('abort', stopped);
        const wakes = () => {
          signal?.removeEventListener('abort', stopped);
          wake();
        };
        timers.push({ at: now + length, wake: wakes });
      }),
  };
  let frame = () => 'nothing';
  const live = {
    get ended() {
      return drawn === endsAfter;
    },
    async draw(write: (out: unknown) => Promise<void>, foot: () => readonly Foot[]) {
      let shown = '';
      await write((text: string) => {
        shown = text;
      });
      frame = () => [shown, ...foot().map(({ text, colour }) => `[${colour}] ${text}`)].join(' | ');
      drawn += 1;
      say(frame());
    },
    refresh: async () => say(frame()),
    end: async () => say(`last frame: ${frame()}`),
  };
  const err = {
    progress: (text: string) => ({ done: () => say(`${text}: done`) }),
    hold: () => ({ lines: ['held line'], release: () => say('release') }),
  };
  const context = { flags: {}, clock, err, out: { live: async () => live }, signal: stop.signal };
  const watching = {
    async read() {
      const read = left.shift();
      if (read === undefined) {
        stop.abort(new CliError('interrupted', 'Interrupted.'));
        throw stop.signal.reason;
      }
      if (read.takes !== undefined) await clock.sleep(read.takes);
      if (read.shows instanceof CliError) throw read.shows;
      return read;
    },
    show: async ({ shows }: Read, out: unknown) => (out as (text: unknown) => void)(shows),
    rows: () => [],
    view: {},
    faultsIn: ({ faults = [] }: Read) => faults,
    ...(reads.some((read) => read.warnings) && {
      warnings: ({ warnings = [] }: Read) => warnings.map((message) => ({ code: 'x', message })),
    }),
    ...(isOver && { isOver }),
  };
  const watched = watch(watching as never, 2_000, context as unknown as Context).then(
    () => say('end'),
    (error) => say(`${error.message}${error.silent ? ' (silent)' : ''}`),
  );
  void watched.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const next = timers.sort((a, b) => a.at - b.at).shift();
    now = next?.at ?? now;
    next?.wake();
  }
  return lines.map((line) => line.replaceAll(/\d\d:\d\d:(\d\d)/g, 'HH:MM:$1'));
}

test('shows under a view how old it is, and what keeps it from being read', async () => {
  const reads = [
    { shows: 'a', warnings: ['low balance'] },
    { shows: down },
    { shows: busy(6) },
    { shows: 'b', faults: [busy(3)] },
    { shows: 'c', takes: 6_000 },
    { shows: 'd', takes: 6_000 },
    { shows: busy(3) },
    { shows: 'e', takes: 3_000 },
  ];
  expect(await frames(reads)).toMatchSnapshot();
});

test('keeps the last fault under the last view', async () => {
  expect(await frames([{ shows: down }])).toMatchSnapshot();
  const reads = [{ shows: 'a', warnings: ['low balance'] }, { shows: down }];
  expect(await frames(reads)).toMatchSnapshot();
});

test('stops when nothing can change any more, or when the terminal closes', async () => {
  const reads = ['a', 'b', 'c'].map((shows): Read => ({ shows }));
  expect(await frames(reads, { isOver: ({ shows }) => shows === 'b' })).toMatchSnapshot();
  expect(await frames(reads, { endsAfter: 1 })).toMatchSnapshot();
});
