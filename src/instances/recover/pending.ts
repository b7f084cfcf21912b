import type { User } from '../../api/index.ts';
import { onCancel } from '../../command-line/confirm.ts';
import { recoverLine } from '../../command-line/hints.ts';
import type { Context } from '../../context.ts';
import { CliError, doubt, isOfOneReading } from '../../errors.ts';
import type { Journal, OpenedRequest, OpenRequest, RentalRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { ago } from '../../output/time.ts';
import { isSameName } from '../../rules/names.ts';
import { mayBill } from '../../rules/statuses.ts';
import { guardOf, marked } from '../rent/guards.ts';
import { livingNamesake, nameTaken } from '../rent/refusal.ts';

/** Maximum attempts if other requests reserve the name. A second retry is rare. */
const ROUNDS = 5;

/**
 * Returns the journal of a known account. For a key from the environment, requests its account
 * once. A caller that reads the profile anyway passes that request as `me`.
 */
export async function ownJournal(
  context: Context,
  me?: () => Promise<Pick<User, 'id'>>,
): Promise<Journal> {
  const journal = await context.journal();
  if ((await journal.account()) === undefined) {
    const { id } = await (me === undefined ? (await context.api()).users.me() : me());
    await journal.learnAccount(id);
  }
  return journal;
}

/**
 * Returns the journal to which this key's instances belong. Requests the account of a key that
 * replaced the profile's key without a login, and fails if the service can't say. Throws
 * CliError('authentication') if that key belongs to another account.
 */
export async function journalOfKey(
  context: Context,
  me: () => Promise<Pick<User, 'id'>> = async () => (await context.api()).users.me(),
): Promise<Journal> {
  const journal = await ownJournal(context, me);
  if (!(await journal.isKeyKnown())) await me();
  return journal;
}

/**
 * Returns the journal for a read-only command. If the account is unknown, the journal contains the
 * instances of every account used on this computer.
 */
export async function readableJournal(
  context: Context,
  me?: () => Promise<Pick<User, 'id'>>,
): Promise<Journal> {
  try {
    return await journalOfKey(context, me);
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    context.err.warn(
      'incomplete',
      `Could not determine which account the API key belongs to, so instances of other accounts may be shown: ${error.message}`,
    );
    return context.journal();
  }
}

/**
 * Rejects a name with an unresolved request if not interactive. If interactive, a prompt follows
 * immediately before the request.
 */
export async function ensureNoPending(name: string, context: Context): Promise<void> {
  if ((await context.prompts()) !== undefined) return;
  const open = await (await context.journal()).requests();
  if (!open.some((request) => isSameName(request.name, name))) return;
  // Uses the account's own journal, since the request may belong to another account.
  await agreedUids(name, new Set(), await ownJournal(context), context);
}

/**
 * Writes a request to disk and reserves its name: no other open request and no known living
 * instance may have it. Also checks the profile's guards. If it throws, no open request remains.
 */
export async function openAlone(asked: RentalRequest, context: Context): Promise<OpenedRequest> {
  const { name } = asked;
  const journal = await journalOfKey(context);
  const [request = asked] = await marked([asked], journal, context);
  const ignoresNames = context.flags.yes === true;
  const before = new Set((await journal.read()).instances.map(({ id }) => id));
  if (!ignoresNames) await ensureNotTaken(request, context, { asks: true });
  const guard = await guardOf([request], async () => journal, context);
  const check = async (uid: string) => {
    await guard?.(uid);
    if (ignoresNames) return;
    // Checks the journal again: the previous holder may have created an instance by now. Does not
    // ask the service, since other processes already count this request as sent.
    const made = (await journal.read()).instances.find(
      (one) => isSameName(one.name, name) && mayBill(one.last?.status) && !before.has(one.id),
    );
    if (made !== undefined) {
      throw nameTaken({ id: made.id, name: made.name, status: made.last?.status });
    }
  };
  let agreed: ReadonlySet<string> = new Set();
  for (let round = 0; round < ROUNDS; round += 1) {
    agreed = await agreedUids(name, agreed, journal, context);
    const opened = await journal.open(request, agreed, check, guard !== undefined);
    if (opened !== undefined) return opened;
  }
  throw new InFlight(name);
}

/**
 * Runs the checks of {@link openAlone} for all requests before sending any. Reads only what known
 * instances and guards require.
 */
export async function ensureCanRent(
  requests: readonly Omit<RentalRequest, 'timeout_ms'>[],
  context: Context,
): Promise<void> {
  const { instances } = await (await context.journal()).read();
  for (const request of requests) {
    const isKnown = instances.some(({ name }) => isSameName(name, request.name));
    if (isKnown && context.flags.yes !== true) await ensureNotTaken(request, context);
  }
  const all = await marked(requests, await context.journal(), context);
  const guard = await guardOf(all, () => ownJournal(context), context);
  for (const { name } of requests) await ensureNoPending(name, context);
  await guard?.();
}

/** Asks about each open request with this name that the user has not approved yet. */
async function agreedUids(
  name: string,
  agreed: ReadonlySet<string>,
  journal: Journal,
  context: Context,
): Promise<ReadonlySet<string>> {
  const open = (await journal.requests()).filter((request) => isSameName(request.name, name));
  for (const request of open) {
    if (request.isInFlight) throw new InFlight(name);
    if (!agreed.has(request.uid)) await agreeToAnother(request, context);
  }
  return new Set(open.map(({ uid }) => uid));
}

async function agreeToAnother(request: OpenRequest, context: Context): Promise<void> {
  const { name, asked_at } = request;
  await agreeToSecond(
    {
      name,
      message: `An earlier request for ${name} (${ago(asked_at, context.clock.now())}) has an unknown outcome: the instance may exist and be billing.`,
      remedy: `recover the request: ${recoverLine(name)}`,
    },
    context,
  );
}

interface Doubt {
  readonly name: string;
  readonly message: string;
  readonly remedy: string;
}

/** Asks whether to create another instance although an instance with the same name may exist. */
async function agreeToSecond({ name, message, remedy }: Doubt, context: Context): Promise<void> {
  if (context.flags.yes === true) return;
  const prompts = await context.prompts();
  if (prompts === undefined) {
    throw doubt(`${message} Nothing was sent.`, {
      hint: `${remedy}; or add --yes to create another instance`,
      resource: name,
    });
  }
  context.err.warn('outcome_unknown', `${message} A second instance would bill too.`);
  const question = `Create another ${name}?`;
  if (await onCancel('Nothing was sent.', () => prompts.confirm(question, false))) return;
  throw new CliError('interrupted', 'Cancelled. Nothing was sent.', { hint: remedy });
}

/** Another process is still sending a request with this name. */
export class InFlight extends CliError {
  readonly requested: string;

  constructor(name: string) {
    super('outcomeUnknown', `Another gpucloud process is creating ${name}. Nothing was sent.`, {
      hint: `wait for that process, then list your instances: ${gpucloud('instances', 'list')}`,
      resource: name,
      retryable: true,
      mayBeBilling: true,
    });
    this.requested = name;
  }
}

/** Milliseconds between checks of another process's request. */
const LOOK = 500;

/**
 * Waits until no other process is creating an instance with this name. A request counts as in
 * flight until its own timeout.
 */
export async function otherSettled(name: string, context: Context): Promise<void> {
  const { clock, err, signal } = context;
  const journal = await context.journal();
  const isOpen = async () =>
    (await journal.requests()).some((one) => one.isInFlight && isSameName(one.name, name));
  if (!(await isOpen())) return;
  const progress = err.progress(`Another gpucloud process is creating ${name}: waiting for it`);
  try {
    while (await isOpen()) await clock.sleep(LOOK, signal);
  } finally {
    progress.done();
  }
}

/**
 * Rejects a name that a living instance has. Reads that instance first, since it may have been
 * terminated elsewhere. If the service does not find it, rejects the name if not interactive, and otherwise
 * asks if `asks` is set.
 */
export async function ensureNotTaken(
  request: Pick<RentalRequest, 'operation' | 'name'>,
  context: Context,
  { asks = false } = {},
): Promise<void> {
  const journal = await ownJournal(context);
  const namesake = await livingNamesake(request.name, journal, await context.api());
  if (namesake === undefined) return;
  if (namesake.status !== undefined) throw nameTaken(namesake);
  if (!asks && (await context.prompts()) !== undefined) return;
  const { id, name } = namesake;
  await agreeToSecond(
    {
      name: request.name,
      message: `${name} (${id}) is tracked, but the service returned 404. It may exist and be billing.`,
      remedy: `look in the web console; if the instance is not there: ${gpucloud('instances', 'untrack', id)}`,
    },
    context,
  );
}
