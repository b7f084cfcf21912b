import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { outcomeOf } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// A fault that nobody caught, such as one in a callback of a library, strikes at any moment.

const ID = '11111111-2222-4333-8444-555555555555';
const HOOK = `
  process.on('SIGUSR2', () => { throw new Error('boom'); });
  const { stringify } = JSON;
  JSON.stringify = (value, ...more) => {
    if (value?.error?.message?.includes('Not this')) throw new Error('bang');
    return stringify(value, ...more);
  };`;

let at: Installation;
let service: Service;
let child: ChildProcess | undefined;
let strikes: (path: string) => boolean;
beforeEach(async () => {
  at = await install();
  await writeFile(join(at.root, 'hook.cjs'), HOOK);
  service = await startService(({ path }) => {
    if (strikes(path)) {
      child?.kill('SIGUSR2');
      return new Promise(() => undefined);
    }
    return { status: 200, body: { status: 'success', code: 200, data: [] } };
  });
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await service.close();
  await at.remove();
});

function run(...argv: string[]) {
  const started = spawn(
    process.execPath,
    ['--require', join(at.root, 'hook.cjs'), join(at.root, 'bin', 'gpucloud.js'), ...argv],
    {
      env: {
        ...at.env,
        GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
        GPUCLOUD_BASE_URL: service.url,
      },
      cwd: at.root,
    },
  );
  child = started;
  return outcomeOf(started);
}

describe.skipIf(process.platform === 'win32')('a fault that nobody caught (needs signals)', () => {
  test('is told as any other, without its stack', async () => {
    strikes = () => true;
    const { code, stdout, stderr } = await run('instances', 'get', ID, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'refused',
      message: 'Something unexpected happened: Error: boom',
    });
  });

  test('is told with its stack to whoever looks for it', async () => {
    strikes = () => true;
    const { code, stderr } = await run('instances', 'get', ID, '--debug');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ +at .*hook\.cjs/m);
    expect(stderr).toContain('error: Something unexpected happened: Error: boom\n');
  });

  test('while a machine is being rented: it may be billing, and the next command says so', async () => {
    strikes = (path) => path === '/instances';
    const hardware = ['--offer', ID, '--image', ID, '--ssh-key', ID];
    const { code, stderr } = await run('instances', 'create', 'box', ...hardware, '--json');
    expect({ code, ...JSON.parse(stderr).error }).toMatchObject({
      code: 'outcome_unknown',
      may_be_billing: true,
    });
    expect(code).toBe(7);
    strikes = () => false;
    const next = await run('instances', 'list', '--json');
    expect(JSON.parse(next.stdout)).toMatchObject([{ id: null, name: 'box', status: 'UNKNOWN' }]);
  });

  test('while an error is being told, it is told instead', async () => {
    const { code, stderr } = await run('instances', 'list', '--sort', 'Not this', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error.message).toBe('Something unexpected happened: Error: bang');
  });

  test('where nothing hears of it, it ends all the same', async () => {
    strikes = () => false;
    const ended = run('sandbox', 'serve', '--port', '0');
    await new Promise((resolve) => child?.stdout?.once('data', resolve));
    child?.kill('SIGUSR2');
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toContain('Something unexpected happened: Error: boom');
    expect(stderr).not.toContain('    at ');
  });
});
