import type { Instance } from '../../../api/index.ts';
import type { Context } from '../../../context.ts';
import type { WantedEnds } from '../../../instances/deadlines/deadline.ts';
import { ensureNotTaken, otherSettled } from '../../../instances/recover/pending.ts';
import type { MadeRequest } from '../../../instances/rent/body.ts';
import { type Gates, obtain, waitEarly } from '../../../instances/rent/capacity.ts';
import { numberedNames } from '../../../instances/rent/count.ts';
import { NOTHING_PLANNED, planRental, warnBeforeRenting } from '../../../instances/rent/planned.ts';
import { nothingCreated, runPreflight } from '../../../instances/rent/preflight.ts';
import { type ObtainedOne, rentSeveral } from '../../../instances/rent/several.ts';
import type { Planned } from '../../../json-results/instances.ts';
import { plannedView } from '../view.ts';
import {
  type CreateInput,
  createOrUse,
  nameTakenIn,
  notePlan,
  prepare,
  rentFrom,
  withSuggestion,
} from './prepare.ts';
import { existingDeadline, findUsable } from './rented.ts';
import { showSeveral } from './rented-several.ts';

interface SeveralInput extends CreateInput {
  readonly count: number;
}

/** Rents NAME-1 to NAME-N (`create --count`). Checks all names before the first request. */
export async function createSeveral(input: SeveralInput, context: Context): Promise<void> {
  // Disables prompts, since the requests run in parallel.
  const quiet: Context = Object.create(context, { prompts: { value: async () => undefined } });
  const prepared = await runPreflight(context, nothingCreated, async () => {
    const { made, until, ends } = await prepare(input, context);
    const { body } = made;
    const names = numberedNames(body.instance_name, input.count);
    const found = await existingOf(names, input, quiet);
    const others = names.filter((name) => found.get(name) === undefined);
    const plan = { ends: input.ends, maxPrice: input.maxPrice, names: others };
    const checked = others.length === 0 ? undefined : await check(body, plan, quiet);
    if (input.ifNotExists && others.length > 0) {
      const priced = { offers: made.offers, maxPrice: input.maxPrice, count: others.length };
      await warnBeforeRenting(input.ends, priced, context);
    }
    return { made, own: { ...input, until, ends }, existing: found, planned: checked };
  });
  const { made, own, existing, planned } = prepared;
  if (input.dryRun) return printPlan({ made, existing, planned }, input, context);
  const ends = new Map<string, WantedEnds>();
  const wish = { input: own, made, ends };
  const each = await rentSeveral(
    {
      names: [...existing.keys()],
      minCount: input.minCount,
      obtain: (name, gates) => obtainOne(name, existing.get(name), { ...wish, gates }, quiet),
    },
    context,
  );
  await showSeveral(each, ends, context);
}

/** Checks all requests together. For a taken name, suggests `--if-not-exists`. */
async function check(...[body, plan, context]: Parameters<typeof planRental>): Promise<Planned> {
  try {
    return await planRental(body, plan, context);
  } catch (error) {
    throw withSuggestion(error);
  }
}

/** Existing instances by requested name. Only `--if-not-exists` allows them. */
type Existing = ReadonlyMap<string, Instance | undefined>;

async function existingOf(
  names: readonly string[],
  input: SeveralInput,
  context: Context,
): Promise<Existing> {
  const found = new Map<string, Instance | undefined>();
  for (const name of names) {
    if (input.ifNotExists && !input.dryRun) await otherSettled(name, context);
    found.set(name, input.ifNotExists ? await existingNamed(name, input, context) : undefined);
  }
  return found;
}

async function existingNamed(
  name: string,
  { given }: SeveralInput,
  context: Context,
): Promise<Instance | undefined> {
  try {
    await ensureNotTaken({ operation: 'create', name }, context);
    return undefined;
  } catch (error) {
    const id = nameTakenIn(error)?.resource;
    if (id === undefined) throw error;
    return findUsable(id, given, context);
  }
}

interface Planning {
  readonly made: MadeRequest;
  readonly existing: Existing;
  readonly planned: Planned | undefined;
}

async function printPlan(
  { made: { body, offers, from_profile }, existing, planned }: Planning,
  input: SeveralInput,
  context: Context,
): Promise<void> {
  const count = [...existing.values()].filter((found) => found === undefined).length;
  if (planned !== undefined) notePlan(planned, offers, { ...input, count }, context);
  const rows = [...existing].map(([name, found]) =>
    planned === undefined || found !== undefined
      ? NOTHING_PLANNED
      : { request: { ...body, instance_name: name }, ...planned, from_profile },
  );
  await context.out.list(rows, plannedView);
}

interface Wish {
  readonly input: SeveralInput;
  readonly made: MadeRequest;
  /** Deadlines and idle rules by instance name. */
  readonly ends: Map<string, WantedEnds>;
  readonly gates: Gates;
}

/**
 * Rents one instance. `--if-not-exists` accepts an instance that another process creates meanwhile.
 */
async function obtainOne(
  name: string,
  found: Instance | undefined,
  wish: Wish,
  context: Context,
): Promise<ObtainedOne> {
  if (found !== undefined) return takeExisting(name, found, wish, context);
  return createOrUse(
    wish.input,
    context,
    () => rentOne(name, wish, context),
    async (id) => {
      const usable = await findUsable(id, wish.input.given, context);
      return takeExisting(name, usable, wish, context);
    },
  );
}

function rentOne(
  name: string,
  { input, made, ends, gates }: Wish,
  context: Context,
): Promise<ObtainedOne> {
  const { until, times, given } = input;
  const { retryFor } = given.flags;
  const body = { ...made.body, instance_name: name };
  return obtain(
    {
      name,
      offers: made.offers,
      retryFor,
      until,
      times,
      gates,
      async rent(offer) {
        const { created, wanted } = await rentFrom(offer, body, input, context);
        ends.set(name, wanted);
        context.err.note(`Rented ${name} (${created.id}).`);
        return created;
      },
    },
    context,
  );
}

async function takeExisting(
  name: string,
  found: Instance,
  { input: { given, until, times }, ends, gates }: Wish,
  context: Context,
): Promise<ObtainedOne> {
  const deadline = await existingDeadline(found, given, context);
  if (deadline !== undefined) ends.set(name, { deadline });
  const { latest, early } = await waitEarly(found, { name, until, times, gates }, context);
  return { instance: latest, early, isExisting: true };
}
