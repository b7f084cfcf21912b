import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { BUNDLE } from '../../scripts/bundle.mjs';
import { OPERATIONS } from '../../src/sandbox/http/operations.ts';
import { openSandbox } from '../../src/sandbox/index.ts';
import { Refusal } from '../../src/sandbox/refusal.ts';
import type { State } from '../../src/sandbox/store/state.ts';
import { openStore } from '../../src/sandbox/store/store.ts';
import {
  type Bench,
  bench,
  DAY,
  HOUR,
  ManualClock,
  RTX_4090,
  SECOND,
  START,
  temporaryFolder,
  UBUNTU,
} from './support.ts';

const run = promisify(execFile);

describe('the state file', () => {
  test('makes a relative path absolute', () => {
    expect(openSandbox({ file: './x.json', clock: new ManualClock() }).file).toBe(
      resolve('x.json'),
    );
  });

  test('writes the state file with mode 0600 in a folder with mode 0700', async () => {
    const b = await bench();
    await b.sandbox.status();
    expect((await stat(b.file)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(b.file))).mode & 0o777).toBe(0o700);
  });

  test('does not write the state file during reads if nothing is due', async () => {
    const b = await bench();
    const id = await b.createActive('quiet');
    await b.call('GET', `/instances/${id}`);
    const before = await stat(b.file, { bigint: true });
    b.clock.time += 20 * SECOND;
    for (const path of [`/instances/${id}`, `/instances/${id}/events`, '/users/me', '/ssh-keys']) {
      expect((await b.call('GET', path)).status).toBe(200);
    }
    await b.sandbox.status();
    const after = await stat(b.file, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  test('reads the state file again after an external change of the same size and time', async () => {
    const b = await bench();
    const id = await b.createActive('first-name');
    const other = openSandbox({ file: b.file, clock: b.clock });
    expect((await other.status()).instances).toHaveLength(1);
    const { atime, mtime } = await stat(b.file);
    await writeFile(
      b.file,
      (await readFile(b.file, 'utf8')).replaceAll('first-name', 'other-name'),
    );
    await utimes(b.file, atime, mtime);
    expect((await b.call('GET', `/instances/${id}`)).data.name).toBe('other-name');

    await other.deposit('5');
    await b.create('second');
    expect((await other.status()).instances).toHaveLength(2);
    const types = (await b.call('GET', '/billing/transactions')).list.map(({ type }) => type);
    expect(types).toContain('DEPOSIT');
  });

  test('stores nothing from a failed operation in the state file', async () => {
    const b = await bench();
    await b.sandbox.status();
    const store = openStore(b.file);
    const never = () => {
      throw new Error('the file is there');
    };
    const instances = () => store.change(never, ({ machinesMade }) => machinesMade);
    expect(await instances()).toBe(0);
    const failing = store.change(never, (state) => {
      state.machinesMade = 7;
      throw new TypeError('half done');
    });
    await expect(failing).rejects.toThrow('half done');
    expect(await instances()).toBe(0);
  });

  test('leaves the state file unchanged in every GET operation', async () => {
    const b = await bench();
    const id = await b.createActive('trainer');
    const drive = await b.call('POST', '/drives', { name: 'data', size_gb: 10 });
    await b.sandbox.status();
    const text = await readFile(b.file, 'utf8');
    const now = b.clock.now();
    const reading = OPERATIONS.filter(({ method }) => method === 'GET');
    expect(reading.length).toBeGreaterThan(8);
    for (const { path, answer } of reading) {
      const state: State = JSON.parse(text);
      const of = path.startsWith('/drives') ? String(drive.data.id) : id;
      const body = { text: '', isJson: false };
      try {
        answer({ state, now, id: of, body, query: () => undefined });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
      expect(JSON.stringify(state), path).toBe(text);
    }
  });

  test.each(['', '{', 'null', '[1]', '{"version":2}', '"text"'])(
    'throws a storage error and keeps the state file if it contains %j',
    async (content) => {
      const b = await bench();
      await b.sandbox.status();
      await writeFile(b.file, content);
      const calls: ((b: Bench) => Promise<unknown>)[] = [
        (it) => it.sandbox.status(),
        (it) => it.sandbox.advance(HOUR),
        (it) => it.sandbox.setSpeed(2),
        (it) => it.sandbox.inject('fail-start'),
        (it) => it.sandbox.clearFaults(),
        (it) => it.sandbox.deposit('1'),
      ];
      for (const call of calls) {
        await expect(call(b)).rejects.toMatchObject({
          failure: 'storage',
          message: expect.stringMatching(/sandbox\.json\b/),
          hint: 'gpucloud sandbox reset --state FILE',
        });
      }
      const reply = await b.call('GET', '/users/me');
      expect(reply.status).toBe(500);
      expect(reply.body).toMatchObject({ statusCode: 500, error: 'Internal Server Error' });
      expect(await readFile(b.file, 'utf8')).toBe(content);

      await b.sandbox.reset();
      // The reset created a new key, since the old one was in the unreadable file.
      expect((await b.call('GET', '/users/me')).status).toBe(401);
      const apiKey = await b.sandbox.apiKey();
      const { data } = await b.call('GET', '/users/me', undefined, apiKey);
      expect(data.balance).toBe('10500.00');
    },
  );

  test.each([
    ['an invalid amount', (text: string) => text.replace('"10500.00"', '"much"')],
    ['a number as an amount', (text: string) => text.replace('"10500.00"', '10500')],
    ['an unknown status', (text: string) => text.replace('"PROVISIONING"', '"LOST"')],
    ['a missing list', (text: string) => text.replace('"drives"', '"drive"')],
  ])('throws a storage error and keeps the state file with %s', async (_, spoil) => {
    const b = await bench();
    await b.create('box');
    await b.call('POST', '/instances', {});
    await b.sandbox.deposit('89.90');
    const good = await readFile(b.file, 'utf8');
    const bad = spoil(good);
    expect(bad).not.toBe(good);
    await writeFile(b.file, bad);
    await expect(b.sandbox.status()).rejects.toMatchObject({ failure: 'storage' });
    expect(await readFile(b.file, 'utf8')).toBe(bad);
  });

  test('replaces a shared key of an earlier version in the state file', async () => {
    const b = await bench();
    const own = await b.sandbox.apiKey();
    const state = JSON.parse(await readFile(b.file, 'utf8')) as State;
    const [key] = state.apiKeys;
    const old = 'svc_sk_sandbox_built_in_key';
    const apiKeys = [{ ...key, hash: createHash('sha256').update(old).digest('hex') }];
    await writeFile(b.file, JSON.stringify({ ...state, apiKeys, builtInToken: undefined }));
    const fresh = await b.sandbox.apiKey();
    expect(fresh).toMatch(/^svc_sk_sandbox_\w{40}$/);
    expect(fresh).not.toBe(own);
    const statuses = [own, old, fresh].map((one) => b.call('GET', '/users/me', undefined, one));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 401, 200]);
  });

  test("throws a storage error if the state file can't be read or created", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'sandbox.json'));
    await writeFile(join(folder, 'plain'), '');
    for (const file of [join(folder, 'sandbox.json'), join(folder, 'plain', 'sandbox.json')]) {
      const sandbox = openSandbox({ file, clock: new ManualClock() });
      await expect(sandbox.status()).rejects.toMatchObject({
        failure: 'storage',
        message: expect.stringContaining(file),
      });
    }
  });

  test('stores every instance that four processes create at the same time', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'state', 'sandbox.json');
    const { entryPoints: _main, ...options } = BUNDLE;
    await build({
      ...options,
      stdin: {
        contents: PROCESS,
        resolveDir: join(import.meta.dirname, '../../src/sandbox'),
        loader: 'ts',
      },
      outfile: join(folder, 'process.cjs'),
      logLevel: 'error',
    });
    const ids = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const { stdout } = await run(process.execPath, [
          join(folder, 'process.cjs'),
          file,
          `process-${index}`,
        ]);
        return JSON.parse(stdout) as string[];
      }),
    );
    const clock: ManualClock = new ManualClock();
    clock.time = Date.now();
    const status = await openSandbox({ file, clock }).status();
    expect(new Set(ids.flat()).size).toBe(20);
    expect(status.instances.map((instance) => instance.id).sort()).toEqual(ids.flat().sort());
    expect(status.reserved).toBe('1798.00');
  });
});

