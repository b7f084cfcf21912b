import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Setup } from '../../src/jobs/record/record.ts';
import { probe } from '../../src/jobs/remote/probe.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import { exitOf, FOLDER, INTERRUPT, RESET, STOP } from '../../src/jobs/remote/supervisor.ts';
import { needs, programAt } from '../support/needs.ts';
import { fewer } from '../support/random.ts';
import { until } from '../support/ssh-world.ts';
import { localShell, SHELLS } from './local-shell.ts';
import { followed, followedWhole, started as supervise } from './supervised.ts';

const never = new AbortController().signal;
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-run-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const setupOf = (text: string, more: Partial<Setup> = {}): Setup => ({
  text,
  mark: 'mark',
  again: false,
  ...more,
});

async function started(shell: RemoteShell, setup: Setup, script = 'echo ran'): Promise<void> {
  await shell.run(RESET, never);
  const variables = [{ key: 'TOKEN', value: 'sesame' }];
  await supervise(shell, { words: ['sh', '-c', script], variables, setup });
}

const inJob = (name: string) => join(home, FOLDER, name);

describe.each(fewer(Object.entries(SHELLS)))('a setup in %s', (name, sh) => {
  const here = needs(name === 'busybox' ? 'busybox' : 'POSIX');

  test('runs before the command, in its folder, and prints to stderr', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, setupOf('echo "out $TOKEN"; echo err >&2; echo x >made'), 'cat made');
    expect(await followed(shell)).toEqual({ out: 'x\n', err: 'out sesame\nerr\n', exitCode: 0 });
  });

  test('is timed apart from the command', here, async () => {
    const bin = join(home, 'bin');
    await mkdir(bin);
    const times = join(home, 'times');
    await writeFile(times, '5\n25\n125\n');
    // The uptime passes only from one reading to the next.
    await writeFile(
      join(bin, 'cut'),
      `#!/bin/sh\ncase $* in *uptime) head -n 1 ${times}; sed -i 1d ${times} ;; *) exec ${programAt('cut')} "$@" ;; esac\n`,
      { mode: 0o755 },
    );
    const shell = localShell(home, sh, bin);
    await started(shell, setupOf('true'));
    expect(await followedWhole(shell)).toMatchObject({ took: { setup: 20, command: 100 } });
    await shell.run(RESET, never);
    expect(existsSync(inJob('times'))).toBe(false);
  });

  test('keeps the command from starting if one of its lines fails', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, setupOf('echo one\n(exit 3)\necho two'));
    expect(await followed(shell)).toEqual({ out: '', err: 'one\n', exitCode: 1003 });
    expect(exitOf(1003)).toEqual({ exit_code: 125, setup_exit_code: 3 });
    expect(exitOf(3)).toEqual({ exit_code: 3, setup_exit_code: null });
    expect(await probe(shell, never)).toMatchObject({ state: 'exited', exitCode: 1003 });
    expect(existsSync(inJob('setup-done'))).toBe(false);
  });

  test('is skipped where it has succeeded, unless it changes or is repeated', here, async () => {
    const shell = localShell(home, sh);
    const errors: string[] = [];
    for (const more of [{}, {}, { mark: 'other' }, { mark: 'other' }, { again: true }, {}]) {
      await started(shell, setupOf('echo set up', more));
      const { out, err, exitCode } = await followed(shell);
      expect({ out, exitCode }).toEqual({ out: 'ran\n', exitCode: 0 });
      errors.push(err);
    }
    const done = 'set up\n';
    expect(errors).toEqual([done, '', done, '', done, '']);
    await started(shell, setupOf('exit 1', { mark: 'broken' }));
    await followed(shell);
    // The failed setup may have undone a part of the earlier one.
    await started(shell, setupOf('echo set up'));
    expect((await followed(shell)).err).toBe(done);
  });

  test('is interrupted with SIGINT, and its command does not start', here, async () => {
    const shell = localShell(home, sh);
    const wait = 'while :; do sleep 0.1; done';
    for (const [text, code] of [
      [`echo up; ${wait}`, 1130],
      [`trap "exit 0" INT; echo up; ${wait}`, 1130],
      [`trap "exit 7" INT; echo up; ${wait}`, 1007],
    ] as const) {
      await started(shell, setupOf(text));
      await until(() => existsSync(inJob('setup')));
      await until(async () => (await readFile(inJob('err'), 'utf8')) === 'up\n');
      expect(await probe(shell, never)).toMatchObject({ state: 'running', isSetup: true });
      await shell.run(INTERRUPT, never);
      expect(await followed(shell)).toMatchObject({ out: '', exitCode: code });
      expect(await probe(shell, never)).toMatchObject({ state: 'exited', isSetup: false });
    }
  });

  test('is killed if it ignores signals', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, setupOf('trap "" INT TERM; echo up; while :; do sleep 0.1; done'));
    await until(async () => (await readFile(inJob('err'), 'utf8')) === 'up\n');
    expect(await (await shell.start(STOP, ['1'], never)).ended).toBe(0);
    expect(await followed(shell)).toMatchObject({ out: '', exitCode: 1137 });
  });

  test('may print 10 MB', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, setupOf('head -c 10000000 /dev/zero | tr "\\0" x'));
    const { out, err, exitCode } = await followed(shell);
    expect({ out, bytes: err.length, exitCode }).toEqual({
      out: 'ran\n',
      bytes: 10_000_000,
      exitCode: 0,
    });
  });
});
