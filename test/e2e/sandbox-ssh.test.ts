import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { heard, PROGRAM, RUNNER } from '../support/program.ts';
import { openTerminal } from '../support/terminal.ts';
import { SANDBOX, type SandboxComputer, withSandboxComputer } from './sandbox-computer.ts';

const RENTED = ['--offer', 'A100 80GB', '--image', 'Ubuntu 22.04', '--ssh-key', 'laptop'];
const CTRL_C = '\u0003';

/** Returns a sleep duration that identifies the processes of this run. */
const lasting = (seconds: number) => `${seconds}.${process.pid}`;

let computer: SandboxComputer;
let key: string;
let own: readonly string[];
let done: SandboxComputer['done'];
const env = SANDBOX;

describe('an instance of the sandbox', { timeout: 60_000, ...needs('ssh') }, () => {
  withSandboxComputer(async (created) => {
    computer = created;
    ({ key, own, done } = created);
    await create('box');
  }, env);

  const gpucloud = (...argv: string[]) => computer.gpucloud(argv, { env });
  const instances = (verb: string, ...words: string[]) =>
    gpucloud('instances', verb, ...own, ...words);
  const ssh = (...words: string[]) => sshTo('box', ...words);
  const sshTo = (name: string, ...words: string[]) => instances('ssh', name, '--', ...words);

  const create = (name: string) => done('instances', 'create', name, ...RENTED, '--wait=ssh');

  /** Returns the ssh command of an instance, so that a test can change it. */
  async function commandOf(name: string): Promise<string[]> {
    const { stdout } = await instances('ssh', name, '--print', '--json');
    return JSON.parse(stdout);
  }

  const sleeps = (seconds: number) =>
    spawnSync('pgrep', ['-f', `sleep ${lasting(seconds)}`]).status === 0;

  test('accepts plain ssh after ssh-config', async () => {
    const config = join(computer.home, 'hosts.conf');
    await writeFile(config, (await done('instances', 'ssh-config')).stdout);
    const { stdout, stderr } = await computer.bash(
      `ssh -F ${config} -i ${key} -o IdentitiesOnly=yes gpucloud-box 'echo in $HOME'`,
      { env },
    );
    expect(stdout, stderr).toMatch(/^in \S+\/home$/m);
  });

  test('passes on more output than fits into an SSH window', async () => {
    const { stdout, stderr, code } = await ssh(
      'head -c 5000000 /dev/zero & head -c 5000000 /dev/zero >&2; wait',
    );
    expect([code, stdout.length, stderr.replace(/[^\0]/g, '').length]).toEqual([
      0, 5_000_000, 5_000_000,
    ]);
  });

  test.each(['rsa', 'ecdsa'])('accepts an SSH key of type %s', async (type) => {
    const file = join(computer.home, type);
    spawnSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-f', file]);
    await done('ssh-keys', 'add', '--name', type, `${file}.pub`);
    const name = `box-${type}`;
    await done('instances', 'create', name, ...RENTED.slice(0, -1), type, '--wait');
    const outcome = await gpucloud(
      ...['instances', 'ssh', name, '-i', file, '--ssh-arg=-F/dev/null', '--', 'echo in'],
    );
    expect(outcome.stdout).toBe('in\n');
  });

  test("signs in with the instance's private key on this computer, whatever its name", async () => {
    const folder = join(computer.home, '.ssh');
    await mkdir(folder);
    for (const end of ['', '.pub']) await copyFile(`${key}${end}`, join(folder, `gpu${end}`));
    const words = ['ssh', 'box', '--ssh-arg=-F/dev/null', '--', 'true'];
    const { code, stderr } = await gpucloud('instances', ...words);
    expect(code, stderr).toBe(0);
  });

  test('copies folders with scp, in both protocols', async () => {
    // The file is large enough to reveal responses in the wrong order.
    const folder = join(computer.home, 'data');
    await mkdir(join(folder, 'deep'), { recursive: true });
    await writeFile(join(folder, 'deep', 'a file'), 'x'.repeat(3_000_000));
    await writeFile(join(folder, 'run.sh'), '#!/bin/sh\n');
    await chmod(join(folder, 'run.sh'), 0o750);
    for (const [at, protocol] of [[], ['--ssh-arg=-O']].entries()) {
      const there = `there-${at}`;
      const out = await instances('scp', ...protocol, '-r', '-p', folder, `box:${there}`);
      expect(out.code, out.stderr).toBe(0);
      const back = await instances('scp', ...protocol, '-r', `box:${there}`, computer.home);
      expect(back.code, back.stderr).toBe(0);
      const copied = join(computer.home, there);
      expect(readFileSync(join(copied, 'deep', 'a file'), 'utf8')).toHaveLength(3_000_000);
      expect((await ssh(`stat -c %a ${there}/run.sh`)).stdout).toBe('750\n');
    }
    const missing = await instances('scp', 'box:nowhere', computer.home);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('No such file or directory');
  });

  test('serves sftp, and closes the connection on its exit', async () => {
    const [, ...words] = await commandOf('box');
    const options = words.slice(0, words.indexOf('-p'));
    const batch = [
      'mkdir d',
      'cd d',
      'ls -la',
      'symlink nowhere link',
      'rename link other',
      'exit',
    ];
    const { status, stdout, stderr } = spawnSync(
      'sftp',
      [...options, '-b', '-', '--', words.at(-1) ?? ''],
      { input: batch.join('\n'), timeout: 30_000, encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('sftp> rename link other');
    expect((await ssh('readlink d/other; rm -r d')).stdout).toBe('nowhere\n');
  });

  describe('in a terminal', needs('script'), () => {
    test('sets and changes the terminal size, and passes on Ctrl-C', async () => {
      const terminal = openTerminal({
        program: RUNNER,
        args: [PROGRAM, 'instances', 'ssh', ...own, 'box'],
        env: { ...computer.env, ...env },
        cwd: computer.home,
        columns: 91,
        rows: 27,
      });
      await terminal.shows(/^box \(sandbox\):~[#$] ?$/m);
      terminal.type("PS1='here> '\r");
      await terminal.shows(/^here>$/m);
      terminal.type('stty size\r');
      await terminal.shows(/^27 91$/m);
      terminal.resize(70, 20);
      terminal.type('clear; until [ "$(stty size)" = "20 70" ]; do sleep 0.1; done; echo got\r');
      await terminal.shows(/^got$/m);
      terminal.type("clear; sh -c 'echo armed; sleep 60'\r");
      await terminal.shows(/^armed$/m);
      terminal.type(CTRL_C);
      await terminal.shows(/^armed\n\^C\n+here>$/m);
      terminal.type('exit 3\r');
      expect(await terminal.ended()).toBe(3);
    });
  });

  test("stops an instance's processes on terminate, and deletes its folder without following links", async () => {
    await create('doomed');
    const kept = join(computer.home, 'kept');
    await mkdir(kept);
    await writeFile(join(kept, 'file'), 'mine');
    // Starts processes that leave their session or environment, and creates a read-only folder.
    await instances(
      'ssh',
      'doomed',
      `ln -s ${kept} link; mkdir locked; touch locked/x; chmod 500 locked; ` +
        `setsid sleep ${lasting(4001)} >/dev/null 2>&1 & (env -i sleep ${lasting(4002)} & wait) >/dev/null 2>&1 &`,
    );
    expect([sleeps(4001), sleeps(4002)]).toEqual([true, true]);
    const folder = (await commandOf('doomed')).join(' ');
    const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(folder) ?? [];
    const place = join(computer.home, 'state', 'sandbox-instances', id);
    expect(existsSync(join(place, 'home', 'link'))).toBe(true);
    await done('instances', 'terminate', 'doomed', '--yes');
    expect([sleeps(4001), sleeps(4002)]).toEqual([false, false]);
    expect(existsSync(place)).toBe(false);
    expect(readFileSync(join(kept, 'file'), 'utf8')).toBe('mine');
  });

  test('keeps an instance running after its server was killed, until a stop', async () => {
    await create('orphan');
    const child = computer.start(
      ['instances', 'ssh', ...own, 'orphan', '--', `echo up; trap "" PIPE; sleep ${lasting(4003)}`],
      { env },
    );
    await heard(child, 'stdout', /up/);
    spawnSync('pkill', ['-KILL', '-f', `^${RUNNER}.*sandbox connect.*${computer.home}`]);
    await new Promise((resolve) => child.once('close', resolve));
    expect(sleeps(4003)).toBe(true);
    await done('instances', 'stop', 'orphan', '--wait');
    expect(sleeps(4003)).toBe(false);
  });

  test('runs a detached job, which jobs list shows and reap finishes', async () => {
    const hired = ['--name', 'job', ...RENTED, ...own, '--terminate-after', '3h', '--unenforced'];
    await done(
      'run',
      ...hired,
      '--detach',
      '-y',
      '--',
      'sh',
      '-c',
      'until [ -e go ]; do sleep 0.1; done',
    );
    const state = async () =>
      JSON.parse((await done('jobs', 'get', 'job', '--json')).stdout).status;
    expect(await state()).toBe('RUNNING');
    expect(await done('instances', 'reap', '--json')).toMatchObject({ stdout: '[]\n', stderr: '' });
    await sshTo(
      'job',
      'touch gpucloud-run/work/go; until [ -e gpucloud-run/exit ]; do sleep 0.1; done',
    );
    const [row] = JSON.parse((await done('instances', 'reap', '--json')).stdout);
    expect(row).toMatchObject({ name: 'job', outcome: 'terminated', reason: 'job', exit_code: 0 });
    expect(await state()).toBe('EXITED');
  });
});