const PROCESS = `
import { openSandbox } from './index.ts';

const [file = '', name] = process.argv.slice(2);
const clock = { now: () => Date.now(), monotonic: () => performance.now(), sleep: async () => {}, random: () => 0.5 };
async function main() {
  const server = await openSandbox({ file, clock }).listen({ port: 0 });
  const ids = await Promise.all([1, 2, 3, 4, 5].map(async (number) => {
    const response = await fetch(server.url + '/instances', {
      method: 'POST',
      headers: { 'X-API-KEY': server.apiKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        offer_id: '${RTX_4090}',
        image_id: '${UBUNTU}',
        instance_name: name + '-' + number,
      }),
    });
    return (await response.json()).data.id;
  }));
  await server.close();
  process.stdout.write(JSON.stringify(ids));
}
main();
`;

describe('the virtual clock', () => {
  test('follows the real clock at the set speed, and jumps on advance', async () => {
    const b = await bench();
    const now = async () => Date.parse((await b.sandbox.status()).now) - START;
    expect(await now()).toBe(0);
    b.clock.time += SECOND;
    expect(await now()).toBe(SECOND);
    await b.sandbox.setSpeed(60);
    b.clock.time += SECOND;
    expect(await now()).toBe(61 * SECOND);
    const status = await b.sandbox.advance(HOUR);
    expect(status).toMatchObject({ speed: 60, now: '2026-03-01T13:01:01.000Z' });
    await b.sandbox.setSpeed(0);
    b.clock.time += DAY;
    expect(await now()).toBe(HOUR + 61 * SECOND);
    await b.sandbox.setSpeed(0.5);
    b.clock.time += SECOND + 1;
    expect(await now()).toBe(HOUR + 61 * SECOND + 500);
    await b.sandbox.setSpeed(1);
    const before = await now();
    for (const days of [1, 2]) {
      b.clock.time += DAY;
      expect(await now()).toBe(before + days * DAY);
    }
  });

  test('changes instances between two requests as the virtual clock advances', async () => {
    const b = await bench();
    const id = await b.create('box');
    b.clock.time += 3 * SECOND + 2 * HOUR;
    expect(await b.instance(id)).toMatchObject({
      status: 'ACTIVE',
      started_at: '2026-03-01T12:00:03.000Z',
      last_billed_at: '2026-03-01T14:00:03.000Z',
    });
  });

  test("never moves the virtual clock back with the computer's clock", async () => {
    const b = await bench();
    await b.sandbox.advance(HOUR);
    b.clock.time -= DAY;
    expect((await b.sandbox.status()).now).toBe('2026-03-01T13:00:00.000Z');
  });

  test('moves the virtual clock at most 366 days between two requests', async () => {
    const b = await bench();
    await b.sandbox.status();
    b.clock.time += 3000 * DAY;
    expect((await b.sandbox.status()).now).toBe('2027-03-02T12:00:00.000Z');
    for (let month = 0; month < 24; month += 1) {
      b.clock.time += 30 * DAY;
      await b.sandbox.status();
    }
    expect((await b.sandbox.status()).now).toBe('2029-02-19T12:00:00.000Z');
  });
});

