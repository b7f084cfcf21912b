import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { follow } from '../../src/jobs/remote/follow.ts';
import type { RemoteShell } from '../../src/jobs/remote/remote-shell.ts';
import {
  BUSY,
  FOLDER,
  FREE,
  INTERRUPT,
  RESET,
  WORK,
  WROTE,
  WROTE_NOTHING,
} from '../../src/jobs/remote/supervisor.ts';
import type { EnvironmentVariable } from '../../src/rules/container.ts';
import { needs } from '../support/needs.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { endCommand } from './end-command.ts';
import { localShell, SHELLS } from './local-shell.ts';
import { followed, started as supervise } from './supervised.ts';

const never = new AbortController().signal;
let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpucloud-run-'));
});
afterEach(async () => {
  // A child of the command may write on.
  endCommand(join(home, FOLDER, 'pid'));
  await rm(home, { recursive: true, force: true });
});

async function started(
  shell: RemoteShell,
  words: readonly string[],
  variables: readonly EnvironmentVariable[] = [],
  job = 'job',
): Promise<void> {
  await supervise(shell, { words, variables }, job);
}

describe.each(Object.entries(SHELLS))('%s', (name, sh) => {
  const own = name === 'busybox' ? 'busybox' : 'POSIX';
  const here = needs(own);
  const disk = needs(own, 'the right to mount');

  test('separates stdout from stderr and returns the exit code', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sh', '-c', 'echo "it' + "'" + 's out"; echo err >&2; exit 3']);
    expect(await followed(shell)).toEqual({ out: "it's out\n", err: 'err\n', exitCode: 3 });
  });

  test('starts the command once for repeated requests', here, async () => {
    const shell = localShell(home, sh);
    const command = ['sh', '-c', 'echo ran >>ran; sleep 0.3'];
    await Promise.all([started(shell, command), started(shell, command)]);
    await followed(shell);
    await started(shell, command);
    expect(await readFile(join(home, FOLDER, 'work', 'ran'), 'utf8')).toBe('ran\n');
  });

  test('passes variables of any bytes without storing them in a file', here, async () => {
    const shell = localShell(home, sh);
    const value = `it's "$HOME" \\ \`x\`\n\u{1f511} é\x81\x88${String.fromCharCode(1, 127)}end`;
    const variables = [
      { key: 'TOKEN', value },
      { key: 'EMPTY', value: '' },
    ];
    await started(
      shell,
      ['sh', '-c', 'printf %s "$TOKEN" | wc -c; echo "${EMPTY-unset}"'],
      variables,
    );
    const bytes = Buffer.byteLength(value);
    expect(await followed(shell)).toEqual({ out: `${bytes}\n\n`, err: '', exitCode: 0 });
    await rm(home, { recursive: true });
    await mkdir(home);
    await started(shell, ['printenv', 'TOKEN'], variables);
    const { out } = await followed(shell);
    expect(out).toBe(Buffer.from(`${value}\n`).toString('latin1'));
    const files = await readdir(join(home, FOLDER), { recursive: true });
    const output = ['err', 'exit', 'full', 'out', 'pid', 'since'];
    expect(files.sort()).toEqual([...output, 'started', 'started/job', 'times', 'work']);
  });

  test('starts a second job only after the first has ended', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sh', '-c', 'echo first; while [ ! -e go ]; do sleep 0.1; done']);
    await expect(started(shell, ['echo', 'second'], [], 'other')).rejects.toThrow(
      'printed nothing',
    );
    expect((await shell.run(RESET, never)).stdout).toBe(`${BUSY}\n`);
    await writeFile(join(home, FOLDER, 'work', 'go'), 'x\n');
    expect(await followed(shell)).toMatchObject({ out: 'first\n', exitCode: 0 });
    expect((await shell.run(RESET, never)).stdout).toBe(`${FREE}\n`);
    await started(shell, ['cat', 'go'], [], 'other');
    expect(await followed(shell)).toEqual({ out: 'x\n', err: '', exitCode: 0 });
  });

  test('sends the command SIGINT and keeps its exit code', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, [
      'sh',
      '-c',
      'trap "echo caught; exit 9" INT; echo up; while :; do sleep 0.1; done',
    ]);
    const ending = followed(shell);
    await until(async () => (await readFile(join(home, FOLDER, 'out'), 'utf8')) === 'up\n');
    expect((await shell.run(INTERRUPT, never)).code).toBe(0);
    expect(await ending).toEqual({ out: 'up\ncaught\n', err: '', exitCode: 9 });
  });

  test('reports exit code 127 for a missing command', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['gpucloud-no-such-program']);
    const { exitCode, err } = await followed(shell);
    expect(exitCode).toBe(127);
    expect(err).toContain('gpucloud-no-such-program');
  });

  test('sends every byte after the offset exactly once', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sh', '-c', 'head -c 3000000 /dev/urandom | tee copy']);
    const whole = (await followed(shell)).out;
    const copy = await readFile(join(home, FOLDER, 'work', 'copy'), 'latin1');
    expect(whole === copy).toBe(true);
    for (const out of [1, 65_535, 65_536, 65_537, 1_048_576, 2_999_999, 3_000_000]) {
      const rest = await followed(shell, { out, err: 0 });
      expect(rest.out === copy.slice(out)).toBe(true);
    }
  });

  test('resumes following after ssh failed to start once', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sh', '-c', 'echo whole; exit 4']);
    const reasons: string[] = [];
    let isMissing = true;
    const start: typeof shell.start = (...given) => {
      if (!isMissing) return shell.start(...given);
      isMissing = false;
      throw new CliError('refused', 'ssh is not on PATH.');
    };
    let out = '';
    const { exitCode } = await follow({
      shell: { ...shell, start },
      offsets: { out: 0, err: 0 },
      signal: never,
      clock: { sleep: async () => undefined, now: () => 0, monotonic: () => 0, random: () => 0 },
      async print(_from, bytes) {
        out += Buffer.from(bytes).toString();
      },
      onCut: async ({ reason }) => void reasons.push(reason),
      onBack: () => undefined,
    });
    expect({ out, exitCode, reasons }).toEqual({
      out: 'whole\n',
      exitCode: 4,
      reasons: ['ssh is not on PATH.'],
    });
  });

  test(
    'keeps the exit code if the command fills the disk, and reports the full disk',
    disk,
    async () => {
      const small = await mountSmallDisk('64k');
      try {
        const shell = localShell(small.path, sh);
        await started(shell, ['sh', '-c', 'cat /dev/zero >fill; exit 3']);
        expect(await followed(shell)).toMatchObject({ exitCode: 3, isDiskFull: true });
      } finally {
        await small.remove();
      }
    },
  );

  test('ends with the command although its child writes on', here, async () => {
    const shell = localShell(home, sh);
    const script = 'while :; do echo x; done & echo up; sleep 0.3; exit 4';
    await started(shell, ['sh', '-c', script]);
    const { out, exitCode } = await followed(shell);
    expect(exitCode).toBe(4);
    expect(out).toContain('up\n');
  });

  test('shows whether the command has written at once', here, async () => {
    const bin = join(home, '.bin');
    await mkdir(bin);
    // Its find compares whole seconds.
    if (name === 'busybox') execFileSync('busybox', ['--install', '-s', bin]);
    const shell = localShell(home, sh, bin);
    const shown = async (script: string) => {
      await started(shell, ['sh', '-c', script]);
      await followed(shell);
      const { stdout } = await shell.run(WROTE, never);
      await shell.run(RESET, never);
      return stdout;
    };
    expect(await shown('exit 3')).toBe(`${WROTE_NOTHING}\n`);
    const caches =
      'mkdir -p __pycache__ a/__pycache__; touch __pycache__/m.pyc a/__pycache__/n.pyc';
    await mkdir(join(home, WORK, 'a'), { recursive: true });
    expect(await shown(`${caches}; exit 1`)).toBe(`${WROTE_NOTHING}\n`);
    expect(await shown('touch a/log; exit 3')).toBe('');
    expect(await shown('touch log; exit 3')).toBe('');
  });

  test('reports a job whose folder was removed as lost', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['true']);
    await followed(shell);
    await rm(join(home, FOLDER), { recursive: true });
    expect((await followed(shell)).exitCode).toBeUndefined();
  });

  test("runs the command with the login's umask", here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sh', '-c', 'umask']);
    const { out } = await followed(shell);
    expect(Number.parseInt(out, 8)).toBe(process.umask());
  });

  test('reports a killed supervisor as lost', here, async () => {
    const shell = localShell(home, sh);
    await started(shell, ['sleep', '30']);
    const pid = Number(await readFile(join(home, FOLDER, 'pid'), 'utf8'));
    process.kill(-pid, 'SIGKILL');
    expect((await followed(shell)).exitCode).toBeUndefined();
  });
});
