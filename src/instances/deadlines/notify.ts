import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AT_ONCE, eachBounded } from '../../bounded.ts';
import { profileOf } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { errorCode, faultOf } from '../../files/error-code.ts';
import { privateFolder } from '../../files/private-folder.ts';
import { cleanLines } from '../../output/sanitise.ts';
import { withProfile } from '../../output/shell-line.ts';
import type { Reaped } from '../../results/instances.ts';
import type { Reaping } from './reap.ts';

/** JSON input of the `--notify` command. */
interface NotifyEvent {
  readonly event:
    | 'job_ended'
    | 'terminated_at_deadline'
    | 'terminated_idle'
    | 'terminate_failed'
    | 'outcome_unknown';
  /** The instance's ID; null if the request's outcome is unknown. */
  readonly id: string | null;
  readonly name: string;
  /** A sentence for a person. */
  readonly message: string;
  /** The exit code of a job's command; null if unknown or without a job. */
  readonly exit_code: number | null;
}

/** Milliseconds that the command may take. */
const PATIENCE = 30_000;

/**
 * Runs the profile's command once per event, even if several processes see the event. `since` is
 * the deadline or the start of the job; it distinguishes two events of one kind on one instance. A
 * failure is only a warning.
 */
export async function notify(event: NotifyEvent, since: string, context: Context): Promise<void> {
  await context.shielded(async (own) => {
    try {
      const { profile } = await own.settings({ key: false });
      const command =
        profile && profileOf(await (await own.config()).read(), profile.value)?.notify;
      if (command === undefined || command.length === 0) return;
      if (!(await isFirst(event, since, own))) return;
      await run(command, event, own);
    } catch (error) {
      const reason = error instanceof CliError ? error.message : faultOf(error);
      own.err.warn('notify', `Could not send ${event.event} for ${event.name}: ${reason}`);
    }
  });
}

async function run(
  [file = '', ...args]: readonly string[],
  event: NotifyEvent,
  { start, clock, err, flags }: Context,
): Promise<void> {
  const message = withProfile(event.message, flags.profile);
  const json = JSON.stringify({ ...event, message, at: new Date(clock.now()).toISOString() });
  let last = '';
  const running = await start({
    file,
    args,
    env: { GPUCLOUD_EVENT: json },
    say: `${json}\n`,
    hear: (text, from) => {
      if (from === 'stderr') last = `${last}${text}`.slice(-200);
    },
    ownSession: true,
    timeout: PATIENCE,
  });
  const code = await running.ended.catch(faultOf);
  if (code === 0) return;
  const reason = running.isLate
    ? `it did not finish within ${PATIENCE / 1000} s`
    : typeof code === 'string'
      ? code
      : (cleanLines(last).trim().split('\n').at(-1) ?? '') || `exit code ${code}`;
  // Shows only the program, since its arguments may be secret.
  err.warn('notify', `The command of --notify (${file}) failed: ${reason.replace(/\.$/, '')}.`);
}

/** Days after which a repeated event counts as new. */
const [KEPT, DAY] = [30, 24 * 3_600_000];

/** Creates a file that marks the event. Only one process succeeds. */
async function isFirst(
  { event, id, name }: NotifyEvent,
  since: string,
  { folders, clock }: Context,
): Promise<boolean> {
  const folder = join((await folders()).state, 'notified');
  await privateFolder(folder);
  for (const old of await readdir(folder)) {
    const found = await stat(join(folder, old)).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < clock.now() - KEPT * DAY) {
      await rm(join(folder, old), { force: true });
    }
  }
  const mark = encodeURIComponent([id ?? name, event, since].join(' '));
  try {
    await writeFile(join(folder, mark), '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

const EVENTS: Readonly<Partial<Record<Reaped['outcome'], NotifyEvent['event']>>> = {
  terminated: 'terminated_at_deadline',
  refused: 'terminate_failed',
  unknown: 'outcome_unknown',
};

/**
 * Sends notifications about instances that a pass terminated at their deadline, or failed to
 * terminate. After an interrupt, sends no failure, since the next pass tries again.
 */
export async function notifyOfReaped(
  { rows, errors }: Pick<Reaping, 'rows' | 'errors'>,
  context: Context,
): Promise<void> {
  await eachBounded(rows, AT_ONCE, async ({ id, name, deadline, outcome, reason }) => {
    const isIdle = reason === 'idle';
    const event = isIdle && outcome === 'terminated' ? 'terminated_idle' : EVENTS[outcome];
    if (event === undefined || (context.signal.aborted && outcome !== 'terminated')) return;
    const failure = errors.find(({ resource }) => resource === (id ?? name));
    const message =
      failure?.message ??
      `${name} was terminated ${isIdle ? 'by its idle rule' : 'at its deadline'}.`;
    await notify({ event, id, name, message, exit_code: null }, deadline ?? '', context);
  });
}
