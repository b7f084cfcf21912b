import { sentence } from '../../api/errors.ts';
import type { Instance } from '../../api/index.ts';
import { AT_ONCE, createGate, READS_AT_ONCE } from '../../concurrency.ts';
import type { Context } from '../../context.ts';
import { asCliError, CliError, doubt } from '../../errors.ts';
import { gpucloud } from '../../output/shell-line.ts';
import { isSameName, typedName } from '../../rules/names.ts';
import { endEach, hasTriedToEnd } from '../change/ending.ts';
import type { Target } from '../resolve.ts';
import type { Gates, Obtained } from './capacity.ts';
import { UnusableExisting } from './existing.ts';

export interface ObtainedOne extends Obtained {
  /** Whether the instance existed before (`--if-not-exists`). This command never terminates it. */
  readonly isExisting?: boolean;
}

/** The outcome for one name: its instance, or the error of its request. */
export type OneOfSeveral = { readonly name: string } & (ObtainedOne | { readonly error: CliError });

export interface SeveralWish {
  readonly names: readonly string[];
  /** Below this number, all new instances are terminated. */
  readonly minCount: number | undefined;
  /**
   * Rents one instance and waits for it, as {@link obtain} of capacity.ts does with these limits.
   * Must not prompt.
   */
  obtain(name: string, gates: Gates): Promise<ObtainedOne>;
}

/**
 * Rents several instances at once, a few requests at a time, and waits for them as `obtain` does.
 * Never throws: returns an outcome per name, in their order, and a failure stops no other. After the first
 * Ctrl-C it sends nothing more and waits for the responses to requests in flight.
 *
 * An instance counts if it was certainly rented and the wait for it succeeded. If fewer than
 * `minCount` count, terminates every new instance with a known ID and reads it again, unless
 * interrupted. Each outcome is then an error, with `outcomeUnknown` if the instance may still be
 * billing. A request with an unknown outcome counts as a failure. Nothing is terminated by name.
 *
 * Callers check names and guards of all requests first ({@link ensureCanRent} of pending.ts).
 */
export async function rentSeveral(
  { names, minCount = 0, obtain }: SeveralWish,
  context: Context,
): Promise<readonly OneOfSeveral[]> {
  const gates: Gates = {
    sending: createGate(AT_ONCE),
    reading: createGate(READS_AT_ONCE),
  };
  const each = await Promise.all(
    names.map(async (name): Promise<OneOfSeveral> => {
      try {
        return { name, ...(await obtain(name, gates)) };
      } catch (error) {
        // Catches even a bug, so that the other outcomes are still reported.
        return { name, error: asCliError(error) };
      }
    }),
  );
  const had = each.filter((one) => 'instance' in one && one.early === undefined).length;
  if (had >= minCount || context.signal.aborted) return each;
  return giveAllBack(each, { had, minCount }, context);
}

/** Returns the new instance of a name, even if its request failed, unless it was to end already. */
function targetOf(one: OneOfSeveral): Target | undefined {
  const { name } = one;
  if ('instance' in one) {
    const { id, status: last } = one.instance;
    return one.isExisting === true || hasTriedToEnd(one.early) ? undefined : { id, name, last };
  }
  if (one.error instanceof UnusableExisting) return undefined;
  // A request with an unknown outcome has only a name.
  const { mayBeBilling, resource: id } = one.error;
  const isTried = hasTriedToEnd(one.error);
  const isId = id !== undefined && !isSameName(id, name);
  return mayBeBilling && !isTried && isId ? { id, name } : undefined;
}

/** Terminates all new instances. */
async function giveAllBack(
  each: readonly OneOfSeveral[],
  { had, minCount }: { readonly had: number; readonly minCount: number },
  context: Context,
): Promise<OneOfSeveral[]> {
  const targets = each.flatMap((one) => targetOf(one) ?? []);
  if (targets.length > 0) {
    context.err.warn(
      'min_count',
      `Only ${had} of ${each.length} instances are ready, fewer than --min-count ${minCount}. Terminating ${targets.map(({ name }) => name).join(', ')}.`,
    );
  }
  const endings = await endEach(targets, context);
  return each.map((one) => {
    const at = targets.findIndex(({ name }) => name === one.name);
    const [target, ending] = [targets[at], endings[at]];
    if (target === undefined || ending === undefined) return withDoubt(one);
    const { name, id } = target;
    if (ending.kind !== 'ended') {
      const { error } = ending;
      return 'instance' in one ? { ...one, early: error } : { name, error };
    }
    const { status } = ending;
    context.err.note(`${name} (${id}) is ${status}.`);
    if (!('instance' in one)) return { name, error: ended(one.error, target) };
    const instance: Instance = { ...one.instance, status };
    return { ...one, instance, early: one.early && ended(one.early, target) };
  });
}

/** Builds the error for an instance terminated because too few succeeded. */
function ended(error: CliError, { id, name }: Target): CliError {
  const why = error.cause instanceof CliError ? error.cause.message : error.message;
  return error.with(`${name} (${id}): ${sentence(why)} It was terminated.`, {
    hint: gpucloud('instances', 'events', typedName(name, id)),
    mayBeBilling: false,
    retryable: false,
  });
}

/** Sets exit code 7 if the instance may still be billing. */
function withDoubt(one: OneOfSeveral): OneOfSeveral {
  if ('instance' in one || !one.error.mayBeBilling) return one;
  const { error } = one;
  if (error.failure === 'outcomeUnknown' || error instanceof UnusableExisting) return one;
  const { name, code: _code, ...details } = error;
  return { name: one.name, error: doubt(error.message, { ...details, cause: error }) };
}
