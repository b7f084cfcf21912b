import { sentence } from '../../api/errors.ts';
import type { Api, CallOptions } from '../../api/index.ts';
import { textField } from '../../api/open-fields.ts';
import type { Context } from '../../context.ts';
import { CliError, type ErrorDetails, ensureCliError } from '../../errors.ts';
import type { Journal, RentalRequest } from '../../journal/index.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { inRoubles, money, priceIn } from '../../rules/money.ts';
import { idKey, isSameName, typedName } from '../../rules/names.ts';
import { isTerminated, mayBill } from '../../rules/statuses.ts';
import { BRIEFLY, instanceIn, readInstance } from '../read.ts';
import type { Target } from '../resolve.ts';
import { nextStep } from '../status.ts';

/**
 * Statuses that may mean a taken name or a low balance. The API document defines no status for
 * either.
 */
const UNCLEAR: readonly (number | undefined)[] = [400, 402, 409];

/**
 * Whether the service itself refused for an unclear reason. A web page comes from a proxy, not from
 * the service.
 */
function isUnclear({ httpStatus, request }: CliError): boolean {
  return UNCLEAR.includes(httpStatus) && request?.obstacle !== 'web page';
}

/** The service refused to rent because the drive is not free. Another offer would not help. */
export class DriveTaken extends CliError {
  /** Why the drive is not free: `drive data is SYNCING`. */
  readonly text: string;
  /** Whether the drive may become free without a command. */
  readonly isPassing: boolean;
  /** The hint for a command that has --retry-for and was run without it. */
  readonly retryHint: string;

  constructor(refusal: CliError, taken: Taken, resource: string) {
    const { text, hint, isPassing, retryHint = hint } = taken;
    super('wrongState', `${sentence(refusal.message)} The ${text}.`, {
      ...{ code: 'conflict', hint, resource, cause: refusal },
      httpStatus: refusal.httpStatus,
      request: refusal.request,
    });
    this.text = text;
    this.isPassing = isPassing;
    this.retryHint = retryHint;
  }
}

/**
 * Explains why the service refused to rent. Uses the inventory, the balance and the last known
 * price, never the response text. Returns the refusal itself if they show no reason.
 */
export async function explainRental(
  refusal: CliError,
  request: RentalRequest,
  context: Context,
): Promise<CliError> {
  const { operation, name, source_id } = request;
  const { httpStatus } = refusal;
  if (!isUnclear(refusal)) return refusal;
  const api = await context.api();
  const reading =
    source_id === undefined ? undefined : await known(readInstance(source_id, api, BRIEFLY));
  const source = reading?.kind === 'there' ? reading.instance : undefined;
  if (source !== undefined && !isTerminated(source.status)) return refusal;
  const namesake = await known(livingNamesake(name, await context.journal(), api, BRIEFLY));
  if (namesake?.status !== undefined) return nameTaken(namesake, refusal);
  const price = source?.price_per_hour_snapshot ?? (await offerPrice(request, context));
  const shortfall = await shortfallOf(price, api);
  if (shortfall !== undefined || httpStatus === 402) {
    return insufficientFunds(refusal, `${sentence(refusal.message)}${shortfall ?? ''}`);
  }
  const drive = textField(request.body, 'storage_drive_id');
  const taken = drive === undefined ? undefined : await driveTaken(drive, api, context);
  if (taken !== undefined) return new DriveTaken(refusal, taken, name);
  // A 400 may concern any field of a create request.
  if (httpStatus === 400 && operation === 'create') return refusal;
  // The document defines no code for an offer out of stock, so the hint covers every cause.
  const drives =
    drive === undefined ? '' : `see whether the drive is free: ${gpucloud('drives', 'list')}; `;
  return rentalError(
    sentence(refusal.message),
    {
      code: 'conflict',
      hint: `${drives}try another offer${source_id === undefined ? ' with --offer' : `: ${gpucloud('instances', 'create')}`}; choose another name; or see the balance: ${gpucloud('billing', 'balance')}`,
      resource: name,
    },
    refusal,
  );
}

const ONCE_FREE = 'add --retry-for 10m to try until the drive is free';

interface Taken extends Pick<DriveTaken, 'text' | 'isPassing'> {
  readonly hint: string;
  readonly retryHint?: string;
}

/** Returns why a drive can't be attached now, and the next step; undefined if it may be free. */
async function driveTaken(id: string, api: Api, context: Context): Promise<Taken | undefined> {
  const drive = (await known(api.drives.list(BRIEFLY)))?.find((one) => one.id === id);
  if (drive === undefined) return undefined;
  const { name = id, status, current_instance_id: holder } = drive;
  const once = {
    hint: `try again when the drive is free: ${gpucloud('drives', 'list')}`,
    retryHint: ONCE_FREE,
  };
  if (holder == null) {
    if (status === undefined || status === 'AVAILABLE') return undefined;
    const text = `drive ${name} is ${status}`;
    if (status === 'SYNCING' || status === 'IN_USE') {
      return { text, ...once, isPassing: true };
    }
    const hint =
      status === 'SUSPENDED'
        ? `resume it: ${gpucloud('drives', 'resume', id)}`
        : `choose another drive: ${gpucloud('drives', 'list')}`;
    return { text, hint, isPassing: false };
  }
  const found = await known((await context.journal()).instance(idKey(holder)));
  const reading = await known(readInstance(holder, api, BRIEFLY));
  const now = reading?.kind === 'there' ? reading.instance.status : undefined;
  const called = found?.kind === 'known' ? found.instance.name : holder;
  const text = `drive ${name} is attached to ${called}${now === undefined ? '' : `, which is ${now}`}`;
  if (now !== undefined && !mayBill(now)) return { text, ...once, isPassing: true };
  const end = gpucloud('instances', 'terminate', typedName(called, holder), '--wait');
  const hint = `to move the drive, terminate that instance, which deletes its own disk: ${end}`;
  return {
    text,
    hint,
    retryHint: `${hint}; then ${ONCE_FREE}`,
    // An instance that could not be read may be terminating.
    isPassing: now === undefined || status === 'SYNCING',
  };
}

