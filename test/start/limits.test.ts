import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { type Outcome, outcomeOf } from '../support/program.ts';
import { ok, type Service, startService } from '../support/service.ts';
import { type Installation, install } from './installation.ts';

// Shared computers limit the address space of each process.

const ID = '11111111-2222-4333-8444-555555555555';
const ROOM_KIB = 6 * 1024 * 1024;

let at: Installation;
let service: Service;
beforeEach(async () => {
  at = await install();
  service = await startService(() => ok({ id: ID, name: 'box', status: 'ACTIVE' }));
});
afterEach(() => at.remove());

function bash(line: string, env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const program = `"$0" "${join(at.root, 'bin', 'gpucloud.js')}" instances get ${ID} -q`;
  const argv = ['--norc', '-c', line.replace('PROGRAM', program), process.execPath];
  const key = { GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef', GPUCLOUD_BASE_URL: service.url };
  return outcomeOf(spawn('bash', argv, { env: { ...at.env, ...key, ...env }, cwd: at.root }));
}

const major = Number(process.versions.node.split('.')[0]);

describe('a limit on address space', needs('Linux'), () => {
  const limited = `ulimit -v ${ROOM_KIB}; PROGRAM`;
  const done = { code: 0, stdout: `${ID}\n`, stderr: '' };

  test('exits with 6 and a working hint under a limit on address space before Node 24', async () => {
    const { code, stdout, stderr } = await bash(limited);
    // Node 24 and later need no workaround.
    if (major >= 24) {
      expect({ code, stdout, stderr }).toEqual(done);
    } else {
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
      expect(stderr).toContain('has too little memory for WebAssembly');
      expect(stderr).toContain('NODE_OPTIONS=--disable-wasm-trap-handler');
      expect(stderr).not.toContain('network');
    }
    const remedy = { NODE_OPTIONS: '--disable-wasm-trap-handler' };
    expect(await bash(limited, remedy)).toEqual(done);
  });
});

/**
 * Opens files up to the limit when the program connects. Node itself opens a varying number of
 * files, so a limit alone does not decide what fails first.
 */
const FULL = `
  const { openSync } = require('node:fs');
  const { Socket } = require('node:net');
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function (...to) {
    try {
      for (;;) openSync('/dev/null');
    } catch {}
    return connect.apply(this, to);
  };
`;

describe('a limit on open files', needs('Linux'), () => {
  test('exits with 6 and a hint if a limit on open files prevents the connection', async () => {
    const full = join(at.root, 'full.cjs');
    await writeFile(full, FULL);
    const low = await bash('ulimit -n 64; PROGRAM', { NODE_OPTIONS: `--require ${full}` });
    expect(low).toMatchObject({ code: 6, stdout: '' });
    expect(low.stderr).toMatch(
      /^error: .*: too many open files in this process.*\nhint: .*ulimit -n/m,
    );
    expect(low.stderr).not.toContain('network');
    expect(service.requests).toEqual([]);
  });
});

describe('Node without WebAssembly', () => {
  const program = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    outcomeOf(
      spawn(process.execPath, ['--jitless', join(at.root, 'bin', 'gpucloud.js'), ...argv], {
        env: { ...at.env, ...env },
        cwd: at.root,
      }),
    );

  test('exits with 6 and a hint about --jitless in Node without WebAssembly', async () => {
    const env = {
      GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
      GPUCLOUD_BASE_URL: service.url,
    };
    const { code, stdout, stderr } = await program(['instances', 'get', ID], env);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toMatch(
      /^error: .*: Node.js runs without WebAssembly, which .*\nhint: .*--jitless/m,
    );
  });

  test('prints the --jitless hint for the sandbox', async () => {
    const { code, stdout, stderr } = await program(['--profile', 'sandbox', 'me', 'get']);
    expect({ code, stdout }).toEqual({ code: major >= 24 ? 6 : 1, stdout: '' });
    expect(stderr).toMatch(/^error: .*Node.js runs without WebAssembly, .*\nhint: .*--jitless/m);
  });
});
