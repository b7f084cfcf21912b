import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import ssh2, { type ClientChannel, type ConnectConfig } from 'ssh2';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { connectTo, endStale, writeLoad } from '../../src/sandbox/ssh/index.ts';
import { placeOf } from '../../src/sandbox/ssh/place.ts';
import { writeProc } from '../../src/sandbox/ssh/proc.ts';
import type { Instance } from '../../src/sandbox/store/state.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';
import { JUPYTERLAB, temporaryFolder } from './support.ts';

const OWNERS = [process.geteuid?.() ?? 0];
const ID = '3f0c5d9e-1111-4222-8333-444455556666';
const keyPair = () => ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
const [own, other] = [keyPair(), keyPair()];

let file: string;
let stop: AbortController;
/** One promise per connection, resolved at its end. */
let served: Promise<void>[];

beforeEach(async () => {
  file = join(await temporaryFolder(), 'sandbox.json');
  await writeFile(file, '{}');
  stop = new AbortController();
  served = [];
});
afterEach(async () => {
  stop.abort();
  await Promise.all(served);
  await endStale(file, OWNERS, new Map());
});

/** Opens a connection to the instance. Rejects if it can't sign in. */
async function connected(
  config: ConnectConfig = { privateKey: own.private },
  publicKeys: readonly string[] = [own.public],
  offerId = '81008100-0000-4000-8000-000000000004',
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const instance = {
    id: ID,
    name: 'trainer',
    status: 'ACTIVE',
    offerId,
    imageId: '',
    templateId: JUPYTERLAB,
    sshKeys: publicKeys.map((publicKey) => ({ publicKey })),
  } as unknown as Instance;
  const foreign = { GPUCLOUD_API_KEY: 'secret-1', MINE: 'secret-2', XTZ: 'x', TZX: 'x' };
  const env = { PATH: process.env.PATH, LANG: 'C', ...foreign };
  const wire = { stdin, stdout, env, platform: process.platform, signal: stop.signal };
  served.push(connectTo(file, OWNERS, instance, wire));
  const client = new ssh2.Client();
  const sock = Duplex.from({ readable: stdout, writable: stdin });
  await new Promise((resolve, reject) => {
    client.on('ready', () => resolve(undefined)).on('error', reject);
    client.connect({ sock, username: 'root', ...config } as ConnectConfig);
  });
  return client;
}

const opening = <T>(open: (done: (error: Error | undefined, opened: T) => void) => void) =>
  new Promise<T>((resolve, reject) =>
    open((error, opened) => (error ? reject(error) : resolve(opened))),
  );

/** Runs a command and returns its exit code, signal and output. */
async function ran(
  client: ssh2.Client,
  command: string,
  options: ssh2.ExecOptions = {},
  stdin?: string,
) {
  const channel = await opening<ClientChannel>((done) => client.exec(command, options, done));
  const [stdout, stderr] = [text(channel), text(channel.stderr)];
  let [code, signal]: [number | null, string | undefined] = [null, undefined];
  channel.on('exit', (ended: number | null, name?: string) => {
    [code, signal] = [ended, name];
  });
  if (stdin !== undefined) channel.end(stdin);
  await once(channel, 'close');
  return { code, signal, stdout: await stdout, stderr: await stderr };
}

