import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { ensureSandboxSsh, sandboxPage } from '../../src/ssh/sandbox-proxy.ts';

test.each([
  [8888, true, 'page of box 8888'],
  [8888, false, undefined],
  [null, true, undefined],
])('shows the page of port %s, with the sandbox %j: %s', async (port, sandbox, page) => {
  const context = {
    settings: async () => ({ sandbox }),
    sandbox: async () => ({ page: (id: string, at: number) => `page of ${id} ${at}` }),
  } as unknown as Context;
  expect(await sandboxPage('box', port, context)).toBe(page);
});

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
