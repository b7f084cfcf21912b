import { sentence } from '../../../api/errors.ts';
import type { Instance } from '../../../api/index.ts';
import { writeCreated } from '../../../command-line/creation.ts';
import { calledBy } from '../../../command-line/hints.ts';
import type { Context } from '../../../context.ts';
import { CliError, failuresOf, isInterrupt, SeveralErrors, throwAll } from '../../../errors.ts';
import { noteNewEnds, type WantedEnds } from '../../../instances/deadlines/deadline.ts';
import type { OneOfSeveral } from '../../../instances/rent/several.ts';
import { gpucloud } from '../../../output/shell-line.ts';
import { typedName } from '../../../rules/names.ts';
import { hasSsh, mayBill } from '../../../rules/statuses.ts';
import { rentedView } from '../view.ts';

type Made = Extract<OneOfSeveral, { readonly instance: Instance }>;

/** Prints every rented instance and the next commands, then throws the failures. */
export async function showSeveral(
  each: readonly OneOfSeveral[],
  ends: ReadonlyMap<string, WantedEnds>,
  context: Context,
): Promise<void> {
  const made = each.filter((one) => 'instance' in one);
  const unprinted = await failuresOf(printMade(made, ends, context));
  const living = made.filter(({ instance }) => mayBill(instance.status));
  if (living.length > 0 && !context.signal.aborted) noteNext(living, ends, context);
  throwAll([...failuresIn(each, living, context), ...unprinted]);
}

async function printMade(
  made: readonly Made[],
  ends: ReadonlyMap<string, WantedEnds>,
  context: Context,
): Promise<void> {
  const rows = made.map(({ name, instance, attempts }) => ({
    ...instance,
    ends_at: ends.get(name)?.deadline ?? null,
    ...(attempts && { attempts }),
  }));
  const print = () => context.out.list(rows, rentedView);
  if (made.length === 0) return context.out.format === 'table' ? undefined : print();
  const ids = made.map(({ instance }) => instance.id);
  const remedy = `terminate them with "${terminateLine(made)}"`;
  const created =
    made.length === 1 ? { what: 'Instance' } : ({ what: 'Instances', many: true } as const);
  await writeCreated({ ...created, id: ids.join(', '), remedy }, context, print);
}

function noteNext(
  living: readonly Made[],
  ends: ReadonlyMap<string, WantedEnds>,
  context: Context,
): void {
  const { err } = context;
  // Prints the earliest deadline, since all instances were rented with the same flags.
  const rented = living.filter(({ isExisting }) => isExisting !== true);
  const [soonest] = rented.flatMap(({ name }) => ends.get(name) ?? []).sort(byDeadline);
  if (rented.length > 0) noteNewEnds(typedNames(rented), soonest ?? {}, context);
  const isReachable = living.some(({ instance }) => hasSsh(instance.status));
  err.note(
    isReachable
      ? `Use them:    ${gpucloud('instances', 'inventory', ...typedNames(living))}`
      : `See them:    ${gpucloud('instances', 'list')}`,
  );
  err.note(`Stop paying: ${terminateLine(living)}`);
}

function byDeadline({ deadline: a = '' }: WantedEnds, { deadline: b = '' }: WantedEnds): number {
  return Date.parse(a) - Date.parse(b) || 0;
}

function typedNames(made: readonly Made[]): string[] {
  return made.map(({ instance: { name, id } }) => typedName(name, id));
}

function terminateLine(made: readonly Made[]): string {
  return gpucloud('instances', 'terminate', ...typedNames(made));
}

/**
 * Returns one error per name for scripts. After Ctrl-C, people get one line that lists the billing
 * instances.
 */
function failuresIn(
  each: readonly OneOfSeveral[],
  living: readonly Made[],
  { signal }: Context,
): CliError[] {
  const interrupt = signal.reason instanceof CliError ? signal.reason : undefined;
  const failures = each.flatMap((one) => failureOf(one, interrupt) ?? []);
  if (interrupt === undefined) return withBilling(failures, living);
  const [first, ...others] = failures;
  if (first === undefined) return [];
  const told = failures.filter((error) => !isInterrupt(error) || isDoubt(error, living));
  const line = interrupted(interrupt, each, living);
  return [
    new SeveralErrors(
      [first, ...others],
      told.length === 0 ? line : new SeveralErrors([line, ...told]),
    ),
  ];
}

/**
 * Says in each error that other instances bill, since a script may read only one, and names them in
 * the last.
 */
function withBilling(failures: readonly CliError[], living: readonly Made[]): CliError[] {
  return failures.map((error, at) => {
    const others = living.filter(({ instance }) => instance.id !== error.resource);
    if (others.length === 0) return error;
    const isLast = at === failures.length - 1;
    const message = isLast ? `${sentence(error.message)} ${billingText(others)}` : error.message;
    return error.with(message, { mayBeBilling: true });
  });
}

function billingText(living: readonly Made[]): string {
  return `Rented and billing: ${living.map(({ name }) => name).join(', ')}.`;
}

function failureOf(one: OneOfSeveral, interrupt: CliError | undefined): CliError | undefined {
  const { name } = one;
  if ('error' in one) {
    const error = calledBy(name, one.error);
    return error.message.includes(name) ? error : error.with(`${name}: ${error.message}`);
  }
  const { instance, early } = one;
  if (early !== undefined || interrupt === undefined || !mayBill(instance.status)) return early;
  return interrupt.with(
    `${sentence(interrupt.message)} ${name} (${instance.id}) is rented and billing.`,
    {
      hint: terminateLine([one]),
      resource: instance.id,
      mayBeBilling: true,
    },
  );
}

/** Whether a request may bill although no instance is known for it. */
function isDoubt({ mayBeBilling, resource }: CliError, living: readonly Made[]): boolean {
  return mayBeBilling && living.every(({ instance }) => instance.id !== resource);
}

function interrupted(
  interrupt: CliError,
  each: readonly OneOfSeveral[],
  living: readonly Made[],
): CliError {
  const unsent = each.filter(
    (one) => 'error' in one && isInterrupt(one.error) && !one.error.mayBeBilling,
  );
  const parts = [
    sentence(interrupt.message),
    ...(living.length === 0 ? [] : [billingText(living)]),
    ...(unsent.length === 0 ? [] : [`Not created: ${unsent.map(({ name }) => name).join(', ')}.`]),
  ];
  return interrupt.with(parts.join(' '), {
    mayBeBilling: living.length > 0,
    ...(living.length > 0 && { hint: `stop paying: ${terminateLine(living)}` }),
  });
}
