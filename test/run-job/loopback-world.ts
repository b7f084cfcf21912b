import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome } from '../support/program.ts';
import { NEW, RentingService } from '../support/renting-service.ts';
import { type Service, startService } from '../support/service.ts';
import { endCommand } from './end-command.ts';
import { type FastRun, runFast } from './fast-run.ts';
import { IMAGE, KEY_ID, OFFER } from './job-world.ts';

/** Runs the last word in a home folder and session of its own, which its end does not end. */
const sshTo = (home: string) => `#!${process.execPath}
const { spawn } = require('node:child_process');
if (process.argv[2] !== '-V') {
  const env = { PATH: process.env.PATH, HOME: ${JSON.stringify(home)} };
  const child = spawn('sh', ['-c', process.argv.at(-1)], { cwd: env.HOME, env, detached: true });
  process.stdin.pipe(child.stdin).on('error', () => undefined);
  child.stdout.pipe(process.stdout);
  child.stderr.pipe(process.stderr);
  child.on('close', (code) => process.exit(code ?? 255));
}
`;

/** A world for jobs in one process: its ssh starts programs on this computer. */
export interface LoopbackWorld {
  readonly renting: RentingService;
  readonly service: Service;
  /** The folder of the job on the instance. */
  readonly job: string;
  gpucloud(argv: readonly string[], how?: FastRun): Promise<Outcome>;
  /** Starts a command, and leaves it running. */
  detach(command: string, ...flags: string[]): Promise<void>;
  run(command: string, flags: readonly string[], how?: FastRun): Promise<Outcome>;
  /** Runs a command on the instance that `renting` rented. */
  runOn(command: string, ...flags: string[]): Promise<Outcome>;
  status(): string | undefined;
  close(): Promise<void>;
}

export async function createLoopbackWorld(): Promise<LoopbackWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-loop-'));
  const [bin, home, there] = ['bin', 'home', 'there'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [bin, home, there]) await mkdir(path);
  await writeFile(join(bin, 'ssh'), sshTo(there), { mode: 0o755 });
  const key = join(home, 'key');
  await writeFile(key, '');
  const banner = createServer((socket) => socket.end('SSH-2.0-test\r\n')).listen(0, '127.0.0.1');
  await once(banner, 'listening');
  const renting = new RentingService();
  renting.clock = { now: () => Date.now() };
  const rent = renting.rent.bind(renting);
  renting.rent = (id, name, more) =>
    rent(id, name, {
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      ip_address: '127.0.0.1',
      ssh_username: 'root',
      ssh_port: (banner.address() as AddressInfo).port,
      ...more,
    } as object);
  const service = await startService(renting.handler, renting.clock);
  const computer = {
    home,
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      HOME: home,
      GPUCLOUD_CONFIG_DIR: join(home, 'config'),
      GPUCLOUD_STATE_DIR: join(home, 'state'),
    },
  };
  const env = { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' };
  const hardware = ['--name', 'job', '--offer', OFFER, '--image', IMAGE, '--ssh-key', KEY_ID];
  const words = [...hardware, '--identity', key, '--terminate-after', '1h'];
  const gpucloud = (argv: readonly string[], how?: FastRun) =>
    runFast({ computer, env }, argv, { speed: 5, ...how });
  const run = (command: string, flags: readonly string[], how?: FastRun) =>
    gpucloud(['run', ...words, ...flags, '--', 'sh', '-c', command], how);
  const runOn = (command: string, ...flags: string[]) =>
    gpucloud(['run', '--on', NEW, '--identity', key, ...flags, '--', 'sh', '-c', command]);
  const job = join(there, 'gpucloud-run');
  return {
    renting,
    service,
    job,
    gpucloud,
    run,
    runOn,
    async detach(command, ...flags) {
      const { code, stderr } = await run(command, ['--detach', '--unenforced', ...flags]);
      if (code !== 0) throw new Error(stderr);
    },
    status: () => renting.instances.get(NEW)?.status,
    async close() {
      await service.close();
      banner.close();
      endCommand(join(job, 'pid'));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
