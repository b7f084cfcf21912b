import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import {
  type Computer,
  createComputer,
  heard,
  type Outcome,
  outcomeOf,
} from '../support/program.ts';
import { OFFERED } from '../support/sandbox-ids.ts';
import { makeKey } from '../support/sshd.ts';

const STRANGER = 65_534;

let computer: Computer;
let server: ChildProcessWithoutNullStreams;
let through: { env: Record<string, string> };
let id: string;
let port: number;

describe('another user of this computer', {
  timeout: 60_000,
  ...needs('another user', 'ssh'),
}, () => {
  // Lets other users enter the folder of the state file.
  const shared = () => join(computer.home, 'shared');
  const file = () => join(shared(), 'test.json');

  beforeAll(async () => {
    computer = await createComputer();
    await chmod(computer.home, 0o755);
    await mkdir(shared());
    await chmod(shared(), 0o755);
    const serving = ['sandbox', 'serve', '--json', '--state', './shared/test.json'];
    server = computer.start([...serving, '--speed', '60']);
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n$/));
    through = { env: { GPUCLOUD_BASE_URL: url, GPUCLOUD_API_KEY: api_key } };
    const key = makeKey(computer.home, 'owner');
    await done('ssh-keys', 'add', '--name', 'owner', `${key}.pub`);
    await done('instances', 'create', 'box', ...OFFERED, '--ssh-key', 'owner', '--wait', '-y');
    ({ id, ssh_port: port } = JSON.parse((await done('instances', 'get', 'box', '--json')).stdout));
    const enter = ['instances', 'ssh', 'box', '-i', key, '--ssh-arg=-F/dev/null', '--'];
    await done(...enter, 'umask 0; cd /; nvidia-smi -L && cd && echo mine >secret && mkdir open');
  }, 60_000);
  afterAll(async () => {
    server.kill('SIGTERM');
    await new Promise((resolve) => server.once('close', resolve));
    await computer.remove();
  });

  async function done(...argv: string[]): Promise<Outcome> {
    const outcome = await computer.gpucloud(argv, through);
    expect(outcome.code, outcome.stderr).toBe(0);
    return outcome;
  }
  /** Runs a shell command as another user with a separate key. */
  const stranger = (line: string) =>
    outcomeOf(
      spawn(
        'setpriv',
        [`--reuid=${STRANGER}`, `--regid=${STRANGER}`, '--clear-groups', 'sh', '-c', line],
        {
          cwd: computer.home,
          env: { PATH: process.env.PATH ?? '' },
        },
      ),
    );

  test("prevents another user from reading or changing the state and the instances' files", async () => {
    const home = join(shared(), 'test-instances', id, 'home');
    expect(existsSync(join(home, 'secret'))).toBe(true);
    expect((await stranger('ls shared')).stdout).toBe('test-instances\ntest.json\n');
    for (const line of [
      `cat ${file()}`,
      'ls shared/test-instances',
      `cat ${join(home, 'secret')}`,
      `touch ${join(home, 'open', 'x')}`,
      `cat ${join(home, '..', 'host_key')}`,
    ]) {
      const { code, stdout, stderr } = await stranger(line);
      expect([code === 0, stdout], line).toEqual([false, '']);
      expect(stderr, line).toContain('Permission denied');
    }
  });

  test("rejects another user's own key", async () => {
    const folder = join(computer.home, 'theirs');
    await mkdir(folder);
    const key = makeKey(folder, 'stranger');
    for (const path of [folder, key, `${key}.pub`]) chownSync(path, STRANGER, STRANGER);
    const options = ['BatchMode=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null'];
    const words = options.map((one) => `-o ${one}`).join(' ');
    const line = `ssh -F /dev/null ${words} -i ${key} -p ${port} root@127.0.0.1 id`;
    const { code, stdout, stderr } = await stranger(line);
    expect([code, stdout]).toEqual([255, '']);
    expect(stderr).toContain('Permission denied (publickey).');
  });

  test('rejects the API key of earlier versions with 401', async () => {
    const url = through.env.GPUCLOUD_BASE_URL;
    const statusWith = async (key = '') =>
      (await fetch(`${url}/ssh-keys`, { headers: { 'x-api-key': key } })).status;
    // Every sandbox of an earlier version had this key.
    expect(await statusWith('svc_sk_sandbox_built_in_key')).toBe(401);
    expect(await statusWith(through.env.GPUCLOUD_API_KEY)).toBe(200);
  });

  test('exits with 9 if another user owns the instance folder', async () => {
    const folder = join(shared(), 'taken-instances');
    await mkdir(join(folder, id), { recursive: true });
    chownSync(folder, STRANGER, STRANGER);
    const status = ['sandbox', 'status', '--state', join(shared(), 'taken.json')];
    const { code, stderr } = await computer.gpucloud(status);
    expect(code).toBe(9);
    expect(stderr).toContain(`Other users could change ${folder}.`);
    expect(readdirSync(folder)).toEqual([id]);
  });
});
