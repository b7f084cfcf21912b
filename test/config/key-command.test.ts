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

test('reports exit code 143 of a key command that was not killed', async () => {
  await expect(run(`echo ${KEY}; exit 143`, start)).rejects.toMatchObject({
    message: expect.stringContaining('it exited with code 143'),
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