/** A known instance with the requested name. */
interface Namesake {
  readonly id: string;
  /** Its own name, which may differ in case from the requested one. */
  readonly name: string;
  /** Undefined if the service does not find an instance that was never seen terminated. */
  readonly status: string | undefined;
}

/**
 * Returns a known instance with that name that may be billing. Also reads an instance last seen
 * TERMINATING, since the service rolls back failed terminations.
 */
export async function livingNamesake(
  name: string,
  journal: Journal,
  api: Api,
  options?: CallOptions,
): Promise<Namesake | undefined> {
  const { instances } = await journal.read();
  let lost: Namesake | undefined;
  for (const { id, name: known, last } of instances) {
    if (!isSameName(known, name)) continue;
    const status = await statusNow(id, api, options);
    if (status !== undefined && mayBill(status)) return { id, name: known, status };
    if (status === undefined && mayBill(last?.status)) lost = { id, name: known, status };
  }
  return lost;
}

/** Reads the status. Returns undefined if the service does not find the instance. */
async function statusNow(
  id: string,
  api: Api,
  options: CallOptions | undefined,
): Promise<string | undefined> {
  const reading = await readInstance(id, api, options);
  return reading.kind === 'gone' ? undefined : instanceIn(reading).status;
}

/** Builds the error for a taken name. Without `refusal`, nothing was sent. */
export function nameTaken(
  { id, name, status = 'not read yet' }: Namesake,
  refusal?: CliError,
): CliError {
  const found = `${name} already exists (${id}, ${status}).`;
  return rentalError(
    refusal === undefined ? `${found} Nothing was sent.` : `${sentence(refusal.message)} ${found}`,
    {
      code: 'name_taken',
      hint: `see the instance: ${gpucloud('instances', 'get', typedName(name, id))}; choose another name${refusal === undefined ? '; or add --yes to send the request anyway' : ''}`,
      resource: id,
    },
    refusal,
  );
}

/**
 * Explains a refused start: 409 means a low balance, 400 a low balance or a wrong status (API
 * document: Errors). Returns the refusal if neither applies.
 */
export async function explainStart(
  { id, name }: Pick<Target, 'id' | 'name'>,
  refusal: CliError,
  api: Api,
): Promise<CliError> {
  if (!isUnclear(refusal)) return refusal;
  const reading = await readInstance(id, api, BRIEFLY);
  if (reading.kind !== 'there') return refusal;
  const { status, price_per_hour_snapshot: price } = reading.instance;
  const mayBeBilling = mayBill(status);
  if (status !== 'STOPPED') {
    return refusal.with(`Instance ${id} is ${status}; only a STOPPED instance can be started.`, {
      hint: nextStep(status, typedName(name, id)),
      mayBeBilling,
    });
  }
  const shortfall = await shortfallOf(price, api);
  const missing = 'the balance does not cover the next hour.';
  if (shortfall !== undefined || refusal.httpStatus !== 400) {
    const message = `Instance ${id} stays STOPPED: ${missing}${shortfall ?? ''}`;
    return insufficientFunds(refusal, message, mayBeBilling);
  }
  // The instance may still have been stopping when the request arrived.
  return refusal.with(
    `${sentence(refusal.message)} The instance is STOPPED now. Either it was still stopping, or ${missing}`,
    {
      hint: `try again: ${gpucloud('instances', 'start', typedName(name, id))}; see the balance: ${gpucloud('billing', 'balance')}`,
      mayBeBilling,
    },
  );
}

function insufficientFunds(refusal: CliError, message: string, mayBeBilling = false): CliError {
  const { resource } = refusal;
  const hint = `see the balance and top it up: ${gpucloud('billing', 'balance')}`;
  return rentalError(
    message,
    { code: 'insufficient_funds', hint, resource, mayBeBilling },
    refusal,
  );
}

/** Sets exit code 5: a create refused with status 400 would otherwise exit with 1. */
function rentalError(message: string, details: ErrorDetails, refusal: CliError | undefined) {
  const { httpStatus, request } = refusal ?? {};
  return new CliError('wrongState', message, { ...details, httpStatus, request, cause: refusal });
}

/**
 * Returns a space and a sentence about the balance, or undefined unless the balance is below the
 * price.
 */
async function shortfallOf(
  price: string | null | undefined,
  api: Api,
): Promise<string | undefined> {
  const needed = priceIn(price);
  if (needed === undefined) return undefined;
  const balance = money((await known(api.users.me(BRIEFLY)))?.balance ?? '');
  if (!balance.ok || balance.value.gte(needed)) return undefined;
  return ` The balance is ${inRoubles(balance.value)}; the last known price is ${inRoubles(needed)} per hour.`;
}

/** Returns the last known price, since the API does not list offers. */
async function offerPrice({ offer_id }: RentalRequest, context: Context): Promise<string | null> {
  const entries = await (await context.catalog()).known();
  const offer = entries.find(({ kind, id }) => kind === 'offer' && id === offer_id);
  return offer?.price_per_hour ?? null;
}

/** Returns undefined for a fact that can't be read: the refusal is reported anyway. */
async function known<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    ensureCliError(error);
    return undefined;
  }
}
