import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Outcome, outcomeOf } from '../support/program.ts';
import { ok, type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// Short output bypasses the stdout stream, but must arrive in the same way.

const ID = '11111111-2222-4333-8444-555555555555';
/** Exceeds a pipe's atomic write of 4096 bytes, mostly with multi-byte characters. */
const NAME = 'Ночной бот №'.repeat(300);

let at: Installation;
let service: Service;
let text: string;
beforeEach(async () => {
  at = await install();
  service = await startService(() => ok({ id: ID, name: NAME, status: 'ACTIVE' }));
  text = (await bash('PROGRAM')).stdout;
});
afterEach(() => at.remove());

/** Runs a bash line in which PROGRAM prints an instance. */
function bash(line: string): Promise<Outcome> {
  const program = `"$0" "${join(at.root, 'bin', 'gpucloud.js')}" instances get ${ID} --json`;
  const argv = ['--norc', '-c', line.replace('PROGRAM', program), process.execPath];
  const env = {
    ...at.env,
    GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
    GPUCLOUD_BASE_URL: service.url,
  };
  return outcomeOf(spawn('bash', argv, { env, cwd: at.root }));
}

describe('the output of a run', () => {
  test('writes all output through a full non-blocking pipe', async () => {
    expect(JSON.parse(text)).toMatchObject({ name: NAME });
    // dd leaves room in the non-blocking pipe for only a part of the text. The reader starts late.
    const { code, stdout, stderr } = await bash(
      '{ dd if=/dev/zero bs=60000 count=1 oflag=nonblock status=none; PROGRAM; } | { sleep 0.5; cat; }',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll('\0', '')).toBe(text);
    expect(stdout.length - text.length).toBe(60_000);
  });

  test('writes all output to a slow reader', async () => {
    const line = (where: string) =>
      bash(`"$0" "${join(at.root, 'bin', 'gpucloud.js')}" commands --json ${where}`);
    const { stdout } = await line('');
    expect(stdout.length).toBeGreaterThan(100_000);
    expect(await line('| { sleep 0.5; cat; }')).toEqual({ code: 0, stdout, stderr: '' });
  });

  test('writes all output to stderr', async () => {
    const { stderr } = await bash('PROGRAM --debug > /dev/null');
    const lines = stderr.split('\n').length;
    expect(lines).toBeGreaterThan(2);
    const { code, stdout } = await bash(
      '{ dd if=/dev/zero bs=65536 count=1 oflag=nonblock status=none; PROGRAM --debug 2>&1 > /dev/null; } | { sleep 0.5; cat; }',
    );
    expect(code).toBe(0);
    expect(stdout.replaceAll('\0', '').split('\n')).toHaveLength(lines);
  });
});
