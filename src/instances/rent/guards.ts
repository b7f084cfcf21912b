import { type Guards, profileOf } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Journal, KnownInstance, OpenRequest, RentalRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inRoubles, kopecksText, priceIn, zero } from '../../rules/money.ts';
import { mayBill } from '../../rules/statuses.ts';
import { readAll } from './preflight.ts';

/**
 * Returns a check of all requests against the profile's guards, or undefined without guards. The
 * journal runs it under its lock. It does not count the request with the given UID. Throws
 * CliError('usage', code `guard`).
 */
export async function guardOf(
  requests: readonly Omit<RentalRequest, 'timeout_ms'>[],
  openJournal: () => Promise<Journal>,
  context: Context,
): Promise<((own?: string) => Promise<void>) | undefined> {
  const { profile, sandbox } = await context.settings({ key: false });
  if (sandbox) return undefined;
  // Reads the file even without a profile: a damaged one may contain guards for this address.
  const file = await (await context.config()).read();
  const { guards } = (profile && profileOf(file, profile.value)) ?? {};
  if (profile === undefined || guards === undefined || Object.keys(guards).length === 0)
    return undefined;
  if (guards.require_deadline === true && requests.some((one) => one.deadline === undefined)) {
    throw refused(
      `Profile "${profile.value}" requires a deadline.`,
      'add a deadline: --terminate-after 4h',
    );
  }
  const guarded = { profile: profile.value, guards, requests };
  const journal = await openJournal();
  // Reads the instances again: an instance may have been terminated elsewhere, or the service may
  // have rolled back a termination. Reads without the lock, since that takes time.
  await readAll((await journal.read()).instances, context);
  const prices = await openPrices(journal, context);
  return async (own) => {
    const { instances, open } = await livingIn(journal, own);
    checkNumber([...instances, ...open], guarded);
    if (guards.max_burn === undefined) return;
    const costs = instances.map(({ name, last }) => ({
      name,
      price: last?.price_per_hour_snapshot,
    }));
    for (const one of [...open, ...requests]) {
      costs.push({ name: one.name, price: await prices(one) });
    }
    checkBurn(costs, guarded);
  };
}

interface Guarded {
  readonly profile: string;
  readonly guards: Guards;
  readonly requests: readonly Pick<RentalRequest, 'name'>[];
}

/** Returns instances that may bill, and other requests that may have rented an instance. */
async function livingIn(
  journal: Journal,
  own: string | undefined,
): Promise<{ instances: KnownInstance[]; open: OpenRequest[] }> {
  const { instances, unknown, inFlight } = await journal.read();
  const made = new Set(instances.map(({ request }) => request));
  return {
    instances: instances.filter(({ last }) => mayBill(last?.status)),
    open: [...unknown, ...inFlight].filter(({ uid }) => uid !== own && !made.has(uid)),
  };
}

type Priced = Pick<OpenRequest, 'max_price' | 'offer_id' | 'source_id'>;

/**
 * Returns a function for the highest hourly cost of a request: its own limit, otherwise the last
 * price of its offer.
 */
export async function openPrices(journal: Journal, context: Context) {
  const offers = await (await context.catalog()).known();
  return async ({ max_price, offer_id, source_id }: Priced) => {
    if (max_price !== undefined) return max_price;
    if (source_id !== undefined) {
      const source = await journal.instance(source_id);
      return source.kind === 'known' ? source.instance.last?.price_per_hour_snapshot : undefined;
    }
    return offers.find(({ kind, id }) => kind === 'offer' && id === offer_id)?.price_per_hour;
  };
}

function checkNumber(
  living: readonly { readonly name: string }[],
  { profile, guards, requests: { length } }: Guarded,
): void {
  const most = guards.max_instances;
  if (most === undefined || living.length + length <= most) return;
  const names = listed(living.map(({ name }) => name).sort());
  const those = names === '' ? '' : `: ${names}`;
  const asked = length === 1 ? '' : ` The request adds ${length}.`;
  throw refused(
    `Profile "${profile}" allows ${most} ${most === 1 ? 'instance' : 'instances'}, and ${living.length} may be running${those}.${asked}`,
    `${length > 1 ? 'lower --count' : `terminate one: ${gpucloud('instances', 'list')}`}; or change the guard: gpucloud profiles set ${profile} --max-instances ${living.length + length}`,
  );
}

/** Lists the first names and counts the others. */
function listed(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `${names.slice(0, SHOWN).join(', ')}${more}`;
}

/** Maximum names in a message. */
const SHOWN = 5;

interface Cost {
  readonly name: string;
  readonly price: string | null | undefined;
}

function checkBurn(costs: readonly Cost[], { profile, guards, requests }: Guarded): void {
  const most = priceIn(guards.max_burn);
  if (most === undefined) return;
  const allows = `Profile "${profile}" allows ${inRoubles(most)} per hour`;
  let sum = zero();
  for (const { name, price } of costs) {
    const amount = priceIn(price);
    if (amount === undefined) {
      throw refused(
        `${allows}, and the price of ${name} is unknown.`,
        requests.some((one) => one.name === name)
          ? 'set a price limit with --max-price RUB'
          : `see the last known price: ${gpucloud('instances', 'list')}`,
      );
    }
    sum = sum.plus(amount);
  }
  if (sum.lte(most)) return;
  throw refused(
    `${allows}, but with ${listed(requests.map(({ name }) => name))} the instances may cost ${inRoubles(sum)}.`,
    `terminate one: ${gpucloud('instances', 'list')}; or change the guard: gpucloud profiles set ${profile} --max-burn ${kopecksText(sum)}`,
  );
}

function refused(message: string, hint: string): CliError {
  return new CliError('usage', `${message} Nothing was sent.`, { code: 'guard', hint });
}
