import type { Instance } from '../../api/index.ts';
import { recoverLine } from '../../command-line/hints.ts';
import { type Guards, profileOf } from '../../config/file.ts';
import type { Context } from '../../context.ts';
import { doubt } from '../../errors.ts';
import type { Journal, KnownInstance, OpenRequest, RentalRequest } from '../../journal/index.ts';
import { lazy } from '../../lazy.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inRoubles, isOver, kopecksText, type Money, priceIn, zero } from '../../rules/money.ts';
import { mayBill } from '../../rules/statuses.ts';
import { readAll } from './preflight.ts';
import { markOf, purseGuard, refused } from './purse.ts';

/**
 * Returns a check of all requests against the limits of the profile and of the `mcp` session, or
 * undefined without limits. The journal runs it under its lock. It does not count the request with
 * the given UID. Throws CliError('usage', code `guard`).
 */
export async function guardOf(
  ...given: Parameters<typeof profileGuard>
): Promise<((own?: string) => Promise<void>) | undefined> {
  const guards = [await profileGuard(...given), await purseGuard(...given)];
  const checks = guards.filter((check) => check !== undefined);
  if (checks.length === 0) return undefined;
  return async (own) => {
    for (const check of checks) await check(own);
  };
}

async function profileGuard(
  requests: readonly Omit<RentalRequest, 'timeout_ms'>[],
  openJournal: () => Promise<Journal>,
  context: Context,
): Promise<((own?: string) => Promise<void>) | undefined> {
  const { profile, guards } = await guardsOf(context);
  if (Object.keys(guards).length === 0) return undefined;
  if (guards.require_deadline === true && requests.some((one) => one.deadline === undefined)) {
    throw withoutDeadline(profile, 'add a deadline: --terminate-after 4h');
  }
  const guarded = { profile, guards, requests };
  const journal = await openJournal();
  // Reads the instances again: an instance may have been terminated elsewhere, or the service may
  // have rolled back a termination. Reads without the lock, since that takes time.
  await readAll((await journal.read()).instances, context);
  const prices = await openPrices(journal, context);
  return async (own) => {
    const { instances, open } = await livingIn(journal, own);
    checkNumber([...instances, ...open], guarded);
    const most = priceIn(guards.max_burn);
    if (most === undefined) return;
    const costs: Cost[] = instances.map(costOf);
    for (const one of open) costs.push(await openCost(one, prices));
    for (const one of requests) costs.push({ name: one.name, price: await prices(one) });
    checkBurn(costs, most, guarded);
  };
}

/** Checks before any request that the profile allows instances without a deadline. */
export async function ensureDeadlineOptional(context: Context): Promise<void> {
  const { profile, guards } = await guardsOf(context);
  if (guards.require_deadline === true) {
    throw withoutDeadline(
      profile,
      `set another deadline instead: --after 4h; or change the guard: gpucloud profiles set ${profile} --no-require-deadline`,
    );
  }
}

function withoutDeadline(profile: string, hint: string) {
  return refused(`Profile "${profile}" requires a deadline.`, hint);
}

function costOf({ name, last }: KnownInstance): Cost {
  return { name, price: last?.price_per_hour_snapshot };
}

async function openCost(one: OpenRequest, prices: Prices): Promise<Cost> {
  return { name: one.name, price: await prices(one), isLost: !one.isInFlight };
}

/** How a new instance breaks its profile's `--max-burn`. */
export interface Exceeded {
  /** Completes "NAME (ID) …", without a full stop. */
  readonly message: string;
  /** Whether the profile says to terminate the instance. */
  readonly isEnforced: boolean;
}

/**
 * Checks `--max-burn` again with a new instance's price, since the API shows the price only after
 * the request. Sends nothing. Leaves out instances of the same command that are still to be
 * checked, so that only those that exceed the limit are terminated, newest first.
 */
export async function exceededBy(
  instance: Pick<Instance, 'id' | 'price_per_hour_snapshot'>,
  context: Context,
): Promise<Exceeded | undefined> {
  const { profile, guards } = await guardsOf(context);
  const { max_burn, enforce_max_burn = false } = guards;
  const most = priceIn(max_burn);
  if (most === undefined) return undefined;
  const journal = await context.journal();
  const { instances, open } = await livingIn(journal, undefined);
  const { pending } = context.priceChecks;
  const isChecked = ({ name }: { readonly name: string }) => !pending.has(name);
  const others = instances.filter((one) => one.id !== instance.id && isChecked(one)).map(costOf);
  const priceOf = await openPrices(journal, context);
  for (const one of open.filter(isChecked)) others.push(await openCost(one, priceOf));
  const guard = `over --max-burn ${kopecksText(most)} of profile "${profile}"`;
  const own = priceIn(instance.price_per_hour_snapshot);
  if (own === undefined) {
    const message = `has an unreadable price, which counts as ${guard}`;
    return { message, isEnforced: enforce_max_burn };
  }
  const prices = others.map(({ price }) => priceIn(price));
  const sum = prices.reduce((total: Money, price) => total.plus(price ?? 0), own);
  const isOverKnown = sum.gt(most);
  if (!isOverKnown && !prices.includes(undefined)) return undefined;
  const total = isOverKnown
    ? `all instances cost ${inRoubles(sum)} per hour`
    : 'the price of another instance is unknown, so they count as';
  return {
    message: `costs ${inRoubles(own)} per hour; ${total}${isOverKnown ? ',' : ''} ${guard}`,
    // Another instance's unknown price is no reason to end this one.
    isEnforced: enforce_max_burn && isOverKnown,
  };
}

