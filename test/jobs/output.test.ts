import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { createJobOutput } from '../../src/jobs/output.ts';

/** What a job prints and when gpucloud begins a message, after `^` with an echoed ^C. */
type Step = readonly ['out' | 'err', string] | '|' | '^|';

/** Returns what reaches the streams, of which those in `terminals` are a terminal. */
async function printed(terminals: string, steps: readonly Step[], fault?: Error) {
  let text = '';
  const to = (name: 'out' | 'err') => {
    const write: Writable['_write'] = (chunk, _encoding, done) => {
      text += String(chunk).replace('\u001b[0m\n', '\\n');
      done(name === 'out' ? fault : undefined);
    };
    return Object.assign(new Writable({ write }), { isTTY: terminals.includes(name) });
  };
  const host = { stdout: to('out'), stderr: to('err') } as unknown as Context['host'];
  const output = createJobOutput({ host } as Context, new AbortController().signal);
  for (const step of steps) {
    if (typeof step !== 'string') await output.print(step[0], Buffer.from(step[1]));
    else output.endLine(...(step === '^|' ? [true] : []));
  }
  return { text, isClosed: output.isClosed, lost: output.lost?.message };
}

const [OUT, ERR, LINE, EMPTY] = [
  ['out', 'a'],
  ['err', 'b'],
  ['out', 'c\n'],
  ['out', ''],
] as const;

test.each<[string, readonly Step[], string]>([
  ['out err', ['|', '|'], ''],
  ['out err', ['^|', '|'], '\\n'],
  ['out err', [OUT, '|', '|'], 'a\\n'],
  ['out err', [OUT, EMPTY, '|', LINE, '|'], 'a\\nc\n'],
  ['out err', [ERR, '|', OUT, '^|', '|'], 'b\\na\\n'],
  ['out err', [OUT, LINE, EMPTY, '|'], 'ac\n'],
  // Only an output that the terminal shows leaves a line there.
  ['err', [OUT, '|', ERR, OUT, '|'], 'aba\\n'],
  ['out', [OUT, '|', ERR, '^|'], 'ab'],
  ['', [OUT, ERR, '^|'], 'ab'],
])('begins a line of the terminal (%s) after %j', async (terminals, steps, text) => {
  expect(await printed(terminals, steps)).toEqual({ text, isClosed: false, lost: undefined });
});

test.each([
  ['ENOSPC', 'could not write the result: ENOSPC'],
  ['EPIPE', undefined],
])('goes on after %s, without more of that output', async (code, lost) => {
  const fault = Object.assign(new Error(code), { code });
  const found = await printed('', [OUT, OUT, ERR], fault);
  expect(found).toEqual({ text: 'ab', isClosed: true, lost });
});
