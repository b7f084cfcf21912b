import type { Computer, Scheduler } from './contract.ts';
import { crontab } from './crontab.ts';
import { launchd } from './launchd.ts';
import { systemd } from './systemd.ts';

/** The schedulers of this platform, the best first. */
export function schedulersOf(platform: string, computer: Computer): readonly Scheduler[] {
  switch (platform) {
    case 'darwin':
      return [launchd(computer)];
    case 'linux':
      return [systemd(computer), crontab(computer)];
    case 'win32':
      return [];
    default:
      return [crontab(computer)];
  }
}

/** The first available scheduler. */
export async function schedulerHere(all: readonly Scheduler[]): Promise<Scheduler | undefined> {
  for (const scheduler of all) {
    if (await scheduler.isHere()) return scheduler;
  }
  return undefined;
}

/** The schedulers that have an entry of this name. */
export async function schedulersWith(
  name: string,
  all: readonly Scheduler[],
): Promise<readonly Scheduler[]> {
  const found: Scheduler[] = [];
  for (const scheduler of all) {
    if (await scheduler.hasEntry(name)) found.push(scheduler);
  }
  return found;
}

export type { Computer, Job, Scheduler } from './contract.ts';
