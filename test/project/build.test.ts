import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const USUAL = new URL('../../scripts/usual.mjs', import.meta.url).href;

/** The build runs commands; instead of them, what stays at the other end of a connection. */
async function building(): Promise<{ build: ChildProcess; command: Socket; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'gpucloud-test-'));
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const bundle = `require('node:net').connect(${port}, '127.0.0.1').on('close', () => process.exit())`;
  const script = `import(${JSON.stringify(USUAL)}).then(({ usualChunks }) => usualChunks(${JSON.stringify(bundle)}))`;
  const env = { ...process.env, TMPDIR: folder };
  const build = spawn(process.execPath, ['-e', script], { env, stdio: 'ignore' });
  onTestFinished(() => {
    build.kill('SIGKILL');
    server.close();
    rmSync(folder, { recursive: true });
  });
  const [command] = (await once(server, 'connection')) as [Socket];
  onTestFinished(() => void command.destroy());
  command.on('error', () => undefined).resume();
  return { build, command, folder };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a build that %s ends leaves no command and no folder behind', async (signal, code) => {
  const { build, command, folder } = await building();
  expect(readdirSync(folder)).toHaveLength(1);
  const ended = Promise.all([once(build, 'close'), once(command, 'close')]);
  build.kill(signal);
  const [[exit]] = await ended;
  expect(exit).toBe(code);
  expect(readdirSync(folder)).toEqual([]);
});
