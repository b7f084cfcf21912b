import { STDIN, severalGiven } from '../command-line/input.ts';
import type { Context } from '../context.ts';
import { type CliError, doubt, usageError } from '../errors.ts';
import { gpucloud } from '../output/shell-line.ts';
import { GONE, mayBill } from '../rules/statuses.ts';
import { drivesUnread, readKnownInstances } from './known-instances.ts';
import { warnOfOtherAccounts } from './other-accounts.ts';
import { runPreflight } from './rent/preflight.ts';
import { pickInstances } from './resolve.ts';

/** The instances that a command changes. */
export interface Chosen {
  /** The typed arguments. A single argument is printed as an object. */
  readonly typed: readonly string[];
  /** Names or IDs. */
  readonly instances: readonly string[];
  /** Why other instances were left out. */
  readonly left: readonly CliError[];
}

/** Returns the named instances. In a terminal without names, asks which ones. */
export async function choose(
  verb: string,
  typed: readonly string[],
  context: Context,
): Promise<Chosen> {
  const instances =
    typed.length > 0
      ? await severalGiven('INSTANCE', typed, context)
      : await pickInstances(`Which instances do you want to ${verb}?`, context);
  return { typed, instances, left: [] };
}

/** Throws a usage error before any request if nobody can confirm to terminate all instances. */
export async function ensureConfirmable(context: Context): Promise<void> {
  if (context.flags.yes === true || (await context.prompts()) !== undefined) return;
  throw usageError('not interactive: add --yes to confirm (Terminate all known instances?)');
}

/**
 * Returns every instance of `instances list` that may bill, except those that are GONE. `leftOut`
 * completes the error for an instance without an ID.
 */
export async function chooseAll(
  typed: readonly string[],
  leftOut: string,
  context: Context,
): Promise<Chosen> {
  if (typed.length > 0) throw usageError("--all can't be used with INSTANCE");
  const nothingSent = (interrupt: CliError) =>
    interrupt.with(`${interrupt.message} Nothing was sent.`, { mayBeBilling: true });
  const { rows, driveFault } = await runPreflight(context, nothingSent, async () => {
    const api = await context.api();
    const how = { all: false, drives: api.drives.list(), now: context.clock.now() };
    return readKnownInstances(how, api, context);
  });
  const instances = rows.flatMap(({ id, status }) =>
    id !== null && status !== GONE && mayBill(status) ? [id] : [],
  );
  if (instances.length === 0) context.err.note('No known instance is billing.');
  await warnOfOtherAccounts(context);
  const left = [
    ...rows.filter(({ id }) => id === null).map(({ name }) => withoutId(name, leftOut)),
    ...(driveFault === undefined ? [] : [driveFault.with(drivesUnread(driveFault))]),
  ];
  return { typed, instances, left };
}

function withoutId(name: string, leftOut: string): CliError {
  return doubt(`The ID of "${name}" is unknown, so it ${leftOut}. It may be billing.`, {
    hint: `recover the request: ${gpucloud('instances', 'recover')}`,
    resource: name,
  });
}

/** Returns a context that asks on the terminal itself if stdin names the instances. */
export function asking(typed: readonly string[], context: Context): Context {
  if (!typed.includes(STDIN)) return context;
  return Object.create(context, { prompts: { value: context.terminalPrompts } });
}
