import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createSshPorts } from '../../src/sandbox/ssh/ports.ts';
import type { Instance } from '../../src/sandbox/store/state.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

function ports(
  read: () => Promise<Instance | undefined> = async () => undefined,
  onFault: (message: string) => void = () => undefined,
) {
  const { signal } = new AbortController();
  const wire = { env: {}, platform: 'linux', signal };
  const all = createSshPorts('/none', undefined, { ...wire, read, onFault });
  onTestFinished(() => all.close());
  return all;
}

test.each([
  ['unknown', async () => undefined, []],
  ['stopped', async () => ({ status: 'STOPPED' }) as Instance, []],
  ['unreadable', () => Promise.reject(new Error('no')), ['no']],
])('closes the connection to an instance that is %s', async (_how, read, expected) => {
  const faults: string[] = [];
  const port = await ports(read, (message) => faults.push(message)).portOf(ID);
  const socket = connect(port, '127.0.0.1');
  await once(socket.resume(), 'close');
  expect(faults).toEqual(expected);
});

test("reuses an instance's port after a restart unless it is in use", async () => {
  const first = ports();
  const port = await first.portOf(ID);
  expect(await first.portOf(ID)).toBe(port);
  expect(await ports().portOf(ID)).not.toBe(port);
  await first.close();
  expect(await ports().portOf(ID)).toBe(port);
});
