import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, test } from 'vitest';
import { openSandbox } from '../../src/sandbox/index.ts';
import { manualClock } from '../support/clock.ts';
import { needs } from '../support/needs.ts';
import { heard, outcomeOf, PROGRAM, RUNNER } from '../support/program.ts';
import { IMAGE, OFFER, OFFERED } from '../support/sandbox-ids.ts';
import { until } from '../support/ssh-world.ts';
import { makeKey } from '../support/sshd.ts';
import { SANDBOX as env, type SandboxComputer, withSandboxComputer } from './sandbox-computer.ts';

const RENTED = [...OFFERED, '--ssh-key', 'laptop'];
const MANY = 8;

/** Returns a sleep duration that identifies the processes of this run. */
const lasting = (seconds: number) => `${seconds}.${process.pid}`;

let computer: SandboxComputer;
let key: string;
let own: readonly string[];
let done: SandboxComputer['done'];
let file: string;

async function dataOf<T>(response: Promise<Response>): Promise<T> {
  return ((await (await response).json()) as { data: T }).data;
}

describe('the sandbox', { timeout: 60_000, ...needs('ssh') }, () => {
  withSandboxComputer((created) => {
    computer = created;
    ({ key, own, done } = created);
    file = join(computer.home, 'state', 'sandbox.json');
  });
  const create = (name: string) => done('instances', 'create', name, ...RENTED, '--wait', '--yes');
  const place = (...path: string[]) => join(computer.home, 'state', 'sandbox-instances', ...path);
  const sleeps = (seconds: number) =>
    spawnSync('pgrep', ['-f', `^sleep ${lasting(seconds)}$`]).status === 0;

  /** Rents instances through a separate server, and returns their IDs once they are ACTIVE. */
  async function rent(count: number): Promise<string[]> {
    const sandbox = openSandbox({ file, clock: { ...manualClock(), now: () => Date.now() } });
    const { url, apiKey, close } = await sandbox.listen({ port: 0 });
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const [laptop] = await dataOf<{ id: string }[]>(fetch(`${url}/ssh-keys`, { headers }));
    const wish = { offer_id: OFFER, image_id: IMAGE, ssh_keys: [laptop?.id] };
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) {
      const body = JSON.stringify({ ...wish, instance_name: `box-${randomUUID().slice(0, 8)}` });
      const sent = fetch(`${url}/instances`, { method: 'POST', headers, body });
      ids.push((await dataOf<{ id: string }>(sent)).id);
    }
    await sandbox.advance(10_000);
    await close();
    return ids;
  }

  /** Runs ssh directly. */
  const ssh = (id: string, ...words: string[]) => {
    const proxy = `"${RUNNER}" "${PROGRAM}" sandbox connect ${id} --state "${file}"`;
    const known = join(computer.home, 'known_hosts');
    const options = ['BatchMode=yes', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=accept-new'];
    options.push(`ProxyCommand=${proxy}`, `HostKeyAlias=${id}`, `UserKnownHostsFile=${known}`);
    const argv = ['-F', '/dev/null', '-i', key, ...options.flatMap((one) => ['-o', one])];
    const at = words[0]?.startsWith('-')
      ? [...words, 'root@instance']
      : ['root@instance', ...words];
    return outcomeOf(spawn('ssh', [...argv, ...at], { env: computer.env }));
  };

  /** Returns the command line of a job. */
  const job = (name: string, ...words: string[]) => {
    const ends = ['--terminate-after', '9h', '--unenforced', '--yes'];
    return ['run', '--name', name, ...RENTED, ...own, ...ends, ...words];
  };

  test('runs several sandbox instances at the same time, each closed to the others', async () => {
    const ids = await rent(MANY);
    const outcomes = await Promise.all(
      ids.map((id) =>
        ssh(id, `echo ${id} >id; sleep ${lasting(4100)} >&- 2>&- & sleep 1; cat id; pwd`),
      ),
    );
    const expected = ids.map((id) => ({ code: 0, stdout: `${id}\n${place(id, 'home')}\n` }));
    expect(outcomes).toMatchObject(expected);
    for (const file of [place(), ...ids.map((id) => place(id, 'host_key'))]) {
      expect(statSync(file).mode & 0o077).toBe(0);
    }
    expect(sleeps(4100)).toBe(true);
    await done('instances', 'terminate', ...ids, '--yes');
    expect([sleeps(4100), readdirSync(place())]).toEqual([false, []]);
  });

  test('exits with 3 for a path as the instance ID, and does not write a load file', async () => {
    const { code } = await computer.gpucloud(['sandbox', 'connect', '..'], { env });
    const load = await computer.gpucloud(['sandbox', 'gpu', '..', '50'], { env });
    expect([code, load.code]).toEqual([3, 3]);
    expect(existsSync(join(computer.home, 'state', 'load'))).toBe(false);
  });

  test('lets scp and sftp leave the home folder neither by a path nor by a link', async () => {
    const [id = ''] = await rent(1);
    const outside = join(computer.home, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret'), 'secret');
    await writeFile(join(computer.home, 'mine'), 'mine');
    await ssh(id, `ln -s ${outside} link; ln -s ${outside}/new new; echo here >here`);
    const scp = (from: string, to: string) =>
      computer.gpucloud(['instances', 'scp', from, to, ...own], { env });
    const up = '../'.repeat(3);
    for (const path of [`${outside}/`, 'link/', 'new', `${up}../outside/x`, '..']) {
      const { code, stderr } = await scp(join(computer.home, 'mine'), `${id}:${path}`);
      expect([path, code, stderr]).toEqual([path, 1, expect.stringContaining('Permission denied')]);
    }
    for (const path of [`${outside}/secret`, 'link/secret', `${up}../outside/secret`]) {
      const { code, stderr } = await scp(`${id}:${path}`, join(computer.home, 'stolen'));
      // scp looks for the file before opening it, and takes any refusal for a missing file.
      expect([path, code, stderr]).toEqual([path, 1, expect.stringContaining('No such file')]);
    }
    expect(existsSync(join(computer.home, 'stolen'))).toBe(false);
    expect(readdirSync(outside)).toEqual(['secret']);
    const back = await scp(`${id}:${place(id, 'home', 'here')}`, join(computer.home, 'back'));
    expect(back.code, back.stderr).toBe(0);
  });

  test('starts relative paths of rsync and tar in the home folder', needs('rsync'), async () => {
    const [id = ''] = await rent(1);
    const { stdout } = await ssh(
      id,
      'mkdir in && echo a >in/a && rsync -a in/ copy && tar -c in | tar -x -C copy && ls copy copy/in',
    );
    expect(stdout).toBe('copy:\na\nin\n\ncopy/in:\na\n');
    expect(readdirSync(place(id, 'home')).sort()).toEqual(['copy', 'in']);
  });

  test('writes and deletes nothing through links that a command left', async () => {
    const [id = ''] = await rent(1);
    const kept = join(computer.home, 'kept');
    await mkdir(kept);
    const link = (name: string) => `rm -r ${name}; ln -s ${kept} ${name}`;
    const links = `cd ..; ${link('proc')}; ${link('bin')}; ln -s ${kept}/load load; sleep 1`;
    expect((await ssh(id, links)).code).toBe(0);
    const { stdout } = await ssh(id, 'nvidia-smi -L; head -n 1 $GPUCLOUD_PROC/stat');
    expect(stdout).toMatch(/^GPU 0: .*\ncpu /);
    await done('sandbox', 'gpu', id, '50');
    expect(readdirSync(kept)).toEqual([]);
    await writeFile(join(kept, 'file'), '');
    await ssh(id, `mv ${place(id)} ${kept}/moved; ln -s ${kept} ${place(id)}`);
    expect(existsSync(join(place(id), 'file'))).toBe(true);
    await done('instances', 'terminate', id, '--yes');
    expect([existsSync(place(id)), readdirSync(kept)]).toEqual([false, ['file', 'moved']]);
  });

  test('continues a job after its connection server was killed', async () => {
    const [up, go] = [join(computer.home, 'up'), join(computer.home, 'go')];
    const line = `touch ${up}; until [ -e ${go} ]; do sleep 0.1; done; exit 3`;
    const outcome = computer.gpucloud(job('cut', '--', 'sh', '-c', line), { env });
    await until(() => existsSync(up));
    const served = `^${RUNNER}.*sandbox connect.*${computer.home}`;
    await until(() => spawnSync('pkill', ['-KILL', '-f', served]).status === 0);
    await writeFile(go, '');
    const { code, stderr } = await outcome;
    expect(code, stderr).toBe(3);
  });

  test('stops a job when its instance is terminated, and reports it in run', async () => {
    const outcome = computer.gpucloud(job('ended', '--', 'sleep', lasting(4101)), { env });
    await until(() => sleeps(4101));
    await done('instances', 'terminate', 'ended', '--yes');
    expect(sleeps(4101)).toBe(false);
    const { code, stderr } = await outcome;
    expect(code, stderr).toBe(125);
    expect(stderr).toContain('ended is TERMINAT');
  });

  test('accepts only registered keys, and stops every process on reset after kill -9', async () => {
    const server = computer.start(['sandbox', 'serve', '--json'], { env });
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n$/));
    const through = { env: { GPUCLOUD_BASE_URL: url, GPUCLOUD_API_KEY: api_key } };
    await create('served');
    const { id } = JSON.parse((await done('instances', 'get', 'served', '--json')).stdout);
    const enter = (file: string) =>
      computer.gpucloud(
        [
          ...['instances', 'ssh', id, '-i', file, '--ssh-arg=-F/dev/null'],
          ...['--ssh-option', 'BatchMode=yes', '--'],
          `setsid sleep ${lasting(4102)} >/dev/null 2>&1 & pwd`,
        ],
        through,
      );
    const stranger = await enter(makeKey(computer.home, 'stranger'));
    expect([stranger.code, stranger.stdout]).toEqual([255, '']);
    expect(stranger.stderr).toContain('Permission denied (publickey).');
    expect((await enter(key)).stdout).toBe(`${place(id, 'home')}\n`);
    server.kill('SIGKILL');
    expect(sleeps(4102)).toBe(true);
    await done('sandbox', 'reset', '--yes');
    expect([sleeps(4102), readdirSync(place())]).toEqual([false, []]);
  });

  test('keeps serving after an instance ended between a session and its command', async () => {
    const server = computer.start(['sandbox', 'serve', '--json'], { env });
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n$/));
    const headers = { 'x-api-key': api_key };
    await done('ssh-keys', 'add', '--name', 'laptop', `${key}.pub`);
    await create('cut-off');
    const { id } = JSON.parse((await done('instances', 'get', 'cut-off', '--json')).stdout);
    const { ssh_port: port } = await dataOf<{ ssh_port: number }>(
      fetch(`${url}/instances/${id}`, { headers }),
    );
    const client = new ssh2.Client();
    const end = `"${RUNNER}" "${PROGRAM}" instances terminate ${id} --yes && sleep 1`;
    const late = {
      // ssh2 reads it when the session is open, before it sends the command.
      get env() {
        const { status } = spawnSync('sh', ['-c', end], { env: { ...computer.env, ...env } });
        expect(status).toBe(0);
        return {};
      },
    };
    await new Promise<void>((closed) =>
      client
        .on('error', () => undefined)
        .on('close', () => closed())
        .on('ready', () => client.exec('true', late, () => undefined))
        .connect({ host: '127.0.0.1', port, username: 'root', privateKey: readFileSync(key) }),
    );
    expect((await fetch(`${url}/users/me`, { headers })).status).toBe(200);
    server.kill('SIGTERM');
    expect(await outcomeOf(server)).toMatchObject({ code: 0 });
  });

  test('stops the job of a served instance in the sandbox profile after a server crash', async () => {
    await done('ssh-keys', 'add', '--name', 'laptop', `${key}.pub`);
    const server = computer.start(['sandbox', 'serve', '--json', '--speed', '1'], { env });
    const { url, api_key } = JSON.parse(await heard(server, 'stdout', /\n$/));
    const through = { env: { GPUCLOUD_BASE_URL: url, GPUCLOUD_API_KEY: api_key } };
    const started = await computer.gpucloud(
      job('left', '--detach', '--', 'sleep', lasting(4103)),
      through,
    );
    expect(started.code, started.stderr).toBe(0);
    server.kill('SIGKILL');
    expect(sleeps(4103)).toBe(true);
    const { instances } = JSON.parse((await done('sandbox', 'status', '--json')).stdout);
    await done('instances', 'terminate', instances[0].id, '--yes');
    expect(sleeps(4103)).toBe(false);
  });
});
