import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { type Heartbeat, heartbeatsIn } from '../../journal/index.ts';
import { relative } from '../../output/time.ts';
import { ownJournal } from '../pending.ts';

/** Whether `instances reap` runs here repeatedly for one service and account. */
export interface Enforcement {
  readonly isArmed: boolean;
  /** Time of the last scheduled run. */
  readonly heartbeat: Heartbeat | undefined;
}

/** The schedule is alive if its last run is younger than two intervals. */
export function isAlive({ at, every }: Heartbeat, now: number): boolean {
  // After this computer's clock was set back, a heartbeat from the future proves nothing.
  return at !== null && Math.abs(now - Date.parse(at)) < 2 * every;
}

/** For the active profile's service, and its account if known. */
export async function readEnforcement(
  context: Context,
  account: string | undefined,
): Promise<Enforcement> {
  const service = await serviceName(context);
  const { state } = await context.folders();
  const own = (await heartbeatsIn(state)).filter(
    (one) => one.service === service && (account === undefined || one.account === account),
  );
  const [heartbeat] = own.sort((a, b) => timeOf(b) - timeOf(a));
  const isArmed = own.some((one) => isAlive(one, context.clock.now()));
  return { isArmed, heartbeat };
}

/** The account, as named in the journal. */
export async function serviceName(context: Context): Promise<string> {
  const { sandbox, baseUrl } = await context.settings({ key: false });
  return sandbox ? 'sandbox' : (baseUrl?.value ?? '');
}

/** Throws a usage error, before any request that rents, if nothing enforces deadlines here. */
export async function ensureArmed(context: Context): Promise<void> {
  // Without any schedule for the service, its account need not be read.
  let found = await readEnforcement(context, undefined);
  if (found.isArmed) {
    const account = await (await ownJournal(context)).account();
    found = await readEnforcement(context, account);
  }
  if (found.isArmed) return;
  throw usageError(
    `Nothing on this computer enforces deadlines: ${whyNot(found, context.clock.now())}. Nothing was sent.`,
    'arm it: gpucloud instances reap --install; to go without: --unenforced',
  );
}

/** Completes "nothing enforces deadlines: …". */
export function whyNot({ heartbeat }: Enforcement, now: number): string {
  if (heartbeat === undefined) return '"instances reap" is not scheduled';
  const { at, failure } = heartbeat;
  if (failure !== undefined) {
    return `the scheduled "instances reap" failed ${relative(Date.parse(failure.at), now)}: ${failure.message.replace(/\.$/, '')}`;
  }
  const last = at === null ? 'has not run yet' : `last ran ${relative(Date.parse(at), now)}`;
  return `the scheduled "instances reap" ${last}`;
}

function timeOf({ at, failure }: Heartbeat): number {
  return Math.max(Date.parse(at ?? '') || 0, Date.parse(failure?.at ?? '') || 0);
}
