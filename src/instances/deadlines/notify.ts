import { AT_ONCE, eachBounded } from '../../concurrency.ts';
import { profileOf } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { EventRecord, Journal } from '../../journal/index.ts';
import type { Reaped } from '../../json-results/instances.ts';
import { cleanLines } from '../../output/sanitise.ts';
import { withProfile } from '../../output/shell-line.ts';
import { faultOf } from '../../system/error-code.ts';
import { ownJournal } from '../recover/pending.ts';
import type { Reaping } from './reap.ts';

/** JSON input of the `--notify` command, without its time. */
type NotifyEvent = Pick<EventRecord, 'event' | 'id' | 'name' | 'message' | 'exit_code'>;

/** Milliseconds that the command may take. */
const PATIENCE = 30_000;

/**
 * Runs the profile's command for an event, at least once: until it succeeds, every pass of `reap`
 * tries again for a day. `since` is the deadline or the start of the job; it distinguishes two
 * events of one kind on one instance. A failure is only a warning.
 */
export function notify(event: NotifyEvent, since: string, context: Context): Promise<void> {
  return tellAll([{ ...event, key: keyOf(event, since) }], context);
}

function keyOf({ event, id, name }: NotifyEvent, since: string): string {
  return [id ?? name, event, since].join(' ');
}

type Keyed = NotifyEvent & Pick<EventRecord, 'key'>;

/** Sends these events, and with `again` all events whose notification has failed so far. */
async function tellAll(
  events: readonly Keyed[],
  context: Context,
  { again = false }: { readonly again?: boolean } = {},
): Promise<void> {
  await context.shielded(async (own) => {
    const failed = (what: string, error: unknown) => {
      const reason = error instanceof CliError ? error.message : faultOf(error);
      own.err.warn('notify', `Could not ${what}: ${reason}`);
    };
    const tellOne = async (journal: Journal, one: Keyed | EventRecord, command: Words) => {
      const what = `${one.event} for ${one.name}`;
      try {
        const at = new Date(own.clock.now()).toISOString();
        const event = { version: 1 as const, at, sent_at: null, ...one };
        const fault = await journal.sendEvent(event, (stored) => run(command, stored, own));
        if (fault !== undefined) failed(`store that ${what} was sent`, fault);
      } catch (error) {
        failed(`send ${what}`, error);
      }
    };
    try {
      const { profile, sandbox } = await own.settings({ key: false });
      if (profile === undefined || sandbox) return;
      const command = profileOf(await (await own.config()).read(), profile.value)?.notify;
      if (command === undefined) return;
      const journal = await ownJournal(own);
      await eachBounded(events, AT_ONCE, (one) => tellOne(journal, one, command));
      const keys = new Set(events.map(({ key }) => key));
      const unsent = again ? await journal.unsentEvents() : [];
      const others = unsent.filter(({ key }) => !keys.has(key));
      await eachBounded(others, AT_ONCE, (one) => tellOne(journal, one, command));
    } catch (error) {
      failed('send notifications', error);
    }
  });
}

type Words = readonly string[];

/** Runs the command, and returns whether it succeeded. */
async function run(
  [file = '', ...args]: Words,
  { event, id, name, message: text, exit_code, at }: EventRecord,
  { start, err, flags }: Context,
): Promise<boolean> {
  const message = withProfile(text, flags.profile);
  const json = JSON.stringify({ event, id, name, message, exit_code, at });
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
  if (code === 0) return true;
  const reason = running.isLate
    ? `it did not finish within ${PATIENCE / 1000} s`
    : typeof code === 'string'
      ? code
      : (cleanLines(last).trim().split('\n').at(-1) ?? '') || `exit code ${code}`;
  // Shows only the program, since its arguments may be secret.
  err.warn('notify', `The command of --notify (${file}) failed: ${reason.replace(/\.$/, '')}.`);
  return false;
}

const EVENTS: Readonly<Partial<Record<Reaped['outcome'], NotifyEvent['event']>>> = {
  terminated: 'terminated_at_deadline',
  refused: 'terminate_failed',
  unknown: 'outcome_unknown',
};

/**
 * Sends notifications about instances that a pass terminated, or failed to terminate, and those that
 * earlier passes could not send. After an interrupt, sends no failure, since the next pass tries
 * again.
 */
export async function notifyOfReaped(
  { rows, errors }: Pick<Reaping, 'rows' | 'errors'>,
  context: Context,
): Promise<void> {
  const events = rows.flatMap(({ id, name, deadline, outcome, reason }) => {
    const isIdle = reason === 'idle';
    const event = isIdle && outcome === 'terminated' ? 'terminated_idle' : EVENTS[outcome];
    if (event === undefined || (context.signal.aborted && outcome !== 'terminated')) return [];
    const failure = errors.find(({ resource }) => resource === (id ?? name));
    const message =
      failure?.message ??
      `${name} was terminated ${isIdle ? 'by its idle rule' : 'at its deadline'}.`;
    const about = { event, id, name, message, exit_code: null };
    return { ...about, key: keyOf(about, deadline ?? '') };
  });
  await tellAll(events, context, { again: true });
}
