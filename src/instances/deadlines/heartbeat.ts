import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { faultOf } from '../../files/error-code.ts';
import { type Heartbeat, heartbeatOf, writeHeartbeat } from '../../journal/index.ts';
import { serviceName } from './armed.ts';

/** The name for a run with a key from the environment. */
const NO_PROFILE = '@environment';

export async function profileOf(context: Context): Promise<string> {
  const { profile } = context.flags;
  if (profile !== undefined) return profile;
  return (await context.settings({ key: false })).profile?.value ?? NO_PROFILE;
}

/**
 * Runs `work`, which repeats after `every` milliseconds. If it can't reach the service with its
 * key, saves the reason for `--status`, and the last heartbeat grows old.
 */
export async function noteFailure<T>(
  every: number | undefined,
  context: Context,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (every !== undefined && error instanceof CliError) await noteFault(every, error, context);
    throw error;
  }
}

/** Saves the reason why a run did not reach the service. */
export async function noteFault(every: number, error: CliError, context: Context): Promise<void> {
  try {
    const { state } = await context.folders();
    const profile = await profileOf(context);
    const before = heartbeatOf(state, profile) ?? {
      service: await serviceName(context),
      account: null,
      at: null,
    };
    await writeHeartbeat(state, profile, {
      ...before,
      every,
      failure: { at: nowText(context), message: error.message },
    });
  } catch {
    // The error itself is printed; without a heartbeat, the schedule counts as dead anyway.
  }
}

/** Saves that a run reached the service: both the schedule and the key work. */
export async function beat(every: number, context: Context): Promise<void> {
  const heartbeat: Omit<Heartbeat, 'version'> = {
    service: await serviceName(context),
    account: (await (await context.journal()).account()) ?? null,
    every,
    at: nowText(context),
  };
  try {
    await writeHeartbeat((await context.folders()).state, await profileOf(context), heartbeat);
  } catch (error) {
    throw new CliError('storage', `The heartbeat could not be saved (${faultOf(error)}).`, {
      hint: 'check the free space, or select another folder with GPUCLOUD_STATE_DIR; without a heartbeat no deadline can be set',
      cause: error,
    });
  }
}

function nowText({ clock }: Context): string {
  return new Date(clock.now()).toISOString();
}
