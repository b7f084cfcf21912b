import { onCancel } from '../cli/confirm.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import type { Intent, RentalRequest } from '../journal/index.ts';
import { instant } from '../output/time.ts';
import { costs, WHAT } from './journaled-errors.ts';
import { refuseUnsettled } from './unsettled.ts';

/** Milliseconds between two looks at the requests of others, and how many looks there are. */
const PAUSE = 50;
const LOOKS = 40;
/** Milliseconds in which a request that was begun is surely there for all to see. */
const SLOW_WRITE = 1000;
/** Who was in the way was gone each time, when it was looked for again. */
const ROUNDS = 5;

/**
 * Puts a request on disk, of several processes that ask for one name at once for one of them alone:
 * {@link refuseUnsettled} looks before anything is written, and finds nobody whose own has yet to be.
 *
 * Each looks for the others with its own on disk and goes on when there is none: of any two, the one
 * that wrote last sees the other. So that somebody is left, the first by name of the request does
 * not step back from a later one at once, but gives it a while to do so; one that stays had looked
 * before the first was there, and is on its way. Nothing is locked.
 *
 * Throws what {@link refuseUnsettled} throws; nothing is left open then, and nothing may be sent.
 */
export async function intendAlone(request: RentalRequest, context: Context): Promise<Intent> {
  const journal = await context.journal();
  const { name, operation, retry_of } = request;
  const isGuarded = costs(operation) && retry_of === undefined && context.flags.yes !== true;
  if (!isGuarded) return journal.intend(request);
  const what = operation === 'drive' ? 'drive' : 'machine';
  const agreed = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const intent = await journal.intend(request);
    const rivals = await rivalsOf(intent, request, agreed, context);
    if (rivals.length === 0) return intent;
    await refuseUnsettled(what, name, context);
    for (const { uid } of rivals) agreed.add(uid);
  }
  throw new CliError(
    'wrongState',
    `Other gpuclouds ask for a ${what} "${name}" just now. Nothing was sent now.`,
    { hint: 'look what they made, then run the command again', resource: name, retryable: true },
  );
}

interface Rival {
  readonly uid: string;
  readonly isLost: boolean;
}

/** The requests that keep this one from being sent. Where there are any, it is settled. */
async function rivalsOf(
  intent: Intent,
  request: RentalRequest,
  agreed: ReadonlySet<string>,
  context: Context,
): Promise<readonly Rival[]> {
  let isAlone = false;
  try {
    const rivals = await onCancel('Nothing was sent, so nothing was created.', () =>
      lastingRivals(intent, request, agreed, context),
    );
    isAlone = rivals.length === 0;
    return rivals;
  } finally {
    if (!isAlone) await stepBack(intent);
  }
}

async function lastingRivals(
  intent: Intent,
  request: RentalRequest,
  agreed: ReadonlySet<string>,
  context: Context,
): Promise<readonly Rival[]> {
  for (let look = 1; ; look += 1) {
    const rivals = await rivalsNow(intent, request, agreed, context);
    const mayYield = rivals.every(({ uid, isLost }) => !isLost && uid > intent.uid);
    if (rivals.length === 0 || !mayYield || look === LOOKS) return rivals;
    await context.clock.sleep(PAUSE, context.interrupts.first);
  }
}

async function rivalsNow(
  intent: Intent,
  { name, operation }: RentalRequest,
  agreed: ReadonlySet<string>,
  context: Context,
): Promise<readonly Rival[]> {
  const { unknown, inFlight } = await intent.others();
  const open = [
    ...unknown.map((one) => ({ ...one, isLost: true })),
    ...inFlight.map((one) => ({ ...one, isLost: false })),
  ].filter((other) => other.name === name && WHAT[other.operation] === WHAT[operation]);
  // With nobody to be asked, there was none at the first look.
  if (open.length === 0 || (await context.prompts()) === undefined) return open;
  // A person was asked about those that were there then, and has said yes.
  const { openedAt } = await context.journal();
  return open.filter(({ uid, asked_at }) => {
    const then = instant(asked_at);
    return !agreed.has(uid) && !(then !== undefined && then <= openedAt - SLOW_WRITE);
  });
}

async function stepBack(intent: Intent): Promise<void> {
  try {
    await intent.settle('not_sent', { reason: 'another of that name is asked for' });
  } finally {
    await intent.close();
  }
}
