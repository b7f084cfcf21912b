import type { Instance } from '../api/index.ts';
import { textField } from '../api/open-fields.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt, isOfOneReading } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';
import { instant, spanText } from '../output/time.ts';
import { kopecksText, type Money, money, zero } from '../rules/money.ts';
import { instanceStatus, isTerminated } from '../rules/statuses.ts';
import type { Target } from './resolve.ts';

/** Milliseconds that a person waits for what is shown before a request. */
const PATIENCE_MS = 5000;
const READ_AT_ONCE = 8;

/**
 * Does what comes before the first request that changes something: reading a key may take a minute.
 * An interrupt in that time ends with what `meaning` makes of it, unless a question that it ended
 * has already said what it means.
 */
export async function runPreflight<T>(
  context: Context,
  meaning: (interrupt: CliError) => CliError,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isInterrupt(error) && error === context.signal.reason ? meaning(error) : error;
  }
}

export function nothingCreated(interrupt: CliError): CliError {
  return interrupt.with(`${interrupt.message} Nothing was sent, so nothing was created.`);
}

/**
 * The instance as it is now; undefined if it can't be read, since the request that follows reports
 * what is wrong. Throws for a refused key and an interrupt.
 */
async function readBriefly({ id }: Target, context: Context): Promise<Instance | undefined> {
  try {
    return await (await context.api()).instances.get(id, { timeoutMs: PATIENCE_MS });
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return undefined;
  }
}

function readAll(targets: readonly Target[], context: Context): Promise<(Instance | undefined)[]> {
  return eachBounded(targets, READ_AT_ONCE, (target) => readBriefly(target, context));
}

/** Who names an instance by its id must not fail for a journal that can't be read. */
async function knownHere(context: Context): Promise<readonly KnownInstance[]> {
  try {
    return (await (await context.journal()).read()).instances;
  } catch (error) {
    if (!(error instanceof CliError) || error.failure !== 'storage') throw error;
    return [];
  }
}

/**
 * Says what a start reserves ("funds for the next hour reserved at once", API document: start).
 * Nothing is reserved for an instance that is not STOPPED. One that can't be read counts, with the
 * price that is known here, since prices are fixed at creation.
 */
export async function reservationNote(targets: readonly Target[], context: Context): Promise<void> {
  const read = await readAll(targets, context);
  const started = targets
    .map((target, at) => ({ target, instance: read[at] }))
    .filter(({ instance }) => (instance?.status ?? 'STOPPED') === 'STOPPED');
  const [first] = started;
  if (first === undefined) return;
  const isRead = started.every(({ instance }) => instance?.price_per_hour_snapshot != null);
  const known = isRead ? [] : await knownHere(context);
  const prices = started.flatMap(({ target: { id }, instance }) => {
    const last = known.find((instance) => instance.id === id)?.last;
    const price = money(instance?.price_per_hour_snapshot ?? last?.price_per_hour ?? '');
    return price.ok ? [price.value] : [];
  });
  const sum = kopecksText(prices.reduce((total, price) => total.plus(price), zero()));
  const unpriced = started.length - prices.length;
  const amount =
    prices.length === 0
      ? `the price of ${started.length === 1 ? 'one hour' : 'one hour of each'}, which is not known here`
      : `${sum} RUB for the next hour${unpriced === 0 ? '' : `, and the price of ${unpriced} more that is not known here`}`;
  const names = started.length === 1 ? first.target.name : `${started.length} machines`;
  context.err.note(`Starting ${names} reserves ${amount}.`);
}

/**
 * Asks about each instance by name, with the price that is known here. If a person can be asked, the
 * instances are read first and shown with their age and what comes back; undefined if all turn out
 * to be terminated.
 */
