import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Computer, Scheduler } from './contract.ts';
import { crontab } from './crontab.ts';
import { launchd } from './launchd.ts';
import { schtasks } from './schtasks.ts';
import { systemd } from './systemd.ts';

/** Variable with the entry's name in scheduled runs. */
export const ENTRY = 'GPUCLOUD_REAP_ENTRY';

/**
 * Returns the name of a profile's entry. Includes a hash of the config and state folders, so that
 * it never replaces the entry of other folders.
 */
export async function entryName(profile: string, context: Context): Promise<string> {
  const { config, state } = await context.folders();
  const folders = createHash('sha256').update(`${config}\0${state}`).digest('hex').slice(0, 8);
  return `gpucloud-reap-${profile}-${folders}`;
}

/** Returns the schedulers available to this user; none without a home folder. */
export function schedulersIn({ start, host, env }: Context): readonly Scheduler[] {
  if (host.home === undefined) return [];
  return schedulersOf(host.platform, {
    start,
    home: host.home,
    uid: host.uid,
    configHome: env.XDG_CONFIG_HOME || undefined,
  });
}

/** Returns the schedulers of a platform, best first. */
export function schedulersOf(platform: string, computer: Computer): readonly Scheduler[] {
  switch (platform) {
    case 'darwin':
      return [launchd(computer)];
    case 'linux':
      return [systemd(computer), crontab(computer)];
    case 'win32':
      return [schtasks(computer)];
    default:
      return [crontab(computer)];
  }
}

/** Returns the first available scheduler. */
export async function schedulerHere(all: readonly Scheduler[]): Promise<Scheduler | undefined> {
  for (const scheduler of all) {
    if (await scheduler.isHere()) return scheduler;
  }
  return undefined;
}

/** Returns the schedulers with an entry of this name. */
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

export type { Job, Scheduler } from './contract.ts';
