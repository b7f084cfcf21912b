import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterwards } from '../support/afterwards.ts';
import { type Computer, createComputer, type Outcome } from '../support/program.ts';
import { RentingService } from '../support/renting-service.ts';
import { type Handler, ok, type Service, startService } from '../support/service.ts';
import { makeKey, type Sshd, startSshd, USER } from '../support/sshd.ts';
import { IMAGE, KEY_ID, OFFER } from './job-world.ts';

/** A computer, a service that rents several instances, and an SSH server for each. */
export interface HereWorld {
  readonly computer: Computer;
  readonly env: Readonly<Record<string, string>>;
  readonly renting: RentingService;
  readonly service: Service;
  /** One per instance, in the order of their names. */
  readonly sshds: readonly Sshd[];
  /** The home folder on each instance. */
  readonly homes: readonly string[];
  /**
   * Returns the arguments of `gpucloud run --here` before the command, for job-1, job-2 and so on.
   */
  words(...more: string[]): string[];
  run(more: readonly string[], command: readonly string[]): Promise<Outcome>;
  /** The status of each instance rented since the last reset, by name. */
  statuses(): Record<string, string>;
  /** The inventory folders on the computer. */
  inventories(): string[];
  /** Moves the service's clock. */
  advance(milliseconds: number): void;
  /** Terminates all instances, empties their homes and sets the clock back, for the next test. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function createHereWorld(count: number): Promise<HereWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'gpucloud-here-'));
  const clientKey = makeKey(folder, 'client');
  const hostKey = makeKey(folder, 'host');
  const homes = Array.from({ length: count }, (_, at) => join(folder, `home-${at + 1}`));
  const makeHomes = () => Promise.all(homes.map((home) => mkdir(home)));
  await makeHomes();
  const sshds = await Promise.all(
    homes.map((home) => startSshd({ folder, hostKey, clientKey: `${clientKey}.pub`, home })),
  );
  const renting = new RentingService();
  /** Instance IDs from earlier tests. */
  const before = new Set<string>();
  let ahead = 0;
  renting.clock = { now: () => Date.now() + ahead };
  renting.newId = randomUUID;
  const rent = renting.rent.bind(renting);
  renting.rent = (id, name, more) =>
    rent(id, name, {
      status: 'ACTIVE',
      price_per_hour_snapshot: '89.90',
      ip_address: '127.0.0.1',
      ssh_username: USER,
      ssh_port: sshds[Number(/\d+$/.exec(name)?.[0] ?? 1) - 1]?.port,
      offer: { id: OFFER, name: 'A100' },
      ...more,
    } as object);
  const keys = [{ id: KEY_ID, name: 'laptop', public_key: 'ssh-ed25519 AAAA' }];
  const handler: Handler = (request) =>
    request.path === '/ssh-keys' ? ok(keys) : renting.handler(request);
  const service = await startService(handler, renting.clock);
  const computer = await createComputer();
  const env = {
    GPUCLOUD_BASE_URL: service.url,
    GPUCLOUD_API_KEY: 'svc_sk_test_0123456789abcdef',
    TMPDIR: computer.home,
  };
  const flags = {
    identity: clientKey,
    name: 'job',
    count: String(count),
    offer: OFFER,
    image: IMAGE,
    'ssh-key': KEY_ID,
    'terminate-after': '1h',
  };
  const words = (...more: string[]) => [
    ...['run', '--here'],
    // Omits a default that `more` overrides, since a flag may be given only once.
    ...Object.entries(flags).flatMap(([flag, value]) =>
      more.includes(`--${flag}`) ? [] : [`--${flag}`, value],
    ),
    ...more,
  ];
  return {
    computer,
    env,
    renting,
    service,
    sshds,
    homes,
    words,
    run: (more, command) => computer.gpucloud([...words(...more), '--', ...command], { env }),
    statuses: () =>
      Object.fromEntries(
        [...renting.instances.values()].flatMap(({ id, name, status }) =>
          before.has(id) ? [] : [[name, status]],
        ),
      ),
    inventories: () =>
      readdirSync(computer.home).filter((name) => name.startsWith('gpucloud-here-')),
    advance(milliseconds) {
      ahead += milliseconds;
    },
    async reset() {
      ahead = 0;
      renting.posts = [];
      renting.terminations = [];
      for (const { id } of renting.instances.values()) {
        renting.terminate(id);
        before.add(id);
      }
      await Promise.all(homes.map((home) => rm(home, { recursive: true })));
      await makeHomes();
    },
    close: afterwards(async () => {
      await service.close();
      await Promise.all(sshds.map((sshd) => sshd.stop()));
      await computer.remove();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}