describe('sandbox reset and catalog', () => {
  test('resets the account, its balance and its speed', async () => {
    const b = await bench();
    await b.createActive('old');
    const { account } = await b.sandbox.status();
    const key = await b.sandbox.apiKey();
    await b.sandbox.inject('fail-stop');
    const status = await b.sandbox.reset({ balance: '12.345', speed: 10 });
    expect(status.account).not.toBe(account);
    // A running server keeps its key.
    expect(await b.sandbox.apiKey()).toBe(key);
    expect(status).toEqual({
      account: (await b.call('GET', '/users/me')).data.id,
      now: '2026-03-01T12:00:00.000Z',
      speed: 10,
      balance: '12.345',
      available: '12.345',
      reserved: '0.00',
      debt: '0.00',
      counts: { instances: {}, drives: {}, ssh_keys: 0, api_keys: 1, transactions: 1 },
      instances: [],
      drives: [],
      faults: [],
    });
    expect(await b.books()).toEqual(['DEPOSIT 12.345']);
    await b.sandbox.reset({ balance: '0' });
    expect(await b.books()).toEqual([]);
  });

  test('lists each offer with the stock and price that a create confirms', async () => {
    const b = await bench({ balance: '100000' });
    const { offers, images } = await b.sandbox.catalog();
    expect(offers).toHaveLength(5);
    expect(images.map((image) => image.os_type)).toEqual(['linux', 'linux', 'windows']);
    for (const [index, offer] of offers.entries()) {
      const reply = await b.call('POST', '/instances', {
        offer_id: offer.id,
        image_id: images[index % images.length]?.id,
        instance_name: `box-${index}`,
      });
      expect(reply.status).toBe(offer.in_stock ? 201 : 409);
      if (offer.in_stock) {
        const { price_per_hour, ...shown } = offer;
        expect(reply.data).toMatchObject({ price_per_hour_snapshot: price_per_hour });
        expect(reply.data.offer).toEqual(shown);
      }
    }
  });
});
