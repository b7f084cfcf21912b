import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { durationWord } from '../../rules/times.ts';
import { type Reached, reach } from '../../ssh/reach.ts';
import { isRsyncHere } from '../files/rsync.ts';
import type { Job } from '../job.ts';
import { note, timeNow } from '../record/note.ts';
import { ensureSameHost, ensureUser } from '../remote/failed-ssh.ts';
import { type SignedIn, signIn } from '../remote/probe.ts';
import { within } from '../remote/within.ts';

/** Waits until the instance responds, and signs in. `hasRsync`: whether both sides have rsync. */
export async function connect(job: Job, context: Context): Promise<SignedIn> {
  const { record, how, phases, stops } = job;
  const begun = context.clock.monotonic();
  // Clears the progress line, since the wait has its own progress line.
  phases.clear();
  const reached = await reach(record.id, how, context, { signal: stops.any });
  job.instance = reached.instance;
  phases.begin('connecting', `to ${record.name}`);
  const found = await signedIn(reached, job, begun, context);
  const { home, hasTar } = found;
  const signed_in_at = record.signed_in_at ?? timeNow(context);
  // A later process finds the job in the same place.
  await note(job, { signed_in_at, home }, context);
  const hasRsync = found.hasRsync && (await isRsyncHere(context));
  const needsTar = record.fetch.length > 0 || (record.sync !== null && !hasRsync);
  if (needsTar && !hasTar) throw noCopies(record.name);
  return { ...found, hasRsync };
}

function noCopies(name: string): CliError {
  return new CliError(
    'runFailed',
    `Could not copy files: ${name} has no tar. --fetch requires tar, and so does --sync without rsync.`,
  );
}

/** Milliseconds between two attempts to sign in. */
const PAUSE = 3_000;
/** Maximum attempts to sign in: sshd may start before the keys are in place. */
const ATTEMPTS = 40;

/** Minimum time for an instance that responded near the end of the wait, in milliseconds. */
const LEAST = 5_000;

/**
 * Checks the tools of the instance. Tries again until the keys are in place, or the time limit from
 * `begun` has passed.
 */
function signedIn(
  { endpoint, ssh }: Reached,
  { record, how, phases, stops }: Job,
  begun: number,
  context: Context,
): Promise<SignedIn> {
  const { clock } = context;
  const { timeout = 0 } = how.wait ?? {};
  let found: SignedIn | string = 'the SSH server did not respond';
  const late = () =>
    new CliError(
      'deadline',
      `Could not sign in with SSH within ${durationWord(timeout)}: ${found}`,
    );
  const time = Math.max(timeout - (clock.monotonic() - begun), LEAST);
  const limit = { time, late, signal: stops.any };
  return within(limit, clock, async (signal) => {
    for (let attempt = 1; ; attempt += 1) {
      found = await signIn({ endpoint, ssh, home: record.home ?? undefined }, context, signal);
      if (typeof found !== 'string') return found;
      ensureSameHost(found, record);
      ensureUser(found, record);
      if (attempt === ATTEMPTS) {
        throw new CliError('refused', `Could not sign in with SSH: ${found}`);
      }
      phases.update(found);
      await clock.sleep(PAUSE, signal);
    }
  });
}
