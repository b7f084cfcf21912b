import type { Instance } from '../../api/index.ts';
import { textField } from '../../api/open-fields.ts';
import { eachBounded, READS_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { type CliError, ensureCliError, isInterrupt } from '../../errors.ts';
import type { KnownInstance } from '../../journal/index.ts';
import { inRoubles, priceIn, zero } from '../../rules/money.ts';
import { withoutUserinfo } from '../../rules/secrets.ts';
import { BRIEFLY, readInstance } from '../read.ts';
import type { Target } from '../resolve.ts';

/**
 * Runs work before the first request that changes something. If interrupted, `meaning` completes
 * the error, unless a cancelled prompt has already explained it.
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
 * Reads an instance. Returns undefined if that fails, since the next request reports the fault.
 * Throws for a refused key and an interrupt.
 */
async function readBriefly(
  { id }: Pick<Target, 'id'>,
  context: Context,
): Promise<Instance | undefined> {
  const reading = await readInstance(id, await context.api(), BRIEFLY);
  return reading.kind === 'there' ? reading.instance : undefined;
}

/** Reads several instances as {@link readBriefly} does. */
export function readAll(
  targets: readonly Pick<Target, 'id'>[],
  context: Context,
): Promise<(Instance | undefined)[]> {
  return eachBounded(targets, READS_AT_ONCE, (target) => readBriefly(target, context));
}

/**
 * Returns the known instances, or none if the journal is unreadable. A command with an instance's
 * ID must not fail for that.
 */
export async function knownHere(context: Context): Promise<readonly KnownInstance[]> {
  try {
    return (await (await context.journal()).read()).instances;
  } catch (error) {
    ensureCliError(error);
    return [];
  }
}

/**
 * Returns a note about the reservation at a start ("funds for the next hour reserved at once", API
 * document: start). Counts only STOPPED and unread instances.
 */
export async function reservationNote(targets: readonly Target[], context: Context): Promise<void> {
  const read = await readAll(targets, context);
  const started = targets
    .map((target, at) => ({ target, instance: read[at] }))
    .filter(({ instance }) => (instance?.status ?? 'STOPPED') === 'STOPPED');
  const [first] = started;
  if (first === undefined) return;
  const prices = started.flatMap(
    ({ instance }) => priceIn(instance?.price_per_hour_snapshot) ?? [],
  );
  const sum = inRoubles(prices.reduce((total, price) => total.plus(price), zero()));
  const unpriced = started.length - prices.length;
  const amount =
    prices.length === 0
      ? `the price of ${started.length === 1 ? 'one hour' : 'one hour of each'}, which is unknown`
      : `${sum} for the next hour${unpriced === 0 ? '' : `, plus an unknown price for ${unpriced} more`}`;
  const names = started.length === 1 ? first.target.name : `${started.length} instances`;
  context.err.note(`Starting ${names} reserves ${amount}.`);
}

/** Formats `trainer (ID)`, with more details in the parentheses. */
export function titled({ id, name }: Target, more = ''): string {
  return name === id ? id : `${name} (${id}${more})`;
}

const TAKEN_OVER = 'Keeps: offer, image and SSH keys.';

/**
 * Notes what the new instance keeps and may lack. If interactive or if its price is needed, reads the
 * old instance to list what is missing. Returns the old instance's price per hour, if known.
 */
export async function reorderNote(
  source: Target,
  needsPrice: boolean,
  context: Context,
): Promise<string | null> {
  const isRead = needsPrice || (await context.prompts()) !== undefined;
  const old = isRead ? await readBriefly(source, context) : undefined;
  if (old === undefined) {
    context.err.note(`${TAKEN_OVER} May lack: template, cloud drive, container.`);
    context.err.note('Price per hour: unknown until created; --max-price sets a limit.');
    return null;
  }
  const price = priceIn(old.price_per_hour_snapshot);
  const cost =
    price === undefined
      ? ''
      : ` The old instance cost ${inRoubles(price)} per hour. The API shows the new price only after the request.`;
  const { application_template: template, storage_drive: drive, docker_config: docker } = old;
  const left = [
    ...(template == null ? [] : [`the template${named(template, 'name')}`]),
    // The response for a terminated instance may no longer name its drive.
    drive == null ? 'any cloud drive' : `the cloud drive${named(drive, 'name')}`,
    ...(docker == null ? [] : [`the container${named(docker, 'image')}`]),
  ];
  context.err.note(`${TAKEN_OVER} The new instance may lack: ${left.join(', ')}.${cost}`);
  return old.price_per_hour_snapshot ?? null;
}

function named(thing: unknown, field: string): string {
  const name = textField(thing, field);
  return name === undefined ? '' : ` ${withoutUserinfo(name, new Set())}`;
}
