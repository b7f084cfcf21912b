import { createHash } from 'node:crypto';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { type Scheduler, schedulersOf } from '../scheduler/index.ts';

/** The variable in which a scheduler's entry passes its own name to the runs that it starts. */
export const ENTRY = 'GPUCLOUD_REAP_ENTRY';

/**
 * The name of a profile's entry in a scheduler. The hash stands for the config and the state folder,
 * so that entries of several folders don't replace each other.
 */
export async function entryName(profile: string, context: Context): Promise<string> {
  const { config, state } = await context.folders();
  const folders = createHash('sha256').update(`${config}\0${state}`).digest('hex').slice(0, 8);
  return `gpucloud-reap-${profile}-${folders}`;
}

export function schedulersIn({ start, host, env }: Context): readonly Scheduler[] {
  if (host.home === undefined) throw usageError('there is no home folder, so nothing is scheduled');
  return schedulersOf(host.platform, {
    start,
    home: host.home,
    uid: host.uid ?? 0,
    configHome: env.XDG_CONFIG_HOME || undefined,
  });
}
