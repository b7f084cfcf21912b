import { expect } from 'vitest';
import type { Command } from '../../src/jobs/command.ts';
import { follow } from '../../src/jobs/remote/follow.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { START, STARTED, supervisorOf } from '../../src/jobs/remote/supervisor.ts';

const never = new AbortController().signal;

/** Starts a command under its supervisor, as `run` does. */
export async function started(shell: RemoteShell, command: Command, job = 'job'): Promise<void> {
  const running = await shell.start(START, [], never, supervisorOf(command, job));
  for await (const chunk of running.stdout) {
    expect(String(chunk)).toBe(`${STARTED}\n`);
    return;
  }
  throw new Error('the supervisor printed nothing');
}

/** Returns the outputs and the end of a command, without the time that it took. */
export async function followed(...given: Parameters<typeof followedWhole>) {
  const { took, ...rest } = await followedWhole(...given);
  return rest;
}

/** Returns the outputs and the end of a command. */
export async function followedWhole(
  shell: RemoteShell,
  offsets = { out: 0, err: 0 },
  { signal } = new AbortController(),
) {
  const printed = { out: '', err: '' };
  const end = await follow({
    shell,
    offsets,
    signal,
    clock: { sleep: async () => undefined, now: () => 0, monotonic: () => 0, random: () => 0 },
    async print(from, bytes) {
      printed[from] += Buffer.from(bytes).toString('latin1');
    },
    onCut: async ({ reason }) => {
      throw new Error(`the link was cut: ${reason}`);
    },
    onBack: () => undefined,
  });
  return { ...printed, ...end };
}