describe('SSH of a sandbox instance', needs('POSIX'), () => {
  test("returns the command's exit code or the signal that killed it", async () => {
    const client = await connected();
    expect(await ran(client, 'echo out; exit 7')).toMatchObject({ code: 7, stdout: 'out\n' });
    expect(await ran(client, 'kill -s TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await ran(client, 'cat; echo err >&2', {}, 'in')).toEqual({
      ...{ code: 0, signal: undefined, stdout: 'in', stderr: 'err\n' },
    });
    client.end();
  });

  test('ends a connection with its process, although the client goes on', async () => {
    const client = await connected();
    stop.abort();
    await Promise.all(served);
    client.destroy();
  });

  test("gives a command the instance's environment, and none of this computer's secrets", async () => {
    const client = await connected();
    const env = { LC_TIME: 'de_DE', COLORTERM: 'truecolor', XLC_ALL: 'x', LANGX: 'x' };
    const { stdout } = await ran(client, 'pwd; exec env', { env });
    client.end();
    const { folder, home, proc } = placeOf(file, ID);
    const { username } = userInfo();
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line)).sort()).toEqual(
      [
        home,
        ...['COLORTERM=truecolor', `GPUCLOUD_PROC=${proc}`, `HOME=${home}`, 'LANG=C'],
        ...['LC_TIME=de_DE', `LOGNAME=${username}`, `SANDBOX_INSTANCE=${ID}`],
        `PATH=${join(folder, 'bin')}:${process.env.PATH}`,
        ...[
          `SHELL=${existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'}`,
          'SSH_CONNECTION=127.0.0.1 0 127.0.0.1 22',
          `USER=${username}`,
        ],
      ].sort(),
    );
  });

  test("shows the cards of the instance's offer, and their load", async () => {
    await writeLoad(file, ID, 50);
    const { folder, mark, hostKey } = placeOf(file, ID);
    await symlink('/tmp', join(folder, 'bin'));
    const client = await connected();
    const query =
      '--query-gpu=index,name,uuid,driver_version,memory.total,memory.used,utilization.gpu';
    const { stdout } = await ran(client, `nvidia-smi ${query} --format=csv,noheader; who`);
    client.end();
    const cards = Array.from(
      { length: 8 },
      (_, at) =>
        `${at}, NVIDIA H100 80GB, GPU-${ID.slice(0, -2)}0${at}, 550.90.07, 81920 MiB, 36864 MiB, 50 %\n`,
    );
    expect(stdout).toBe(cards.join(''));
    expect(lstatSync(join(folder, 'bin')).isDirectory()).toBe(true);
    const key = readFileSync(hostKey, 'utf8');
    await utimes(mark, 1000, 1000);
    const again = await connected(undefined, undefined, 'gone');
    expect((await ran(again, `nvidia-smi ${query} --format=csv,noheader`)).stdout).toBe(
      `0, GPU, GPU-${ID.slice(0, -2)}00, 550.90.07, 24576 MiB, 11059 MiB, 50 %\n`,
    );
    again.end();
    expect([readFileSync(hostKey, 'utf8'), statSync(mark).mtimeMs]).toEqual([key, 1_000_000]);
  });

  test.each([
    ['/bin/bash', false],
    ['script, which the shell needs for a terminal,', true],
  ])('says that it could not start %s', async (what, pty) => {
    const client = await connected();
    await rm(placeOf(file, ID).home, { recursive: true });
    expect(await ran(client, 'true', { pty })).toEqual({
      ...{ code: 127, signal: undefined, stdout: '' },
      stderr: `gpucloud: could not start ${what} on this computer.\n`,
    });
    client.end();
  });

  test('shows in /proc how busy the instance was since the last look', async () => {
    const place = placeOf(file, ID);
    await mkdir(place.home, { recursive: true });
    await writeFile(place.mark, '');
    await utimes(place.mark, 1000, 1000);
    const shown = async (seconds: number) => {
      await writeProc(place, seconds * 1000);
      const names = ['stat', 'uptime', 'loadavg', 'meminfo'];
      const all = await Promise.all(names.map((name) => readFile(join(place.proc, name), 'utf8')));
      const net = await readFile(join(place.proc, 'net/dev'), 'utf8');
      return [...all, net.split('\n')[2]].join('\n');
    };
    const memory = (free: number) =>
      `MemTotal:       67108864 kB\nMemFree:        ${free} kB\nMemAvailable:   ${free} kB\n`;
    expect(await shown(1010)).toBe(
      `cpu  80 0 0 7920 0 0 0 0 0 0\nbtime 1000\n\n10.00 79.20\n\n0.08 0.08 0.08 1/100 1\n\n${memory(63417876)}\n  eth0: 1000 0 0 0 0 0 0 0 1000 0 0 0 0 0 0 0`,
    );
    await writeLoad(file, ID, 50);
    expect(await shown(1020)).toBe(
      `cpu  4080 0 0 11920 0 0 0 0 0 0\nbtime 1000\n\n20.00 119.20\n\n4.00 4.00 4.00 1/100 1\n\n${memory(46976205)}\n  eth0: 2000 0 0 0 0 0 0 0 2000 0 0 0 0 0 0 0`,
    );
    // The instance was started again.
    expect(await shown(1005)).toContain('cpu  2000 0 0 2000 0 0 0 0 0 0\n');
    // A job of run is busy until it exits.
    await writeLoad(file, ID, undefined);
    await mkdir(join(place.home, 'gpucloud-run', 'started'), { recursive: true });
    expect(await shown(1015)).toContain('cpu  9760 0 0 2240 0 0 0 0 0 0\n');
    await writeFile(join(place.home, 'gpucloud-run', 'exit'), '0');
    expect(await shown(1025)).toContain('cpu  9840 0 0 10160 0 0 0 0 0 0\n');
    // No time has passed since the last look.
    await writeLoad(file, ID, 100);
    expect(await shown(1025)).toContain('cpu  9840 0 0 10160 0 0 0 0 0 0\n');
    // It was started again, and runs for less than before, but for more than it was busy.
    expect(await shown(1015)).toContain('cpu  12000 0 0 0 0 0 0 0 0 0\n');
  });

  test.each<[string, () => ConnectConfig]>([
    ['another key', () => ({ privateKey: other.private })],
    ['a password', () => ({ password: 'root' })],
    ['no authentication', () => ({})],
    ['the signature of another key', () => ({ agent: new Liar() })],
  ])('rejects SSH with %s', async (_what, config) => {
    await expect(connected(config())).rejects.toThrow('authentication methods failed');
  });

  test.each([
    ['the first', own],
    ['the second', other],
  ])('accepts %s of two keys, beside a line that is not a key', async (_which, pair) => {
    const registered = [own.public, 'not a key', other.public];
    const client = await connected({ privateKey: pair.private }, registered);
    expect((await ran(client, 'exit 3')).code).toBe(3);
    client.end();
  });

  test('rejects every key of an instance without keys', async () => {
    const signIn = connected({ privateKey: own.private }, []);
    await expect(signIn).rejects.toThrow('authentication methods failed');
  });

  test('closes a connection once its instance has stopped', async () => {
    const client = await connected();
    const closed = new Promise<void>((resolve) => client.on('close', () => resolve()));
    const { mark, proc } = placeOf(file, ID);
    const shown = join(proc, 'uptime');
    await utimes(shown, 1000, 1000);
    // It stays open, and writes what is new.
    await expect.poll(() => statSync(shown).mtimeMs).not.toBe(1_000_000);
    await rm(mark);
    await closed;
    await Promise.all(served);
  });

  test(
    'kills the programs of a terminated instance and deletes only its folder',
    needs('Linux'),
    async () => {
      const client = await connected();
      // The process has no environment, but its parent is of the instance.
      await ran(
        client,
        `sh -c 'env -i sleep 60 & echo $! >pid; wait' >/dev/null 2>&1 & until [ -s pid ]; do sleep 0.05; done`,
      );
      client.end();
      const { folder, home } = placeOf(file, ID);
      const pid = Number(await readFile(join(home, 'pid'), 'utf8'));
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      const stranger = join(folder, '..', 'not-an-instance');
      await mkdir(stranger);
      await endStale(file, OWNERS, new Map([[ID, 'TERMINATED']]));
      await until(() => !existsSync(`/proc/${pid}/exe`));
      expect([existsSync(folder), existsSync(stranger)]).toEqual([false, true]);
    },
  );

  test.each([
    ['goes on without one', false],
    ['ends with it', true],
  ])('a command whose terminal closes %s', needs('Linux'), async (_what, pty) => {
    const client = await connected();
    const channel = await opening<ClientChannel>((done) =>
      client.exec('echo $$ >pid; sleep 60', { pty }, done),
    );
    const written = join(placeOf(file, ID).home, 'pid');
    await until(() => existsSync(written) && readFileSync(written, 'utf8').endsWith('\n'));
    channel.close();
    client.end();
    const process = `/proc/${readFileSync(written, 'utf8').trim()}`;
    if (pty) await until(() => !existsSync(process));
    await Promise.all(served);
    expect(existsSync(process)).toBe(!pty);
  });

  test('sends a signal to a command', async () => {
    const client = await connected();
    const trap = 'trap "echo term; exit 3" TERM; echo ready; while :; do sleep 0.05; done';
    const channel = await opening<ClientChannel>((done) => client.exec(trap, done));
    let stdout = '';
    const closed = new Promise<void>((resolve) => channel.on('close', () => resolve()));
    channel.on('data', (chunk: Buffer) => {
      if (stdout === '') channel.signal('TERM');
      stdout += String(chunk);
    });
    await closed;
    client.end();
    expect(stdout).toBe('ready\nterm\n');
  });

  test('forwards to programs of this computer alone, at most 128 at once', async () => {
    const client = await connected();
    const froms: number[] = [];
    const server = createServer((socket) => {
      froms.push(socket.remotePort ?? 0);
      socket.on('error', () => undefined).write('hello');
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const opened = async (host = '127.0.0.1', from = 1) => {
      const channel = await opening<ClientChannel>((done) =>
        client.forwardOut('127.0.0.1', from, host, port, done),
      ).catch(() => 'refused' as const);
      if (channel === 'refused') return channel;
      await once(channel, 'data');
      return channel;
    };
    for (const host of ['example.com', '10.0.0.1', 'localhost.example.com', 'xlocalhost'])
      expect(await opened(host)).toBe('refused');
    const all = [await opened('LOCALHOST')];
    for (let at = 1; at < 128; at += 1) all.push(await opened());
    expect(all).not.toContain('refused');
    expect(await opened()).toBe('refused');
    for (const channel of all.splice(1, 2)) if (typeof channel === 'object') channel.end();
    await expect.poll(() => opened()).not.toBe('refused');
    // Both ends of a tunnel are here, so it could lead to itself.
    expect(await opened('127.0.0.1', froms[0])).toBe('refused');
    for (const channel of all) if (typeof channel === 'object') channel.end();
    await expect.poll(() => opened('127.0.0.1', froms[0])).not.toBe('refused');
    client.end();
  });

  test('closes a forwarding whose program resets the connection, and no other', async () => {
    const client = await connected();
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.resetAndDestroy());
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const opened = () =>
      opening<ClientChannel>((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', port, done));
    const [reset, other] = [await opened(), await opened()];
    const closed = once(reset, 'close');
    reset.resume().write('x');
    await closed;
    expect(other.destroyed).toBe(false);
    client.end();
  });

  test("shows a page in place of the program on a template's port", async () => {
    const client = await connected();
    const asked = async (head: string) => {
      const channel = await opening<ClientChannel>((done) =>
        client.forwardOut('127.0.0.1', 1, 'localhost', 8888, done),
      );
      for (const part of head.split('|')) channel.write(part);
      return text(channel);
    };
    const page = await asked('GET / HTTP/1.1\r\n|host: x\r\n\r\n');
    const [head, body = ''] = page.split('\r\n\r\n');
    expect(head).toBe(
      `HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`,
    );
    expect(body).toBe(
      '<!doctype html>\n<meta charset="utf-8">\n<title>JupyterLab on trainer</title>\n<h1>JupyterLab on trainer</h1>\n<p>A page of the gpucloud sandbox. On a real instance, the program on port 8888 responds here.</p>\n',
    );
    expect(await asked('HEAD / HTTP/1.1\n\n')).toBe(`${head}\r\n\r\n`);
    expect(await asked('HEAD / HTTP/1.1\n\n|HEAD / HTTP/1.1\n\n')).toBe(`${head}\r\n\r\n`);
    expect(await asked('x'.repeat(70_000))).toBe('');
    client.end();
  });

  test('stores an uploaded file that is larger than one message', async () => {
    const client = await connected();
    const sftp = await sftpOf(client);
    const content = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251));
    await opening<unknown>((done) =>
      sftp.writeFile('data', content, (error) => done(error ?? undefined, null)),
    );
    const back = await opening<Buffer>((done) => sftp.readFile('data', done));
    client.end();
    expect(back.equals(content)).toBe(true);
    expect((await readFile(join(placeOf(file, ID).home, 'data'))).equals(content)).toBe(true);
  });

  test('serves each request of sftp, with the status of each failure', async () => {
    const client = await connected();
    const sftp = await sftpOf(client);
    /** Sends one request, and returns the response or the status of its failure. */
    const ask = (send: (done: (error: unknown, answer?: unknown) => void) => void) =>
      new Promise<unknown>((resolve) =>
        send((error, answer) => resolve(error ? (error as { code: number }).code : answer)),
      );
    const { OPEN_MODE: mode, STATUS_CODE: status } = ssh2.utils.sftp;
    const statOf = async (path: string, how: 'stat' | 'lstat' = 'stat') => {
      const found = await ask((done) => sftp[how](path, done));
      const { mode: bits, size, atime, mtime } = found as ssh2.Stats;
      return { mode: bits.toString(8), size, atime, mtime };
    };
    const opened = (path: string, flags: number, attributes = {}) =>
      ask((done) => sftp.open(path, flags, attributes, done)) as Promise<Buffer>;
    const listed = async (path: string) => {
      const rows = (await ask((done) => sftp.readdir(path, done))) as ssh2.FileEntryWithStats[];
      return rows.map(({ longname }) => longname).sort();
    };

    expect(await ask((done) => sftp.mkdir('sub', { mode: 0o750 }, done))).toBeUndefined();
    expect(await ask((done) => sftp.mkdir('sub', done))).toBe(status.FAILURE);
    const handle = await opened('sub/a', mode.READ | mode.WRITE | mode.CREAT, { mode: 0o640 });
    const content = Buffer.from('first, second');
    await ask((done) => sftp.write(handle, content, 0, content.length, 0, done));
    const times = { atime: 1_700_000_007, mtime: 1_700_000_009 };
    await ask((done) => sftp.fsetstat(handle, { size: 5, mode: 0o611, ...times }, done));
    expect(await ask((done) => sftp.fsetstat(handle, {}, done))).toBeUndefined();
    expect(await ask((done) => sftp.fstat(handle, done))).toMatchObject({ size: 5, ...times });
    const second = await opened('sub/a', mode.READ);
    await ask((done) => sftp.close(handle, done));
    expect(await ask((done) => sftp.fstat(handle, done))).toBe(status.FAILURE);
    expect(await ask((done) => sftp.fstat(second, done))).toMatchObject({ size: 5 });
    await ask((done) => sftp.close(second, done));
    expect(await statOf('sub/a')).toEqual({ mode: '100611', size: 5, ...times });
    const later = { atime: 1_700_000_008, mtime: 1_700_000_010 };
    await ask((done) => sftp.setstat('sub/a', { size: 3, mode: 0o755, ...later }, done));
    expect(await ask((done) => sftp.setstat('sub/a', {}, done))).toBeUndefined();
    expect(await statOf('sub/a')).toEqual({ mode: '100755', size: 3, ...later });
    expect(await opened('sub/a', mode.WRITE | mode.CREAT | mode.EXCL)).toBe(status.FAILURE);
    const end = await opened('sub/a', mode.WRITE | mode.APPEND);
    await ask((done) => sftp.write(end, Buffer.from('xyz'), 0, 3, 0, done));
    const into = Buffer.alloc(9);
    expect(await ask((done) => sftp.read(end, into, 0, 9, 0, done))).toBe(status.FAILURE);
    await ask((done) => sftp.close(end, done));
    const again = await opened('sub/a', mode.READ);
    expect(await ask((done) => sftp.read(again, into, 0, 9, 0, done))).toBe(6);
    expect(await ask((done) => sftp.read(again, into, 0, 9, 6, done))).toBe(0);
    expect(await ask((done) => sftp.read(again, Buffer.alloc(9), 0, 9, 5, done))).toBe(1);
    expect(into.toString()).toBe('firxyz\0\0\0');

    expect(await ask((done) => sftp.symlink('a', 'sub/link', done))).toBeUndefined();
    expect(await ask((done) => sftp.readlink('sub/link', done))).toBe('a');
    expect((await statOf('sub/link', 'lstat')).mode).toMatch(/^120/);
    expect(await statOf('sub/link')).toMatchObject({ mode: '100755', size: 6 });
    const home = await realpath(placeOf(file, ID).home);
    expect(await ask((done) => sftp.realpath('sub/link', done))).toBe(join(home, 'sub', 'a'));
    expect(await ask((done) => sftp.realpath('none', done))).toBe(join(home, 'none'));
    expect(await listed('sub')).toEqual(['-            6 a', 'l            1 link']);
    expect(await ask((done) => sftp.rename('sub/a', 'sub/b', done))).toBeUndefined();
    expect(await ask((done) => sftp.stat('sub/a', done))).toBe(status.NO_SUCH_FILE);
    expect(await ask((done) => sftp.stat('sub/b/c', done))).toBe(status.NO_SUCH_FILE);
    expect(await ask((done) => sftp.readdir('none', done))).toBe(status.NO_SUCH_FILE);
    expect(await ask((done) => sftp.readlink('sub/b', done))).toBe(status.FAILURE);
    expect(await ask((done) => sftp.stat('..', done))).toBe(status.PERMISSION_DENIED);
    expect(await ask((done) => sftp.rmdir('sub', done))).toBe(status.FAILURE);
    for (const name of ['b', 'link'])
      expect(await ask((done) => sftp.unlink(`sub/${name}`, done))).toBeUndefined();
    const leaving = (await ask((done) => sftp.opendir('sub', done))) as Buffer;
    await rm(join(home, 'sub'), { recursive: true });
    expect(await ask((done) => sftp.readdir(leaving, done))).toEqual([]);
    await mkdir(join(home, 'sub'));
    for (let at = 0; at < 120; at += 1) await writeFile(join(home, 'sub', `${at}`), '');
    expect(await listed('sub')).toHaveLength(120);
    await rm(join(home, 'sub'), { recursive: true });
    await mkdir(join(home, 'sub'));
    expect(await ask((done) => sftp.rmdir('sub', done))).toBeUndefined();
    expect(await ask((done) => sftp.readdir(Buffer.from('none'), done))).toBe(status.FAILURE);
    const exited = once(sftp, 'exit');
    sftp.end();
    expect(await exited).toEqual([0]);
    client.end();
  });
});

const sftpOf = (client: ssh2.Client) => opening<ssh2.SFTPWrapper>((done) => client.sftp(done));

/** Offers the instance's key but signs with another key. */
class Liar extends ssh2.BaseAgent {
  override getIdentities(done: (error: Error | undefined, keys: ssh2.ParsedKey[]) => void): void {
    done(undefined, [parsed(own.public)]);
  }

  override sign(...given: unknown[]): void {
    const data = given[1] as Buffer;
    const done = given.at(-1) as (error: Error | undefined, signature: Buffer) => void;
    done(undefined, parsed(other.private).sign(data) as Buffer);
  }
}

function parsed(text: string): ssh2.ParsedKey {
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error) throw key;
  return Array.isArray(key) ? key[0] : key;
}
