import type { CreateInstanceBody, Instance } from '../../../api/index.ts';
import type { Context } from '../../../context.ts';
import { CliError, isInterrupt } from '../../../errors.ts';
import { type Asked, askRequest } from '../../../instances/ask/index.ts';
import { keyChooser, warnOfKeyElsewhere } from '../../../instances/ask/keys.ts';
import { nameFree } from '../../../instances/change/ending.ts';
import {
  type CheckedEnds,
  checkDeadline,
  deadlineField,
  onItsDay,
  type WantedEnds,
  wantedText,
} from '../../../instances/deadlines/deadline.ts';
import {
  ensureNoPending,
  ensureNotTaken,
  InFlight,
  otherSettled,
} from '../../../instances/recover/pending.ts';
import { noteAccount } from '../../../instances/rent/account.ts';
import {
  type MadeRequest,
  makeRequest,
  missingError,
  missingFlags,
} from '../../../instances/rent/body.ts';
import { mayTryAnother } from '../../../instances/rent/capacity.ts';
import { type CountFlags, numberedNames } from '../../../instances/rent/count.ts';
import type { CreateFlags, Given } from '../../../instances/rent/given.ts';
import { type Chosen, notePrice, warnIfDearer } from '../../../instances/rent/hardware.ts';
import { OverMaxPrice, rentWithin } from '../../../instances/rent/max-price.ts';
import {
  laterText,
  plannedCost,
  plannedCostText,
  warnBeforeRenting,
} from '../../../instances/rent/planned.ts';
import { nothingCreated, runPreflight } from '../../../instances/rent/preflight.ts';
import { ensureRescueKey } from '../../../jobs/rescue/wanted.ts';
import type { Planned } from '../../../json-results/instances.ts';
import type { Money } from '../../../rules/money.ts';
import type { Wait } from './rented.ts';

export interface CreateInput extends Wait, CountFlags {
  readonly given: Given;
  readonly maxPrice: Money | undefined;
  readonly ends: CheckedEnds;
  readonly dryRun: boolean;
  /** Whether to print an existing instance with that name instead of failing. */
  readonly ifNotExists: boolean;
}

/** A checked request. Preparing it rents nothing. */
export interface Prepared extends Pick<CreateInput, 'until' | 'ends'> {
  readonly made: MadeRequest | Asked;
}

export async function prepare(input: CreateInput, context: Context): Promise<Prepared> {
  const { given, until, count } = input;
  await noteAccount(context);
  await checkDeadline(input.ends, context);
  const missing = missingFlags(given.flags);
  if (missing.length > 0) return await prepareAsked(missing, input, context);
  await checkPending(input, context);
  const { flags } = given;
  const need = { flags, until, dryRun: input.dryRun, isJob: false, hasIdentity: false };
  const made = await makeRequest(given, context, keyChooser(need, context));
  await ensureRescueKey(input.ends, made.body.ssh_keys ?? [], context);
  await warnOfKeyElsewhere(made.body.ssh_keys ?? [], until, context);
  for (const offer of made.offers) notePrice(offer, { count, maxPrice: input.maxPrice }, context);
  const priced = { offers: made.offers, maxPrice: input.maxPrice, count: count ?? 1 };
  // With both flags, only the caller knows how many of them exist.
  if (count === undefined || !input.ifNotExists) {
    await warnBeforeRenting(input.ends, priced, context);
  }
  return { made, until, ends: await endsFor(input, context) };
}

async function endsFor({ ends, dryRun, given }: CreateInput, context: Context) {
  return dryRun ? ends : await onItsDay(ends, given.flags.retryFor, context);
}

/** Checks for a pending request with that name before any lookup. */
async function checkPending(
  { given, ifNotExists, dryRun, count }: CreateInput,
  context: Context,
): Promise<void> {
  const { name } = given.flags;
  if (name === undefined) return;
  // With --count, all names are checked together immediately before the requests.
  if (count !== undefined) return void numberedNames(name, count);
  if (ifNotExists && !dryRun) await otherSettled(name, context);
  if (ifNotExists) await ensureNotTaken({ operation: 'create', name }, context);
  await ensureNoPending(name, context);
}

/** Asks for missing values if interactive. The command then also waits for the status. */
async function prepareAsked(
  missing: readonly string[],
  input: CreateInput,
  context: Context,
): Promise<Prepared> {
  // stdin can't contain both the file and the answers.
  const prompts = input.given.flags.file === '-' ? undefined : await context.prompts();
  if (prompts === undefined) {
    // Reports a missing API key before missing flags.
    await context.api();
    throw missingError(missing);
  }
  await checkPending(input, context);
  const until = (flags: CreateFlags) => input.until ?? readyStatus(flags);
  const { count, minCount } = input;
  const command = {
    start: (name?: string) => ['instances', 'create', ...(name === undefined ? [] : [name])],
    end: (flags: CreateFlags) => [
      ...(count === undefined ? [] : [['--count', `${count}`]]),
      ...(minCount === undefined ? [] : [['--min-count', `${minCount}`]]),
      [until(flags) === 'ssh' ? '--wait=ssh' : '--wait'],
    ],
  };
  const wish = { ...input, isJob: false, hasIdentity: false, command };
  const made = await askRequest(wish, prompts, context);
  await ensureRescueKey(input.ends, made.body.ssh_keys ?? [], context);
  return { made, until: until(made.flags), ends: await endsFor(input, context) };
}

