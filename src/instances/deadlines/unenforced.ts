import type { Context } from '../../context.ts';
import { type CliError, ensureCliError } from '../../errors.ts';
import { heartbeatOf, type Journal, type Scope } from '../../journal/index.ts';
import { minuteText } from '../../output/time.ts';
import { mayBill } from '../../rules/statuses.ts';
import { serviceName } from '../rent/account.ts';
import {
  armCommand,
  endsNeed,
  type Feature,
  firstUndone,
  noteFault,
  noteLoop,
  profileOf,
  readEnforcement,
  unenforcedText,
} from './armed.ts';

/** Warns if nothing on this computer does all of this. */
export async function warnUnenforced(
  needed: readonly Feature[],
  journal: Journal,
  context: Context,
): Promise<void> {
  const account = await journal.account();
  const enforcement = await readEnforcement({ account }, context);
  const text = unenforcedText(needed, enforcement);
  if (text === undefined) return noteLoop(enforcement, context);
  context.err.warn('deadline_unenforced', `${text}. To schedule it: ${await armCommand(context)}`);
}

/**
 * Warns about an account's deadlines that nothing enforces after its key is removed. Ignores an
 * unreadable journal: other commands report it.
 */
export async function warnOfUnenforcedDeadlines(
  scope: Scope,
  open: () => Promise<Journal>,
  context: Context,
): Promise<void> {
  const enforcement = await readEnforcement(scope, context);
  const all = await deadlinesIn(open);
  const found = all.filter(({ needed }) => firstUndone(needed, enforcement) !== undefined);
  const undone = firstUndone(
    found.flatMap(({ needed }) => needed),
    enforcement,
  );
  if (undone === undefined) return;
  const { reason } = enforcement[undone];
  const whose = found
    .map(({ name, time }) => `${name} (${Number.isNaN(time) ? 'idle rule' : minuteText(time)})`)
    .join(', ');
  const what = found.length === 1 ? 'the deadline' : 'the deadlines';
  context.err.warn(
    'deadline_unenforced',
    `Nothing on this computer enforces ${what} of ${whose}: ${reason}.`,
  );
}

/** Returns the deadlines and idle rules of instances that may bill, earliest deadline first. */
async function deadlinesIn(open: () => Promise<Journal>) {
  try {
    const all = await (await open()).deadlines();
    return all
      .filter(({ status }) => mayBill(status))
      .map(({ name, deadline, if_idle }) => ({
        name,
        time: Date.parse(deadline ?? ''),
        needed: endsNeed({ deadline, if_idle }),
      }))
      .filter(({ needed }) => needed.length > 0)
      .sort((a, b) => (a.time || Infinity) - (b.time || Infinity));
  } catch (error) {
    ensureCliError(error);
    return [];
  }
}

/** Warns if scheduled runs use this refused key. */
export async function warnOfRefusedKey(error: CliError, context: Context): Promise<void> {
  const { apiKey, account } = await context.settings();
  if (apiKey?.source !== 'profile') return;
  const { state } = await context.folders();
  const heartbeat = heartbeatOf(state, await profileOf(context));
  if (heartbeat !== undefined) await noteFault(heartbeat.every, error, context);
  const scope = { service: await serviceName(context), account };
  await warnOfUnenforcedDeadlines(scope, () => context.journal(), context);
}
