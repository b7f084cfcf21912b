import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMessages, type MessagesOptions } from '../../src/output/index.ts';
import { withStop } from '../../src/output/messages.ts';
import { gpucloud } from '../../src/output/shell-line.ts';
import type { Clock } from '../../src/system/clock.ts';
import { manualClock } from '../support/clock.ts';
import { stderrLines } from '../support/stderr-lines.ts';
import { turns, until } from '../support/until.ts';
import { clock, Page, Screen } from './world.ts';

function messagesOn(stderr: Page, options: Partial<MessagesOptions> = {}) {
  return createMessages({ stderr, clock, colour: false, env: {}, ...options });
}

it.each([
  ['a', 'a.'],
  ['a.', 'a.'],
  ['a!', 'a!'],
  ['a?', 'a?'],
  ['a. b', 'a. b.'],
  ['', '.'],
])('ends the message %j as %j', (message, ended) => {
  expect(withStop(message)).toBe(ended);
});

describe('createMessages', () => {
  it('prints one line per message without control characters, and a prefix for warnings', () => {
    const stderr = new Page();
    const messages = messagesOn(stderr);
    messages.note('made \u001b]0;x\u0007an\u202e\ninstance');
    messages.warn('may_be_billing', 'still billing\u001b[2J');
    messages.relay('one\r\ntwo\r\n');
    expect(stderr.text).toBe('made an instance\nwarning: still billing\none\ntwo\n');
  });

  it('wraps a --debug line between words in a terminal', () => {
    const stderr = new Page({ columns: 40 });
    messagesOn(stderr).debug('12:00:00 GET /instances/an-id-that-is-long 200 12 ms');
    expect(stderr.text).toBe('12:00:00 GET\n  /instances/an-id-that-is-long 200 12\n  ms\n');
  });

  it('does not indent the further lines of a note', () => {
    const stderr = new Page({ columns: 10 });
    messagesOn(stderr).note('one two three');
    expect(stderr.text).toBe('one two\nthree\n');
  });

  it("prints a warning's prefix in yellow", () => {
    const stderr = new Page({ columns: 80 });
    messagesOn(stderr, { colour: true }).warn('price', 'low');
    expect(stderr.text).toBe('\u001b[33mwarning:\u001b[39m low\n');
  });

  it('prints JSON objects immediately in JSON modes', () => {
    const stderr = new Page();
    const messages = messagesOn(stderr, { json: true, profile: 'work' });
    messages.note('made');
    messages.warn('price', `svc_sk_abc costs\u001b[2J more: ${gpucloud('instances', 'list')}`);
    expect(stderrLines(stderr.text)).toEqual([
      {
        warning: {
          code: 'price',
          message: 'svc_sk_… costs more: gpucloud --profile work instances list',
        },
      },
    ]);
    messages.debug('GET /x');
    expect(stderrLines(stderr.text)[1]).toEqual({ debug: 'GET /x' });
  });

  it('prints only warnings with --quiet', () => {
    const stderr = new Screen({ columns: 80 });
    const messages = messagesOn(stderr, { quiet: true });
    messages.note('made');
    messages.progress('Waiting').done('Active');
    messages.warn('price', 'dear');
    expect(stderr.text).toBe('warning: dear\n');
  });

  it.each([
    ['in a terminal', new Screen({ columns: 80 }), '', ['warning: high'], 1],
    ['not in a file', new Page(), 'warning: high\n'.repeat(2), [], 2],
  ])('holds messages back while a view is open: %s', (_where, stderr, text, lines, times) => {
    const messages = messagesOn(stderr);
    const held = messages.hold();
    messages.warn('price', 'high');
    messages.warn('price', 'high');
    expect({ text: stderr.text, lines: held.lines }).toEqual({ text, lines });
    held.release();
    held.release();
    messages.note('later');
    expect(stderr.text).toBe(`${'warning: high\n'.repeat(times)}later\n`);
  });

  it('does not throw if stderr is closed', () => {
    const stderr = new Page();
    const messages = messagesOn(stderr);
    messages.note('early');
    expect(() => stderr.emit('error', new Error('EPIPE'))).not.toThrow();
    stderr.destroy();
    expect(() => messages.note('late')).not.toThrow();
    expect(stderr.text).toBe('early\n');
  });
});

