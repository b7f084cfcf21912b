import { expect, onTestFinished, test } from 'vitest';
import { createSshPorts } from '../../src/sandbox/ssh/ports.ts';

const ID = '3f0c5d9e-1111-4222-8333-444455556666';

function ports() {
  const { signal } = new AbortController();
  const read = async () => undefined;
  const all = createSshPorts('/none', undefined, {
    env: {},
    platform: 'linux',
    signal,
    read,
    onFault() {},
  });
  onTestFinished(() => all.close());
  return all;
}

test("reuses an instance's port after a restart unless it is in use", async () => {
  const first = ports();
  const port = await first.portOf(ID);
  expect(await first.portOf(ID)).toBe(port);
  expect(await ports().portOf(ID)).not.toBe(port);
  await first.close();
  expect(await ports().portOf(ID)).toBe(port);
});
