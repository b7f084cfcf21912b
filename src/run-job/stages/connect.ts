import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { reach } from '../../reach/reach.ts';
import { durationWord } from '../../rules/times.ts';
import { isRsyncHere } from '../copy/rsync.ts';
import type { Job } from '../job.ts';
import { ensureSameHost } from '../remote/failed-ssh.ts';
import { type Probed, probe } from '../remote/probe.ts';
import { createRemoteShell, type RemoteShell } from '../remote/remote-shell.ts';
import { within } from '../remote/within.ts';

/** An instance on which scripts can run. */
export interface Connected extends Pick<Probed, 'state' | 'exitCode'> {
  readonly shell: RemoteShell;
  /** Whether both sides have rsync. */
  readonly hasRsync: boolean;
}

/** Waits until the instance responds, and signs in. */
export async function connect(job: Job, context: Context): Promise<Connected> {
  const { record, how, phases, stops } = job;
  const begun = context.clock.monotonic();
  // Clears the progress line, since the wait has its own progress line.
  phases.clear();
  const reached = await reach(record.id, how, context, { signal: stops.any });
  job.instance = reached.instance;
  phases.begin('connecting', `to ${record.name}`);
  const shell = createRemoteShell(reached.endpoint, reached.ssh, context);
  const { state, exitCode, hasTar, ...there } = await probed(shell, job, begun, context);
  const hasRsync = there.hasRsync && (await isRsyncHere(context));
  const needsTar = record.fetch.length > 0 || (record.sync !== null && !hasRsync);
  if (needsTar && !hasTar) throw noCopies(record.name);
  return { shell, state, exitCode, hasRsync };
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
function probed(
  shell: RemoteShell,
  { record, how, phases, stops }: Job,
  begun: number,
  { clock }: Context,
): Promise<Probed> {
  const { timeout = 0 } = how.wait ?? {};
  let found: Probed | string = 'the SSH server did not respond';
  const late = () =>
    new CliError(
      'deadline',
      `Could not sign in with SSH within ${durationWord(timeout)}: ${found}`,
    );
  const time = Math.max(timeout - (clock.monotonic() - begun), LEAST);
  const limit = { time, late, signal: stops.any };
  return within(limit, clock, async (signal) => {
    for (let attempt = 1; ; attempt += 1) {
      found = await probe(shell, signal);
      if (typeof found !== 'string') return found;
      ensureSameHost(found, record);
      if (attempt === ATTEMPTS) {
        throw new CliError('refused', `Could not sign in with SSH: ${found}`);
      }
      phases.update(found);
      await clock.sleep(PAUSE, signal);
    }
  });
}