export async function terminateQuestion(
  targets: readonly Target[],
  context: Context,
): Promise<string | undefined> {
  if (targets.length === 0) return 'Terminate the machines that stdin names?';
  const known = await knownHere(context);
  if ((await context.prompts()) !== undefined) {
    const read = await readAll(targets, context);
    if (read.every((instance) => isTerminated(instance?.status))) return undefined;
    const now = context.serviceClock.now();
    for (const instance of read) {
      if (instance !== undefined) context.err.note(atStake(instance, now));
    }
  }
  const described = targets.map((target) => {
    const last = known.find(({ id }) => id === target.id)?.last;
    const price = money(last?.price_per_hour ?? '');
    return titled(target, price.ok ? `, ${kopecksText(price.value)} RUB an hour` : '');
  });
  return `Terminate ${described.join(' and ')} with all data on ${targets.length === 1 ? 'its disk' : 'their disks'}?`;
}

/** `trainer: ACTIVE, 89.90 RUB an hour, rented 2 h ago; about 79.41 RUB come back for …` */
function atStake(instance: Instance, now: number): string {
  const { name, id, status, price_per_hour_snapshot: price, paid_until } = instance;
  const amount = money(price ?? '');
  const created = instant(instance.created_at);
  const facts = [
    status,
    amount.ok ? `${kopecksText(amount.value)} RUB an hour` : 'price not told',
    ...(created === undefined ? [] : [`rented ${spanText(Math.max(0, now - created) / 1000)} ago`]),
  ].join(', ');
  // A reservation is documented only for what bills.
  const isPaid = instanceStatus(status).bills === 'yes';
  const rest = isPaid ? restOfHour(price, instant(paid_until), now) : undefined;
  const back =
    rest === undefined
      ? ''
      : `; about ${kopecksText(rest.amount)} RUB come back for the ${spanText(rest.left / 1000)} that are left of its hour`;
  return `${name ?? id}: ${facts}${back}.`;
}

/** `trainer (ID)`, with more about it. */
export function titled({ id, name }: Target, more = ''): string {
  return name === id ? id : `${name} (${id}${more})`;
}

const TAKEN_OVER = 'Taken over: offer, image and SSH keys.';

/**
 * Says what the new instance takes over and what it does not. If a person is there the old one is
 * read, so that what would be missing is named.
 */
export async function reorderNote(source: Target, context: Context): Promise<void> {
  const old =
    (await context.prompts()) === undefined ? undefined : await readBriefly(source, context);
  if (old === undefined) {
    context.err.note(
      `${TAKEN_OVER} Not mentioned by the published API: template, cloud drive, container.`,
    );
    return;
  }
  const price = money(old.price_per_hour_snapshot ?? '');
  const cost = price.ok
    ? ` An hour of the old machine cost ${kopecksText(price.value)} RUB; the new price is told once it is rented.`
    : '';
  const { application_template: template, storage_drive: drive, docker_config: docker } = old;
  const left = [
    ...(template == null ? [] : [`the template${named(template, 'name')}`]),
    // A terminated instance may have let go of its drive.
    drive == null ? 'any cloud drive' : `the cloud drive${named(drive, 'name')}`,
    ...(docker == null ? [] : [`the container${named(docker, 'image')}`]),
  ];
  context.err.note(
    `${TAKEN_OVER} Not mentioned by the published API, so expect the new machine to be without: ${left.join(', ')}.${cost}`,
  );
}

function named(thing: unknown, field: string): string {
  const name = textField(thing, field);
  return name === undefined ? '' : ` ${name}`;
}

const HOUR = 3_600_000;

/**
 * The part of the running hour that comes back at a termination ("unused reserved funds for the
 * current hour returned", API document: terminate), reckoned from `paid_until`. undefined where the
 * fields tell no running hour of at most one hour. `left` is in milliseconds; `amount` is rounded down
 * to the kopeck, since how the service rounds is not published.
 */
export function restOfHour(
  price: string | null | undefined,
  paidUntil: number | undefined,
  now: number,
): { left: number; amount: Money } | undefined {
  const amount = money(price ?? '');
  const left = paidUntil === undefined ? 0 : paidUntil - now;
  if (!amount.ok || left <= 0 || left > HOUR) {
    return undefined;
  }
  return { left, amount: amount.value.times(left).div(HOUR).round(2, 0) };
}
