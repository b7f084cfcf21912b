import { sentence } from '../../../api/errors.ts';
import type { Instance } from '../../../api/index.ts';
import { textField } from '../../../api/open-fields.ts';
import { writeCreated } from '../../../command-line/creation.ts';
import type { Context } from '../../../context.ts';
import { asCliError, type CliError } from '../../../errors.ts';
import {
  noteEnds,
  noteNewEnds,
  type WantedEnds,
  wantedDeadline,
} from '../../../instances/deadlines/deadline.ts';
import { instanceIn, readInstance } from '../../../instances/read.ts';
import type { Obtained } from '../../../instances/rent/capacity.ts';
import { ensureUsable } from '../../../instances/rent/existing.ts';
import type { Given } from '../../../instances/rent/given.ts';
import { NOTHING_PLANNED } from '../../../instances/rent/planned.ts';
import { waitFor } from '../../../instances/waiting.ts';
import type { ShownInstance } from '../../../json-results/instances.ts';
import { gpucloud } from '../../../output/shell-line.ts';
import { typedName } from '../../../rules/names.ts';
import { hasSsh } from '../../../rules/statuses.ts';
import type { WaitTimes } from '../../../watch/flags.ts';
import { isSandbox, knownSshEndpoint } from '../../../watch/ssh-endpoint.ts';
import { plannedView, rentedView } from '../view.ts';

