import { expect, test } from 'vitest';
import { ensureSandboxSsh } from '../../src/ssh/sandbox-proxy.ts';

test.each([
  ['win32', true, 'Sandbox instances have no SSH on Windows.'],
  ['win32', false, undefined],
  ['linux', true, undefined],
])(
  'checks for SSH on %s, with the sandbox %j, and throws %j',
  async (platform, sandbox, message) => {
    const context = { host: { platform }, settings: async () => ({ sandbox }) };
    const outcome = await ensureSandboxSsh(context).catch((error: Error) => error.message);
    expect(outcome).toBe(message);
  },
);
