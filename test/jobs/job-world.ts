import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterwards, removeFolder } from '../support/afterwards.ts';
import { programAt } from '../support/needs.ts';
import { type Computer, createComputer, type Outcome } from '../support/program.ts';
import { NEW, RentingService } from '../support/renting-service.ts';
import { type Handler, ok, type Service, startService } from '../support/service.ts';
import { makeKey, type Sshd, type SshdOptions, startSshd, USER } from '../support/sshd.ts';
import { endCommand } from './end-command.ts';

export const OFFER = '11111111-1111-4111-8111-111111111111';
export const IMAGE = '22222222-2222-4222-8222-222222222222';
export const KEY_ID = '33333333-3333-4333-8333-333333333333';

/** A computer, a service that rents instances, and one SSH server for all of them. */
export interface JobWorld {
  readonly computer: Computer;
  readonly renting: RentingService;
  /** The SSH keys of the account. */
  readonly keys: { id: string; name: string; public_key: string }[];
  readonly service: Service;
  readonly sshd: Sshd;
  /** The home folder on the instance. */
  readonly there: string;
  readonly env: Readonly<Record<string, string>>;
  /** The private key file that the SSH server accepts. */
  readonly clientKey: string;
  /**
   * Returns the arguments of `gpucloud run` before the command. Flags in `more` override the
   * defaults.
   */
  words(...more: string[]): string[];
  /** The flags that sign in to the instance. */
  readonly signIn: readonly string[];
  /** Removes programs from the instance's PATH. Returns the new PATH folder. */
  removeThere(...programs: string[]): Promise<string>;
  /**
   * Replaces programs on the instance with shell scripts and removes rsync. A script calls the
   * original as `real`.
   */
  replaceThere(scripts: Readonly<Record<string, string>>): Promise<void>;
  /** Cuts every SSH connection without stopping the commands. */
  cutLinks(): void;
  run(more: readonly string[], command: readonly string[]): Promise<Outcome>;
  /** Makes `reap` count as scheduled, so that `run` leaves a kept instance to it. */
  arm(): Promise<void>;
  /** The status of the instance at the service. */
  status(): string | undefined;
  /** The number of requests that rent. */
  rentals(): number;
  /** Moves the service's clock. */
  advance(milliseconds: number): void;
  /** Restarts the stopped SSH server with other options. */
  startSshd(how?: Partial<SshdOptions>): Promise<void>;
  close(): Promise<void>;
}

/** The parts of {@link JobWorld}, with an SSH server for each of several instances. */
export async function createRig(count: number) {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-job-'));
  const homes = Array.from({ length: count }, (_, at) => join(folder, `home-${at + 1}`));
  await Promise.all(homes.map((home) => mkdir(home)));
  const hostKey = makeKey(folder, 'host');
  const clientKey = makeKey(folder, 'client');
  const how = { folder, hostKey, clientKey: `${clientKey}.pub` };
  const sshds = await Promise.all(homes.map((home) => startSshd({ ...how, home })));
  const renting = new RentingService();
  let ahead = 0;
  renting.clock = { now: () => Date.now() + ahead };
  const instance = renting.rent.bind(renting);
  renting.rent = (id, name, more) =>
    instance(id, name, {
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      ip_address: '127.0.0.1',
      ssh_username: USER,
      // NAME-2 has the second server.
      ssh_port: (sshds[Number(/-(\d)$/.exec(name ?? '')?.[1] ?? 1) - 1] ?? sshds[0])?.port,
      offer: { id: OFFER, name: 'A100' },
      ...more,
    } as object);
  const keys = [{ id: KEY_ID, name: 'ci', public_key: 'ssh-ed25519 AAAA' }];
  const handler: Handler = (request) => {
    if (request.path === '/ssh-keys') return ok(keys);
    return request.path === '/templates' ? ok([]) : renting.handler(request);
  };
  const service = await startService(handler, renting.clock);
  const computer = await createComputer();
  const flags = {
    identity: clientKey,
    name: 'job',
    offer: OFFER,
    image: IMAGE,
    'ssh-key': KEY_ID,
    'terminate-after': '1h',
  };
  return {
    ...{ folder, homes, how, sshds, renting, keys, service, computer, clientKey },
    env: { GPUCLOUD_BASE_URL: service.url, GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef' },
    words: (own: readonly string[], more: readonly string[]) => [
      ...['run', ...own],
      // Omits a default that `more` overrides, since a flag may be given only once.
      ...Object.entries(flags).flatMap(([flag, value]) =>
        [...own, ...more].includes(`--${flag}`) ? [] : [`--${flag}`, value],
      ),
      ...more,
    ],
    /** Moves the service's clock. */
    advance(milliseconds: number) {
      ahead += milliseconds;
    },
    async close() {
      await service.close();
      await Promise.all(sshds.map((sshd) => sshd.stop()));
      await computer.remove();
      await removeFolder(folder);
    },
  };
}

export async function createJobWorld(): Promise<JobWorld> {
  const rig = await createRig(1);
  const { folder, how, renting, service, computer, clientKey, env } = rig;
  const [sshd] = rig.sshds;
  const [there] = rig.homes;
  if (sshd === undefined || there === undefined) throw new Error('the rig has one instance');
  let again: Sshd | undefined;
  const signIn = ['--identity', clientKey, '--ssh-arg=-F/dev/null'];
  const words = (...more: string[]) => rig.words(['--ssh-arg=-F/dev/null'], more);
  const removeThere = async (...programs: string[]) => {
    const path = await pathWithout(folder, programs);
    await writeFile(join(there, '.path'), path);
    return path;
  };
  return {
    computer,
    renting,
    keys: rig.keys,
    service,
    sshd,
    there,
    env,
    clientKey,
    words,
    signIn,
    removeThere,
    async replaceThere(scripts) {
      const path = await removeThere('rsync', ...Object.keys(scripts));
      for (const [name, script] of Object.entries(scripts)) {
        const text = `#!/bin/sh\nreal() { ${programAt(name)} "$@"; }\n${script}\n`;
        await writeFile(join(path, name), text, { mode: 0o755 });
      }
    },
    cutLinks: sshd.cut,
    run: (more, command) => computer.gpucloud([...words(...more), '--', ...command], { env }),
    async arm() {
      const { code, stderr } = await computer.gpucloud(['instances', 'reap', '--every', '30m'], {
        env,
      });
      if (code !== 0) throw new Error(stderr);
    },
    status: () => renting.instances.get(NEW)?.status,
    rentals: () =>
      service.requests.filter(({ method, path }) => method === 'POST' && path === '/instances')
        .length,
    advance: rig.advance,
    async startSshd(more = {}) {
      await again?.stop();
      again = await startSshd({ ...how, home: there, port: sshd.port, ...more });
    },
    close: afterwards(async () => {
      await again?.stop();
      // A real service would stop the command with the instance.
      endCommand(join(there, 'gpucloud-run', 'pid'));
      await rig.close();
    }),
  };
}

/** Returns a folder with links to every program of this computer except these. */
export async function pathWithout(folder: string, programs: readonly string[]): Promise<string> {
  const path = join(folder, `without-${programs.join('-')}`);
  await mkdir(path);
  const names = new Map<string, string>();
  for (const from of ['/bin', '/usr/bin']) {
    for (const name of await readdir(from)) names.set(name, join(from, name));
  }
  for (const name of programs) names.delete(name);
  await Promise.all([...names].map(([name, target]) => symlink(target, join(path, name))));
  return path;
}