/** Returns what to wait for: SSH if a person is going to log in, else the status. */
function readyStatus({ sshKey = [], template, dockerImage }: CreateFlags): 'ssh' | 'ACTIVE' {
  const isEntered = sshKey.length > 0 && template === undefined && dockerImage === undefined;
  return isEntered ? 'ssh' : 'ACTIVE';
}

/**
 * Creates an instance. With `--if-not-exists`, waits for another process that is creating it, and
 * uses an instance that exists.
 */
export async function createOrUse<T>(
  { ifNotExists, dryRun }: Pick<CreateInput, 'ifNotExists' | 'dryRun'>,
  context: Context,
  create: () => Promise<T>,
  use: (id: string) => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await create();
    } catch (error) {
      const id = nameTakenIn(error)?.resource;
      if (ifNotExists && id !== undefined) return use(id);
      if (!ifNotExists || dryRun || !(error instanceof InFlight)) throw withSuggestion(error);
      await runPreflight(context, nothingCreated, () => otherSettled(error.requested, context));
    }
  }
}

/** Asks the user for another offer if that may avoid the refusal. Otherwise throws the refusal. */
export async function anotherOffer(
  error: unknown,
  made: MadeRequest | Asked,
  context: Context,
): Promise<Asked> {
  if (!('another' in made) || !(error instanceof CliError) || !mayTryAnother(error)) throw error;
  const ending = { id: error.resource ?? '', name: made.body.instance_name };
  const isMade = error instanceof OverMaxPrice;
  try {
    const next = await made.another(error);
    if (next !== undefined) {
      if (isMade) await nameFree(ending, context);
      context.signal.throwIfAborted();
      return next;
    }
  } catch (left) {
    if (!isInterrupt(left) || context.signal.aborted) throw left;
  }
  throw error;
}

/** Prints notes for `--dry-run`, in addition to the request. `count` is the number of instances. */
export function notePlan(
  { deadline }: Planned,
  offers: readonly Chosen[],
  { ends, maxPrice, count }: Pick<CreateInput, 'ends' | 'maxPrice'> & { readonly count: number },
  context: Context,
): void {
  const { err, serviceClock } = context;
  const end = wantedText(ends);
  if (end !== undefined) err.note(`The instance would be terminated ${end}.`);
  const priced = { offers, maxPrice, count, rescue: ends.toRescue };
  // The warning of a later day has shown the cost.
  if (deadline !== null && laterText(ends, priced, context) === undefined) {
    const cost = plannedCost(priced, Date.parse(deadline), serviceClock.now());
    err.note(`Cost: ${plannedCostText(cost)}.`);
  }
  const others = offers.slice(1).map(({ id, known }) => known?.name ?? id);
  if (others.length > 0)
    err.note(`If the service refuses this offer, create would try: ${others.join(', ')}.`);
}

/**
 * Rents one offer. Computes the deadline now, since the request may follow the command's start by
 * hours.
 */
export async function rentFrom(
  offer: Chosen,
  { offer_id: _first, ...rest }: CreateInstanceBody,
  { ends, maxPrice }: Pick<CreateInput, 'ends' | 'maxPrice'>,
  context: Context,
): Promise<{ created: Instance; wanted: WantedEnds }> {
  const body = { offer_id: offer.id, ...rest };
  const wanted = await runPreflight(context, nothingCreated, () =>
    deadlineField(ends, rest.instance_name, context),
  );
  const request = { ...requestOf(body), ...wanted };
  const created = await rentWithin(maxPrice, request, context, (api, options) =>
    api.instances.create(body, options),
  );
  warnIfDearer(created, offer, context);
  return { created, wanted };
}

function requestOf(body: CreateInstanceBody) {
  return { operation: 'create', name: body.instance_name, offer_id: body.offer_id, body } as const;
}

/** Returns the error if it means that a living instance already has the name. */
export function nameTakenIn(error: unknown): CliError | undefined {
  return error instanceof CliError && error.code === 'name_taken' ? error : undefined;
}

/** Adds the flag that prints the existing instance to the error of a taken name. */
export function withSuggestion(error: unknown): unknown {
  const taken = nameTakenIn(error);
  return taken === undefined
    ? error
    : taken.with(taken.message, {
        hint: `add --if-not-exists to print the existing instance; ${taken.hint}`,
      });
}