/** The wait before printing the instance. */
export interface Wait {
  /** A status or `ssh`; undefined without `--wait`. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
}

/** Requested wait, deadline and idle rule. */
interface Asked extends Wait, WantedEnds {}

/**
 * Waits if requested, then prints the instance. Structured formats print it even if the wait fails,
 * since the instance was rented.
 */
export async function showRented(
  rented: Instance,
  { deadline, if_idle, rescue, ...wait }: Asked,
  context: Context,
): Promise<void> {
  const ends = {
    ...(deadline && { deadline }),
    ...(if_idle && { if_idle }),
    ...(rescue && { rescue }),
  };
  noteRented(rented, ends, context);
  const print = (latest: Instance) =>
    printRented({ ...latest, ends_at: deadline ?? null }, context);
  await waitAndPrint(rented, { ...wait, after: rented.status }, print, context);
}

export function noteRented(rented: Instance, ends: WantedEnds, context: Context): void {
  context.err.note(`Rented ${rented.name ?? rented.id} (${rented.id}).`);
  noteNewEnds([typedName(rented.name, rented.id)], ends, context);
}

/** Prints an instance rented in one of several attempts, after their wait. */
export async function showObtained(
  { instance, attempts, early }: Obtained,
  { deadline }: WantedEnds,
  context: Context,
): Promise<void> {
  const shown = { ...instance, ends_at: deadline ?? null, ...(attempts && { attempts }) };
  await printEnded(instance, early, true, () => printRented(shown, context), context);
}

function printRented(instance: ShownInstance, context: Context): Promise<void> {
  const made = { what: 'Instance', id: instance.id, remedy: remedyFor(instance) };
  return writeCreated(made, context, () => context.out.item(instance, rentedView));
}

interface Existing extends Wait {
  readonly given: Given;
  readonly dryRun: boolean;
}

/** Prints an existing instance for `create --if-not-exists`. */
export async function showExisting(
  id: string,
  { given, dryRun, ...wait }: Existing,
  context: Context,
): Promise<void> {
  const found = await findUsable(id, given, context);
  if (dryRun) return context.out.item(NOTHING_PLANNED, plannedView);
  const ends_at = await existingDeadline(found, given, context);
  const print = (latest: Instance) =>
    context.out.item({ ...latest, ends_at: ends_at ?? null }, rentedView);
  await waitAndPrint(found, wait, print, context);
}

/** Reads the existing instance. Throws if it doesn't match the request. */
export async function findUsable(id: string, given: Given, context: Context): Promise<Instance> {
  const found = instanceIn(await readInstance(id, await context.api()));
  await ensureUsable(found, given, context);
  context.err.note(`${found.name ?? id} already exists (${id}). Nothing was sent.`);
  return found;
}

/**
 * Returns an existing instance's deadline. If the command requests a deadline or an idle rule,
 * prints the existing deadline, or warns that the instance has none. Never sets a deadline.
 */
export async function existingDeadline(
  found: Instance,
  { flags }: Given,
  context: Context,
): Promise<string | undefined> {
  const { deadline, if_idle } = await (await context.journal()).ends(found.id);
  const ends_at = deadline ?? undefined;
  const typed = typedName(found.name, found.id);
  if (wantedDeadline(flags) !== undefined) {
    if (ends_at === undefined) warnEndless(found, context);
    else noteEnds([typed], { deadline: ends_at }, context);
  }
  if (flags.ifIdle !== undefined) {
    if (if_idle === undefined) warnRuleless(found, context);
    else noteEnds([typed], { if_idle: if_idle.after }, context);
  }
  return ends_at;
}

/** Warns that the existing instance has no deadline. The requested deadline is never set. */
function warnEndless({ id, name }: Instance, { err }: Context): void {
  const typed = typedName(name, id);
  err.warn(
    'deadline_unenforced',
    `${name ?? id} has no deadline. To set one: ${gpucloud('instances', 'expire', typed, '--after', '4h')}`,
  );
}

function warnRuleless({ id, name }: Instance, { err }: Context): void {
  const typed = typedName(name, id);
  err.warn(
    'deadline_unenforced',
    `${name ?? id} has no idle rule. To set one: ${gpucloud('instances', 'expire', typed, '--if-idle', '45m')}`,
  );
}

async function waitAndPrint(
  instance: Instance,
  { until, times, after }: Wait & { readonly after?: string },
  print: (latest: Instance) => Promise<void>,
  context: Context,
): Promise<void> {
  let latest = instance;
  let early: unknown;
  if (until !== undefined) {
    try {
      const onReading = (reading: Instance) => {
        latest = reading;
      };
      const { id, name } = instance;
      const target = { id, name: name ?? id };
      await waitFor({ target, until, onReading, ...(after && { after }) }, times, context);
    } catch (error) {
      early = asCliError(error);
    }
  }
  await printEnded(latest, early, after !== undefined, () => print(latest), context);
}

async function printEnded(
  instance: Instance,
  early: unknown,
  isNew: boolean,
  print: () => Promise<void>,
  context: Context,
): Promise<void> {
  const ended =
    early ?? (isNew && context.signal.aborted ? stillRented(instance, context) : undefined);
  // For people the error message is enough, but programs also need the instance.
  if (ended === undefined || !context.out.people) await print();
  if (ended !== undefined) throw ended;
  await nextSteps(instance, context);
}

/** Reports an instance if its response arrived after Ctrl-C. */
function stillRented(instance: Instance, { signal }: Context): CliError {
  const { id, name } = instance;
  const reason = asCliError(signal.reason);
  return reason.with(`${sentence(reason.message)} ${name ?? id} (${id}) is rented and billing.`, {
    hint: remedyFor(instance),
    resource: id,
    mayBeBilling: true,
  });
}

function remedyFor({ id, name }: Instance): string {
  const typed = typedName(name, id);
  return `terminate it with "${gpucloud('instances', 'terminate', typed)}", see it with "${gpucloud('instances', 'get', typed)}"`;
}

async function nextSteps(instance: Instance, context: Context): Promise<void> {
  const name = typedName(instance.name, instance.id);
  for (const line of uses(instance, name)) context.err.note(line);
  const drive = textField(instance.storage_drive, 'name');
  if (drive !== undefined) {
    const folder = gpucloud('instances', 'ssh', name, '--', 'df', '-h');
    const kept = (await isSandbox(context))
      ? 'not mounted in the sandbox, so no file outlives the instance'
      : `only files on ${drive} outlive the instance. To find its folder: ${folder}`;
    context.err.note(`Drive:       ${kept}`);
  }
  context.err.note(`Stop paying: ${gpucloud('instances', 'terminate', name)}`);
}

function uses(instance: Instance, name: string): string[] {
  if (hasSsh(instance.status)) {
    const hasKey = instance.ssh_keys?.length !== 0 && knownSshEndpoint(instance) !== undefined;
    const lines = [
      ...(hasKey ? [`Connect:     ${gpucloud('instances', 'ssh', name)}`] : []),
      ...(instance.application_template == null
        ? []
        : [`Open:        ${gpucloud('instances', 'open', name)}`]),
    ];
    if (lines.length > 0) return lines;
  }
  return [`See it:      ${gpucloud('instances', 'get', name)}`];
}
