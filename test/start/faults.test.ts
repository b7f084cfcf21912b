import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { outcomeOf } from '../support/program.ts';
import { ok, type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// Code outside any command, such as a library's callback, can throw at any moment.

const ID = '11111111-2222-4333-8444-555555555555';
const HARDWARE = ['--offer', ID, '--image', ID, '--ssh-key', ID];
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
const ACCOUNT = { '/users/me': { id: 'account-1' } };
/** The service's responses by path; other paths return empty lists. */
let known: Readonly<Record<string, unknown>>;
beforeEach(async () => {
  at = await install();
  await writeFile(join(at.root, 'hook.cjs'), HOOK);
  known = ACCOUNT;
  service = await startService(({ path }) => {
    if (strikes(path)) {
      child?.kill('SIGUSR2');
      return new Promise(() => undefined);
    }
    return ok(known[path] ?? []);
  });
});
afterEach(async () => {
  child?.kill('SIGKILL');
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

describe('an uncaught error', needs('POSIX'), () => {
  test('exits with 1 and a JSON error without a stack', async () => {
    strikes = () => true;
    const { code, stdout, stderr } = await run('instances', 'get', ID, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'refused',
      message: 'Unexpected failure: Error: boom',
    });
  });

  test('prints the stack of an uncaught error with --debug', async () => {
    strikes = () => true;
    const { code, stderr } = await run('instances', 'get', ID, '--debug');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^ +at .*hook\.cjs/m);
    expect(stderr).toContain('error: Unexpected failure: Error: boom\n');
  });

  test('exits with 7 during a create, which instances list then shows as UNKNOWN', async () => {
    strikes = (path) => path === '/instances';
    const { code, stderr } = await run('instances', 'create', 'box', ...HARDWARE, '--json');
    expect({ code, ...JSON.parse(stderr).error }).toMatchObject({
      code: 'outcome_unknown',
      may_be_billing: true,
    });
    expect(code).toBe(7);
    strikes = () => false;
    const next = await run('instances', 'list', '--json');
    expect(JSON.parse(next.stdout)).toMatchObject([{ id: null, name: 'box', status: 'UNKNOWN' }]);
  });

  test.each([
    ['create', 'box', 1, ['create', 'box', ...HARDWARE, '--wait']],
    ['wait', ID, 2, ['wait', ID, '--poll-interval', '1s']],
  ])(
    'reports during %s that the instance may be billing, and how to terminate it',
    async (_verb, name, reading, argv) => {
      const box = { id: ID, name: 'box', status: 'PROVISIONING' };
      known = { ...ACCOUNT, '/instances': box, [`/instances/${ID}`]: box };
      let readings = 0;
      strikes = (path) => path === `/instances/${ID}` && ++readings === reading;
      const { code, stderr } = await run('instances', ...argv, '--json');
      expect(code).toBe(1);
      const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
      expect(error).toMatchObject({ code: 'refused', may_be_billing: true, resource: ID });
      expect(error.message).toBe(
        `Unexpected failure: Error: boom. Stopped waiting for ${name} (${ID}). It may still be billing. To terminate it: gpucloud instances terminate ${name}`,
      );
      expect(error.hint).toContain('--debug');
    },
  );

  test('prints the stack of an uncaught error with --debug during a wait', async () => {
    const box = { id: ID, name: 'box', status: 'PROVISIONING' };
    known = { ...ACCOUNT, '/instances': box };
    strikes = (path) => path === `/instances/${ID}`;
    const argv = ['create', 'box', ...HARDWARE, '--wait', '--debug'];
    expect((await run('instances', ...argv)).stderr).toMatch(/^ +at .*hook\.cjs/m);
  });

  test('replaces an error that is being reported', async () => {
    const { code, stderr } = await run('instances', 'list', '--sort', 'Not this', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error.message).toBe('Unexpected failure: Error: bang');
  });

  test('exits with 1 if an uncaught error follows a signal without a handler', async () => {
    strikes = () => false;
    const ended = run('sandbox', 'serve', '--port', '0');
    await new Promise((resolve) => child?.stdout?.once('data', resolve));
    child?.kill('SIGUSR2');
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toBe(
      [
        'The sandbox is running. Copy these lines into another terminal; press Ctrl-C here to stop.',
        'Commands on sandbox instances run on this computer with your permissions.',
        'Offer and image IDs: gpucloud sandbox catalog -o csv',
        'Stopped the sandbox. Its state is saved.',
        'error: Unexpected failure: Error: boom',
        'hint: this is a bug in gpucloud; run the command with --debug and report the output\n',
      ].join('\n'),
    );
  });
});
