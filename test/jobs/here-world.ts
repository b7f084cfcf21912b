import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { afterwards, removeFolder } from '../support/afterwards.ts';
import type { Computer, Outcome } from '../support/program.ts';
import type { RentingService } from '../support/renting-service.ts';
import type { Service } from '../support/service.ts';
import type { Sshd } from '../support/sshd.ts';
import { createRig } from './job-world.ts';

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
  const rig = await createRig(count);
  const { computer, renting, service, sshds, homes } = rig;
  /** Instance IDs from earlier tests. */
  const before = new Set<string>();
  let ahead = 0;
  renting.newId = () => randomUUID();
  const env = { ...rig.env, TMPDIR: computer.home };
  const words = (...more: string[]) => {
    const own = more.includes('--count') ? [] : ['--count', `${count}`];
    return rig.words(['--here', ...own], more);
  };
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
      rig.advance(milliseconds);
    },
    async reset() {
      rig.advance(-ahead);
      ahead = 0;
      renting.posts = [];
      renting.terminations = [];
      for (const { id } of renting.instances.values()) {
        renting.terminate(id);
        before.add(id);
      }
      await Promise.all(homes.map((home) => removeFolder(home)));
      await Promise.all(homes.map((home) => mkdir(home)));
    },
    close: afterwards(rig.close),
  };
}
