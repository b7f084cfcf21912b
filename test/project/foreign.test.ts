import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executableOf } from '../../scripts/executable.mjs';
import { HERE } from '../../scripts/runtimes.mjs';
import { NETWORK_KILLS } from '../faults/kills.ts';
import { NO_FAULT } from '../faults/proxy.ts';
import { playAll, type Scenario } from '../faults/rig.ts';
import { needs } from '../support/needs.ts';
import { type Outcome, outcomeOf } from '../support/program.ts';
import { some } from '../support/random.ts';
import { HARDWARE } from '../support/sandbox-ids.ts';
import { ok, startService } from '../support/service.ts';
import { addRandomNumbers, wineDrive, wineEnv } from '../support/wine.ts';

// Tests executables for other systems with qemu-user and Wine.

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ARM_LIBRARIES = '/usr/aarch64-linux-gnu';
/** An emulated command takes seconds. */
const TIMEOUT = 180_000;

const CASES = [
  {
    target: 'linux-arm64',
    runner: ['qemu-aarch64', '-L', ARM_LIBRARIES],
    lacks: needs('qemu-aarch64', `${ARM_LIBRARIES}/lib/libc.so.6`),
  },
  {
    target: 'windows-x64',
    runner: ['wine'],
    lacks: needs('wine'),
  },
] as const;

for (const { target, runner, lacks } of CASES.filter((one) => one.target !== HERE)) {
  describe(`the executable for ${target}`, { timeout: TIMEOUT, ...lacks }, () => {
    let folder: string;
    let env: Record<string, string>;
    beforeAll(async () => {
      await run('npm', ['run', '--silent', 'build:exe', '--', '--target', target], { cwd: ROOT });
      folder = await mkdtemp(join(tmpdir(), 'gpucloud-foreign-'));
      const place = (name: string) =>
        target === 'windows-x64' ? wineDrive(join(folder, name)) : join(folder, name);
      env = {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        GPUCLOUD_CONFIG_DIR: place('config'),
        GPUCLOUD_STATE_DIR: place('state'),
      };
      if (target === 'windows-x64') {
        Object.assign(env, wineEnv(folder));
        await run('wine', ['wineboot', '--init'], { env });
        await addRandomNumbers(folder);
      }
    }, TIMEOUT);
    // Wine's server writes its settings a few seconds after the last program has ended.
    afterAll(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }), TIMEOUT);

    function start(
      argv: readonly string[],
      more: Record<string, string>,
    ): ChildProcessWithoutNullStreams {
      const [program, ...args] = runner;
      return spawn(program, [...args, executableOf(target), ...argv], {
        env: { ...env, ...more },
        cwd: folder,
      });
    }
    function sandbox(...argv: string[]): Promise<Outcome> {
      return outcomeOf(start(argv, { GPUCLOUD_PROFILE: 'sandbox' }));
    }

    test("prints the executable's version", async () => {
      const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
      expect(await sandbox('--version')).toMatchObject({
        code: 0,
        stdout: `gpucloud ${version}\n`,
      });
    });

    test('rents and terminates a sandbox instance with the executable', async () => {
      const made = await sandbox('instances', 'create', 'trainer', ...HARDWARE, '--json');
      expect(made).toMatchObject({ code: 0 });
      const ended = await sandbox('instances', 'terminate', 'trainer', '--yes', '--json');
      expect(JSON.parse(ended.stdout)).toMatchObject({
        id: JSON.parse(made.stdout).id,
        status: expect.stringMatching(/^TERMINAT(?:ING|ED)$/),
      });
    });

    test("writes stdout to a file, and removes doctor's test file from the state folder", async () => {
      await mkdir(join(folder, 'state'), { recursive: true, mode: 0o700 });
      // A shell opens the file: spawn would pass a pipe.
      const words = [...runner, executableOf(target), 'doctor'].map((word) => `'${word}'`);
      await run('sh', ['-c', `${words.join(' ')} > result`], {
        env: { ...env, GPUCLOUD_PROFILE: 'sandbox' },
        cwd: folder,
      });
      expect(await readFile(join(folder, 'result'), 'utf8')).toMatch(
        /state_writable: +pass .* is writable/,
      );
      const left = await readdir(join(folder, 'state'));
      expect(left.filter((name) => name.includes('doctor'))).toEqual([]);
    });

    if (target === 'linux-arm64') {
      test('never loses an instance if killed at some network steps', async () => {
        const kills = some(NETWORK_KILLS).map((kill): Scenario => {
          return { operation: 'create', fault: NO_FAULT, kill };
        });
        const how = { computers: 2, each: Math.ceil(kills.length / 2) };
        const { violations, killed } = await playAll([...runner, executableOf(target)], kills, how);
        expect(violations).toEqual([]);
        expect(killed).toBe(kills.length);
      });
    } else {
      test('does not run a program from the current folder', async () => {
        const system = join(folder, 'wine/drive_c/windows/system32');
        await copyFile(join(system, 'whoami.exe'), join(folder, 'ssh.exe'));
        expect((await sandbox('doctor')).stdout).toMatch(/ssh: +WARN +no ssh on PATH/);
      });

      test("lists the executable's request after kill -9", async () => {
        let child: ChildProcessWithoutNullStreams | undefined;
        const service = await startService(({ method, path }) => {
          if (method === 'POST') {
            child?.kill('SIGKILL');
            return new Promise(() => undefined);
          }
          return ok(path === '/users/me' ? { id: 'account-1' } : []);
        });
        try {
          const profile = {
            GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
            GPUCLOUD_BASE_URL: service.url,
          };
          child = start(['instances', 'create', 'box', ...HARDWARE], profile);
          expect(await outcomeOf(child)).toMatchObject({ code: null, stdout: '' });
          const { stdout } = await outcomeOf(start(['instances', 'list', '--json'], profile));
          const [row, ...others] = JSON.parse(stdout);
          expect(row).toMatchObject({ id: null, name: 'box' });
          // Wine may reuse the killed process's ID for the next process.
          expect(row.status).toMatch(/^(?:UNKNOWN|IN_FLIGHT)$/);
          expect(others).toEqual([]);
        } finally {
          await service.close();
        }
      });
    }
  });
}
