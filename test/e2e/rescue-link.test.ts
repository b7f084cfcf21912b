import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SOAK } from '../faults/tools.ts';
import { createJobWorld, IMAGE, KEY_ID, OFFER } from '../jobs/job-world.ts';
import { needs } from '../support/needs.ts';
import { NEW } from '../support/renting-service.ts';

/** Shortens the pauses before the next attempt after a cut link, in the built program. */
const FAST = `
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = (work, time, ...given) =>
    wait(work, [3_000, 15_000, 45_000].includes(time) ? time / 50 : time, ...given);
`;

const [FILES, SIZE] = SOAK ? [30, 10_000_000] : [12, 2_500_000];
const TOTAL = FILES * SIZE;
const CUTS = 5;

interface Link {
  readonly port: number;
  /** Bytes that the instance has sent. */
  bytes: number;
  cuts: number;
}

/** Starts a link to a port, which is slow, and is cut a few times, each time after some bytes. */
async function slowLink(to: number, each: number): Promise<Link> {
  const perSecond = 30_000_000;
  const server = createServer((here) => {
    const there = connect({ port: to, host: '127.0.0.1' });
    let own = 0;
    const end = () => {
      here.destroy();
      there.destroy();
    };
    for (const socket of [here, there]) socket.on('error', end).on('close', end);
    here.pipe(there);
    there.on('data', (chunk: Buffer) => {
      own += chunk.length;
      link.bytes += chunk.length;
      if (link.cuts < CUTS && own > each) {
        link.cuts += 1;
        return end();
      }
      here.write(chunk);
      there.pause();
      setTimeout(() => there.resume(), (chunk.length / perSecond) * 1000);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const link: Link = { port: (server.address() as AddressInfo).port, bytes: 0, cuts: 0 };
  return link;
}

test('a link that is cut five times sends a file again only if it was cut in the middle of it', {
  timeout: SOAK ? 900_000 : 180_000,
  ...needs('ssh'),
}, async () => {
  const { computer, keys, clientKey, renting, there, sshd, env, advance, status } =
    await createJobWorld();
  const { home } = computer;
  mkdirSync(join(home, '.ssh'), { mode: 0o700 });
  copyFileSync(clientKey, join(home, '.ssh', 'id_ed25519'));
  copyFileSync(`${clientKey}.pub`, join(home, '.ssh', 'id_ed25519.pub'));
  const key = { id: KEY_ID, name: 'laptop', public_key: readFileSync(`${clientKey}.pub`, 'utf8') };
  keys.splice(0, 1, key);
  const words = [
    ...['instances', 'create', 'box', '--offer', OFFER, '--image', IMAGE, '--ssh-key', KEY_ID],
    ...['--terminate-after', '1h', '--unenforced', '--rescue', `out:${join(home, 'got')}`],
  ];
  const made = await computer.gpucloud(words, { env });
  expect(made.code, made.stderr).toBe(0);
  const link = await slowLink(sshd.port, TOTAL / 6);
  const instance = renting.instances.get(NEW);
  Object.assign(instance ?? {}, { ssh_keys: [key], ssh_port: link.port });
  mkdirSync(join(there, 'out', 'deep'), { recursive: true });
  for (let at = 0; at < FILES; at += 1) {
    writeFileSync(join(there, 'out', at % 2 === 0 ? 'deep' : '', `f ${at}`), randomBytes(SIZE));
  }
  writeFileSync(join(home, 'fast.cjs'), FAST);
  const fast = { ...env, NODE_OPTIONS: `--require ${join(home, 'fast.cjs')}` };
  advance(70 * 60_000);
  const passes: unknown[] = [];
  for (let pass = 0; pass < 5 && status() === 'ACTIVE'; pass += 1) {
    const { code, stdout } = await computer.gpucloud(['instances', 'reap', '--json'], {
      env: fast,
    });
    passes.push([code, ...JSON.parse(stdout).map(({ outcome }: { outcome: string }) => outcome)]);
  }
  // A pass tries four times.
  expect(passes).toEqual([
    [125, 'kept'],
    [0, 'terminated'],
  ]);
  expect(link.cuts).toBe(CUTS);
  // Without the files that had arrived, all would be sent again after each cut.
  expect(link.bytes).toBeLessThan(TOTAL + (CUTS + 1) * SIZE);
  expect(readdirSync(join(home, 'got')).length).toBe(FILES / 2 + 1);
  const hashes = join(home, 'state', 'rescues', `${NEW}.sha256`);
  const checked = spawnSync('sha256sum', ['--quiet', '-c', hashes], { encoding: 'utf8' });
  expect({ code: checked.status, stdout: checked.stdout }).toEqual({ code: 0, stdout: '' });
  const listed = readFileSync(hashes, 'utf8').trim().split('\n');
  expect(listed).toHaveLength(FILES);
});