describe('a spinner', () => {
  it('shows a spinner with its text in a terminal, then erases it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const stderr = new Screen({ columns: 80 });
    const progress = messagesOn(stderr).progress('Creating\u001b[2J');
    await until(() => stderr.text.includes('Creating'));
    expect(stderr.text).not.toContain('\u001b[2J');
    progress.update('Installing \u202e');
    vi.advanceTimersByTime(1000);
    expect(stderr.text).toContain('Installing');
    expect(stderr.text).not.toContain('\u202e');
    progress.done('Active');
    const ended = stderr.text;
    expect(ended.endsWith('<clear>')).toBe(true);
    progress.update('too late');
    progress.done('twice');
    expect(vi.getTimerCount()).toBe(0);
    expect(stderr.text).toBe(ended);
  });

  it('prints notes above a spinner and continues', async () => {
    const stderr = new Screen({ columns: 80 });
    const messages = messagesOn(stderr);
    const progress = messages.progress('Waiting');
    await until(() => stderr.text.includes('Waiting'));
    messages.note('a note');
    expect(stderr.text).toMatch(/<clear>.*a note\n.*Waiting/s);
    progress.done();
  });

  it('neither shows nor loads a spinner for short work', async () => {
    let aborted = false;
    const slept: number[] = [];
    const patient: Clock = {
      ...clock,
      sleep: (milliseconds, signal) =>
        new Promise((_resolve, reject) => {
          slept.push(milliseconds);
          signal?.addEventListener('abort', () => {
            aborted = true;
            reject(signal.reason);
          });
        }),
    };
    const stderr = new Screen({ columns: 80 });
    const progress = messagesOn(stderr, { clock: patient }).progress('Reading');
    progress.done();
    expect({ aborted, slept }).toEqual({ aborted: true, slept: [150] });
    await turns();
    expect(stderr.text).toBe('');
  });

  it('draws nothing if the work ends while the spinner loads, or after an earlier spinner', async () => {
    const stderr = new Screen({ columns: 80 });
    const messages = messagesOn(stderr);
    messages.progress('Reading').done();
    await turns();
    expect(stderr.text).toBe('');
    const progress = messages.progress('Creating');
    await until(() => stderr.text.includes('Creating'));
    progress.done();
    const moves = vi.spyOn(stderr, 'cursorTo');
    const before = stderr.text;
    messages.progress('Reading').done();
    await turns();
    expect({ text: stderr.text, moves: moves.mock.calls }).toEqual({ text: before, moves: [] });
  });

  it('shows each task of a spinner on its own line, and can start again', async () => {
    const stderr = new Screen({ columns: 80 });
    const messages = messagesOn(stderr);
    const outer = messages.progress('outer');
    const inner = messages.progress('inner');
    await until(() => stderr.text.includes('outer') && stderr.text.includes('inner'));
    expect(stderr.text).toMatch(/. outer\n {2}inner/);
    outer.done('outer done');
    await until(() => stderr.text.includes('outer done'));
    // The spinner shows unfinished tasks first.
    expect(stderr.text).toMatch(/. inner\n {2}outer done/);
    inner.done();
    expect(stderr.text.endsWith('<clear>')).toBe(true);
    const next = messages.progress('next');
    await until(() => stderr.text.includes('next'));
    next.done();
    expect(stderr.text.endsWith('<clear>')).toBe(true);
  });

  it.each([
    ['in a log file', new Page(), {}],
    ['on a terminal without columns', new Screen({ columns: 0 }), {}],
    ['on a terminal of unknown width', Object.assign(new Screen(), { isTTY: true }), {}],
    ['on a dumb terminal', new Screen({ columns: 80 }), { env: { TERM: 'dumb' } }],
    ['with --debug', new Screen({ columns: 80 }), { quietProgress: true }],
  ])('prints no progress for the first minute %s', async (_where, stderr, options) => {
    const slow = manualClock();
    const progress = messagesOn(stderr, { ...options, clock: slow }).progress('Creating');
    slow.advance(59_999);
    progress.update('Installing');
    progress.done('Active');
    // A spinner starts with a pause.
    expect({ text: stderr.text, slept: slow.slept }).toEqual({ text: '', slept: [] });
  });

  it.each([
    [{ json: true }, ['Creating', 'Waiting', 'Read one']],
    [{ quiet: true }, ['Creating', 'Waiting', 'Read one']],
    [{}, []],
  ])('draws no spinner and prints no notes with %j, but passes them on', (options, expected) => {
    const notes: string[] = [];
    const onNote = (text: string) => notes.push(text);
    const messages = messagesOn(new Screen({ columns: 80 }), { ...options, onNote });
    const progress = messages.progress('Creating');
    progress.update('Waiting');
    progress.done();
    messages.note('Read \u001b[31mone');
    expect(notes).toEqual(expected);
  });

  it.each([
    ['prints a progress line per minute in a log file', {}, 'at 60\nat 120\n'],
    ['omits progress lines in JSON modes', { json: true }, ''],
    ['omits progress lines with --debug', { quietProgress: true }, ''],
  ])('%s', (_what, options, text) => {
    const stderr = new Page();
    const manual = manualClock();
    const progress = messagesOn(stderr, { clock: manual, ...options }).progress('Creating');
    for (let seconds = 0; seconds <= 150; seconds += 10) {
      progress.update(`at ${seconds}`);
      manual.advance(10_000);
      manual.step(-3_600_000);
    }
    progress.done('Active');
    expect(stderr.text).toBe(text);
  });
});
