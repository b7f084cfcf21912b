import { expect, test } from 'vitest';
import { runKeyCommand } from '../../src/config/keys.ts';
import { type Start, startProgram } from '../../src/system/programs.ts';

const KEY = 'svc_sk_test_0123456789abcdef';
const never = new AbortController().signal;

const start: Start = (program) => startProgram({ ...program, env: process.env });

/** Shortens the timeout of one minute. */
const impatient: Start = (program) => start({ ...program, timeout: 300 });

const run = (script: string, how: Start) =>
  runKeyCommand(['sh', '-c', script], 'the profile "work"', how, never, () => undefined);

test('kills a key command at the timeout, and reports it without the key', async () => {
  const deaf = `trap '' TERM; echo ${KEY}; while :; do sleep 0.05; done`;
  const error = await run(deaf, impatient).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    failure: 'authentication',
    message: 'The key command of the profile "work" returned no key: it timed out after 60 s.',
    hint: 'run the command by hand to see why, or store the key elsewhere: gpucloud login --store keyring|file',
  });
  expect(JSON.stringify(error)).not.toContain(KEY);
});

/** Prints these texts, and ends like this. */
function ending(ended: () => Promise<number>, ...texts: readonly string[]) {
  const calls: unknown[] = [];
  const play: Start = async ({ hear, ...program }) => {
    calls.push(program);
    for (const text of texts) hear?.(text, 'stdout');
    hear?.('a note', 'stderr');
    return { ended: ended(), isLate: false, kill: () => undefined };
  };
  return { calls, play };
}

const missing = (code: string) => () => Promise.reject(Object.assign(new Error('spawn'), { code }));

test.each<[string, ReturnType<typeof ending>]>([
  ['it exited with code 143', ending(async () => 143, KEY)],
  ['it printed nothing on its first line', ending(async () => 0)],
  ['it printed nothing on its first line', ending(async () => 0, ` \n${KEY}`)],
  ['"pass" is not on PATH', ending(missing('ENOENT'))],
  // More than 64 KiB are not kept.
  ['it printed nothing on its first line', ending(async () => 0, ' '.repeat(2 ** 16 + 1), KEY)],
  ["it can't be started (EACCES)", ending(missing('EACCES'))],
])('reports why a key command returned no key: %s', async (why, { play }) => {
  await expect(
    runKeyCommand(['pass'], 'the profile "work"', play, never, () => undefined),
  ).rejects.toMatchObject({
    failure: 'authentication',
    message: `The key command of the profile "work" returned no key: ${why}.`,
  });
});

test('runs a key command for a minute at most, and returns its first line', async () => {
  const notes: string[] = [];
  const { calls, play } = ending(
    async () => 0,
    ' '.repeat(2 ** 16 - 5),
    `${KEY.slice(0, 5)}`,
    `${KEY.slice(5)} \r\nuser: ann`,
  );
  const argv = ['pass', 'show', 'gpu cloud'];
  const key = await runKeyCommand(argv, 'it', play, never, (text) => notes.push(text));
  expect({ key, notes, calls }).toEqual({
    ...{ key: KEY, notes: ['a note'] },
    calls: [{ file: 'pass', args: ['show', 'gpu cloud'], keepsApiKey: true, timeout: 60_000 }],
  });
});

test("reports an interrupt instead of the key command's result", async () => {
  const stop = new AbortController();
  const reason = new Error('interrupted');
  const interrupting: Start = async (program) => {
    const running = await start(program);
    return { ...running, ended: running.ended.finally(() => stop.abort(reason)) };
  };
  for (const script of [`echo ${KEY}`, 'exit 1']) {
    const argv = ['sh', '-c', script];
    await expect(
      runKeyCommand(argv, 'the profile "work"', interrupting, stop.signal, () => undefined),
    ).rejects.toBe(reason);
  }
});
