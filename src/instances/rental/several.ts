import { sentence } from '../../api/errors.ts';
import type { Instance } from '../../api/index.ts';
import { AT_ONCE, createGate } from '../../bounded.ts';
import type { Context } from '../../context.ts';
import { CliError, unforeseen } from '../../errors.ts';
import { typedName } from '../../rules/names.ts';
import type { Target } from '../resolve.ts';
import { READINGS_AT_ONCE } from '../waiting.ts';
import type { Gates, Obtained } from './capacity.ts';
import { giveBack } from './give-back.ts';

export interface ObtainedOne extends Obtained {
  /** It was there before (`--if-not-exists`), so it is never terminated here. */
  readonly isExisting?: boolean;
}

/** The outcome for one name: its instance, or the error of its request. */
export type OneOfSeveral = { readonly name: string } & (ObtainedOne | { readonly error: CliError });

export interface SeveralWish {
  readonly names: readonly string[];
  /** With fewer instances, all new ones are terminated again. */
  readonly minCount: number | undefined;
  /**
   * Rents the instance of one name and waits for it: {@link obtain} of capacity.ts with these gates.
   * Must not prompt.
   */
  obtain(name: string, gates: Gates): Promise<ObtainedOne>;
}

export interface Several {
  /** In the order of the names. */
  readonly each: readonly OneOfSeveral[];
  /** Whether fewer than `minCount` could be had, so that all new ones were terminated. */
  readonly isGivenBack: boolean;
}

/**
 * Rents several instances side by side, a few requests at a time, and waits for them as `obtain` does.
 * Never throws: a failure ends nothing else, and each name has its outcome. After the first Ctrl-C no
 * further request is sent, and those in flight get their responses.
 *
 * An instance counts if it was rented for certain and the wait for it succeeded. If fewer than
 * `minCount` do, terminates every new instance whose ID is known and reads it back, unless a person
 * interrupted. Each has an error then, with `outcomeUnknown` if it may still bill. A request in doubt
 * counts as a failure, and nothing is terminated by its name.
 *
 * Callers check names and guards of all requests first ({@link ensureCanRent} of pending.ts).
 */
export async function rentSeveral(
  { names, minCount = 0, obtain }: SeveralWish,
  context: Context,
): Promise<Several> {
  const gates: Gates = {
    sending: createGate(AT_ONCE),
    reading: createGate(READINGS_AT_ONCE),
  };
  const each = await Promise.all(
    names.map(async (name): Promise<OneOfSeveral> => {
      try {
        return { name, ...(await obtain(name, gates)) };
      } catch (error) {
        // Even a bug must not hide what became of the others.
        return { name, error: error instanceof CliError ? error : unforeseen(error) };
      }
    }),
  );
  const had = each.filter((one) => 'instance' in one && one.early === undefined).length;
  if (had >= minCount || context.signal.aborted) return { each, isGivenBack: false };
  return { each: await giveAllBack(each, { had, minCount }, context), isGivenBack: true };
}

/** The instance that was made for a name although its request failed. */
function targetOf(one: OneOfSeveral): Target | undefined {
  const { name } = one;
  if ('instance' in one) {
    const { id, status: last } = one.instance;
    return one.isExisting === true ? undefined : { id, name, last };
  }
  // The ID in a refusal may belong to somebody else, and a doubt has only the name.
  const { mayBeBilling, resource: id, httpStatus = 0 } = one.error;
  return mayBeBilling && id !== undefined && id !== name && httpStatus < 400
    ? { id, name }
    : undefined;
}

/** Two interrupts don't stop it: the instances would go on billing. The third leaves them, named. */
async function giveAllBack(
  each: readonly OneOfSeveral[],
  { had, minCount }: { readonly had: number; readonly minCount: number },
  context: Context,
): Promise<OneOfSeveral[]> {
  const names = each.flatMap((one) => targetOf(one)?.name ?? []);
  if (names.length > 0) {
    context.err.warn(
      'min_count',
      `Got ${had} of ${each.length} instances, fewer than --min-count ${minCount}. Terminating ${names.join(', ')}.`,
    );
  }
  const gate = createGate(AT_ONCE);
  const left = new Promise<never>((_resolve, reject) => {
    context.host.onThirdInterrupt?.(() => reject(new CliError('interrupted', 'Interrupted.')));
  });
  // Nobody may wait for it yet.
  left.catch(() => undefined);
  return Promise.all(
    each.map(async (one) => {
      const target = targetOf(one);
      if (target === undefined) return withDoubt(one);
      const given = gate(() => context.shielded((own) => giveBack(target, own)));
      return outcomeOf(one, target, Promise.race([given, left]), context);
    }),
  );
}

/** The outcome of a name whose instance is given back. */
async function outcomeOf(
  one: OneOfSeveral,
  target: Target,
  given: Promise<string>,
  context: Context,
): Promise<OneOfSeveral> {
  const { id, name } = target;
  let status: string;
  try {
    status = await given;
  } catch (thrown) {
    const fault = thrown instanceof CliError ? thrown : unforeseen(thrown);
    const error = new CliError(
      'outcomeUnknown',
      `Could not confirm the termination of ${name} (${id}): ${sentence(fault.message)} It may still be billing.`,
      {
        resource: id,
        mayBeBilling: true,
        hint: `gpucloud instances terminate ${typedName(name, id)}`,
        cause: fault,
      },
    );
    return 'instance' in one ? { ...one, early: error } : { name, error };
  }
  context.err.note(`${name} (${id}) is ${status}.`);
  if (!('instance' in one)) return { name, error: ended(one.error, target) };
  const instance: Instance = { ...one.instance, status };
  return { ...one, instance, early: one.early && ended(one.early, target) };
}

/** The error of an instance that has been terminated since. */
function ended(error: CliError, { id, name }: Target): CliError {
  const why = error.cause instanceof CliError ? error.cause.message : error.message;
  return error.with(`${name} (${id}): ${sentence(why)} It was terminated.`, {
    hint: `gpucloud instances events ${typedName(name, id)}`,
    mayBeBilling: false,
    retryable: false,
  });
}

/** Whatever may still bill after this makes the exit code 7. */
function withDoubt(one: OneOfSeveral): OneOfSeveral {
  if ('instance' in one || !one.error.mayBeBilling) return one;
  const { error } = one;
  if (error.failure === 'outcomeUnknown') return one;
  const { name, code: _code, ...details } = error;
  return {
    name: one.name,
    error: new CliError('outcomeUnknown', error.message, { ...details, cause: error }),
  };
}
