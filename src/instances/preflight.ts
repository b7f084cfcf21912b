import type { Instance } from '../api/index.ts';
import { textField } from '../api/open-fields.ts';
import { eachBounded } from '../bounded.ts';
import type { Context } from '../context.ts';
import { CliError, isInterrupt, isOfOneReading } from '../errors.ts';
import type { KnownInstance } from '../journal/index.ts';
import { inRoubles, money, zero } from '../rules/money.ts';
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
async function readBriefly(
  { id }: Pick<Target, 'id'>,
  context: Context,
): Promise<Instance | undefined> {
  try {
    return await (await context.api()).instances.get(id, { timeoutMs: PATIENCE_MS });
  } catch (error) {
    if (!isOfOneReading(error)) throw error;
    return undefined;
  }
}

/** The instances as they are now, as {@link readBriefly} reads one. */
export function readAll(
  targets: readonly Pick<Target, 'id'>[],
  context: Context,
): Promise<(Instance | undefined)[]> {
  return eachBounded(targets, READ_AT_ONCE, (target) => readBriefly(target, context));
}

/** Who names an instance by its id must not fail for a journal that can't be read. */
export async function knownHere(context: Context): Promise<readonly KnownInstance[]> {
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
  const sum = inRoubles(prices.reduce((total, price) => total.plus(price), zero()));
  const unpriced = started.length - prices.length;
  const amount =
    prices.length === 0
      ? `the price of ${started.length === 1 ? 'one hour' : 'one hour of each'}, which is not known here`
      : `${sum} for the next hour${unpriced === 0 ? '' : `, and the price of ${unpriced} more that is not known here`}`;
  const names = started.length === 1 ? first.target.name : `${started.length} machines`;
  context.err.note(`Starting ${names} reserves ${amount}.`);
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
    ? ` An hour of the old machine cost ${inRoubles(price.value)}; the new price is told once it is rented.`
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