/** Whether the active profile has `--max-burn`. */
export async function isBurnLimited(context: Context): Promise<boolean> {
  return (await guardsOf(context)).guards.max_burn !== undefined;
}

async function guardsOf(context: Context): Promise<{ profile: string; guards: Guards }> {
  const { profile, sandbox } = await context.settings({ key: false });
  if (sandbox) return { profile: '', guards: {} };
  // Reads the file even without a profile: a damaged one may contain guards for this address.
  const file = await (await context.config()).read();
  if (profile === undefined) return { profile: '', guards: {} };
  return { profile: profile.value, guards: profileOf(file, profile.value)?.guards ?? {} };
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

/** Adds what a session's requests reserve. Call it before {@link guardOf}. */
export async function marked<R extends Priced & Pick<RentalRequest, 'name' | 'deadline'>>(
  requests: readonly R[],
  journal: Journal,
  context: Context,
): Promise<R[]> {
  const { session } = context.host;
  if (session === undefined) return [...requests];
  const prices = await openPrices(journal, context);
  return Promise.all(
    requests.map(async (request) => {
      const { max_price: limit, ...unlimited }: Priced = request;
      const known = await prices(unlimited);
      // Nothing enforces a limit if the response is lost, so a limit below the known price does not
      // count.
      const isHigher = limit !== undefined && isOver(limit, priceIn(known) ?? zero());
      const price = isHigher ? limit : known;
      return { ...request, session: markOf(request, price, session, context) };
    }),
  );
}

/**
 * Returns the price limit of a request. A session always has one, since the service shows the
 * price only afterwards.
 */
export async function limitOf(
  limit: Money | undefined,
  request: Priced,
  context: Context,
): Promise<Money | undefined> {
  if (limit !== undefined || context.host.session === undefined) return limit;
  return priceIn(await (await openPrices(await context.journal(), context))(request));
}

type Priced = Pick<OpenRequest, 'max_price' | 'offer_id' | 'source_id'> & {
  /** False for a request whose response was lost. */
  readonly isInFlight?: boolean;
};

type Prices = (request: Priced) => Promise<string | undefined>;

/**
 * Returns a function for the highest hourly cost of a request: its own limit, otherwise the last
 * price of its offer. Nothing enforces the limit of a request whose response was lost, so such a
 * request counts at the highest known price of its offer.
 */
export async function openPrices(journal: Journal, context: Context): Promise<Prices> {
  const offers = await (await context.catalog()).known();
  const ever = lazy(async () => (await journal.read({ archived: true })).instances);
  return async ({ max_price, offer_id, source_id, isInFlight }) => {
    const isLost = isInFlight === false;
    if (max_price !== undefined && !isLost) return max_price;
    const source = source_id === undefined ? undefined : await journal.instance(source_id);
    const last = source?.kind === 'known' ? source.instance.last : undefined;
    const offer = source === undefined ? offer_id : (last?.offer?.id ?? null);
    const now =
      source === undefined
        ? offers.find(({ kind, id }) => kind === 'offer' && id === offer)?.price_per_hour
        : last?.price_per_hour_snapshot;
    if (!isLost) return now ?? undefined;
    const same = (await ever()).filter((one) => one.last?.offer?.id === offer);
    const all = [now, ...same.map((one) => one.last?.price_per_hour_snapshot)];
    const known = all.flatMap((text) => priceIn(text) ?? []).sort((a, b) => b.cmp(a));
    return known[0]?.toFixed();
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
  /** Whether the response to its request was lost. */
  readonly isLost?: boolean;
}

function checkBurn(costs: readonly Cost[], most: Money, { profile, requests }: Guarded): void {
  const allows = `Profile "${profile}" allows ${inRoubles(most)} per hour`;
  let sum = zero();
  for (const { name, price, isLost } of costs) {
    const amount = priceIn(price);
    if (amount === undefined && isLost === true) {
      throw doubt(
        `${allows}, but the price of ${name} is unknown, and so is the outcome of its request. Nothing was sent.`,
        { hint: recoverLine(name), resource: name },
      );
    }
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
