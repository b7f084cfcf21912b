import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Duplex, PassThrough } from 'node:stream';
import ssh2, { type ClientChannel, type ConnectConfig } from 'ssh2';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectTo, endStale } from '../../src/sandbox/ssh/index.ts';
import { placeOf } from '../../src/sandbox/ssh/place.ts';
import type { Instance } from '../../src/sandbox/store/state.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/ssh-world.ts';
import { temporaryFolder } from './support.ts';

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
) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const instance = {
    id: ID,
    offerId: '',
    imageId: '',
    sshKeys: publicKeys.map((publicKey) => ({ publicKey })),
  } as unknown as Instance;
  const env = { PATH: process.env.PATH, LANG: 'C', GPUCLOUD_API_KEY: 'secret-1', MINE: 'secret-2' };
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

/** Runs a command and returns its exit code, signal and stdout. */
async function ran(client: ssh2.Client, command: string) {
  const channel = await new Promise<ClientChannel>((resolve, reject) =>
    client.exec(command, (error, opened) => (error ? reject(error) : resolve(opened))),
  );
  let stdout = '';
  channel.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
  });
  channel.stderr.resume();
  return new Promise<{ code: number | null; signal: string | undefined; stdout: string }>(
    (resolve) => {
      let [code, signal]: [number | null, string | undefined] = [null, undefined];
      channel.on('exit', (ended: number | null, name?: string) => {
        [code, signal] = [ended, name];
      });
      channel.on('close', () => resolve({ code, signal, stdout }));
    },
  );
}

describe('SSH of a sandbox instance', needs('POSIX'), () => {
  test("returns the command's exit code or the signal that killed it", async () => {
    const client = await connected();
    expect(await ran(client, 'echo out; exit 7')).toMatchObject({ code: 7, stdout: 'out\n' });
    expect(await ran(client, 'kill -s TERM $$')).toMatchObject({ code: null, signal: 'SIGTERM' });
    client.end();
  });

  test("hides this computer's secrets from a command", async () => {
    const client = await connected();
    const { stdout } = await ran(client, 'pwd; env');
    client.end();
    expect(stdout).toContain(`${placeOf(file, ID).home}\n`);
    expect(stdout).toContain('LANG=C\n');
    expect(stdout).not.toContain('secret');
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
    await rm(placeOf(file, ID).mark);
    await closed;
    await Promise.all(served);
  });

  test(
    'kills the programs of a terminated instance and deletes only its folder',
    needs('Linux'),
    async () => {
      const client = await connected();
      await ran(client, 'sleep 60 >/dev/null 2>&1 & echo $! >pid');
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

  test('stores an uploaded file that is larger than one message', async () => {
    const client = await connected();
    const sftp = await new Promise<ssh2.SFTPWrapper>((resolve, reject) =>
      client.sftp((error, opened) => (error ? reject(error) : resolve(opened))),
    );
    const content = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251));
    await new Promise<void>((resolve, reject) =>
      sftp.writeFile('data', content, (error) => (error ? reject(error) : resolve())),
    );
    const back = await new Promise<Buffer>((resolve, reject) =>
      sftp.readFile('data', (error, read) => (error ? reject(error) : resolve(read as Buffer))),
    );
    client.end();
    expect(back.equals(content)).toBe(true);
    expect(await readFile(join(placeOf(file, ID).home, 'data'))).toEqual(content);
  });
});

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
