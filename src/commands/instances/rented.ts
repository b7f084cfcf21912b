import { sentence } from '../../api/calls/errors.ts';
import type { CreateInstanceBody, Instance } from '../../api/index.ts';
import { writeCreated } from '../../cli/creation.ts';
import type { Context } from '../../context.ts';
import { CliError, unforeseen } from '../../errors.ts';
import { overLimit } from '../../instances/max-price.ts';
import { waitFor } from '../../instances/waiting.ts';
import type { Money } from '../../rules/money.ts';
import { typedName } from '../../rules/names.ts';
import { hasSsh } from '../../rules/statuses.ts';
import type { WaitTimes } from '../../watch/flags.ts';
import { knownSshEndpoint } from '../../watch/ssh-endpoint.ts';
import { instanceView } from './view.ts';

/** What to wait for before the instance is printed. */
export interface Wait {
  /** A status, or `ssh`; undefined without `--wait`. */
  readonly until: string | undefined;
  readonly times: WaitTimes;
}

/**
 * Waits when it was asked for, then prints the instance. A wait that ends early still prints it,
 * since it was rented.
 */
export async function showRented(rented: Instance, wait: Wait, context: Context): Promise<void> {
  context.err.note(`Rented ${rented.name ?? rented.id} (${rented.id}).`);
  const made = { what: 'Instance', id: rented.id, remedy: remedyFor(rented) };
  const print = (latest: Instance) =>
    writeCreated(made, () => context.out.item(latest, instanceView));
  await waitAndPrint(rented, { ...wait, after: rented.status }, print, context);
}

/** `create --if-not-exists` of a name that a known instance has. */
export async function showExisting(
  id: string,
  { maxPrice, ...wait }: Wait & { readonly maxPrice: Money | undefined },
  context: Context,
): Promise<void> {
  const found = await (await context.api()).instances.get(id);
  context.err.note(`${found.name ?? id} already exists (${id}). Nothing was created.`);
  const dear = overLimit(found, maxPrice?.toFixed());
  if (dear !== undefined) context.err.warn('price', `${dear.message} To end it: ${dear.hint}`);
  const print = (latest: Instance) => context.out.item(latest, instanceView);
  await waitAndPrint(found, wait, print, context);
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
      if (!(error instanceof CliError)) throw error;
      early = error;
    }
  }
  await print(latest);
  if (early !== undefined) throw early;
  if (after !== undefined && context.signal.aborted) throw stillRented(instance, context);
  nextSteps(latest, context);
}

/** Ctrl-C came while the answer was on its way, and the answer was waited for. */
function stillRented(instance: Instance, { signal }: Context): CliError {
  const { id, name } = instance;
  const reason = signal.reason instanceof CliError ? signal.reason : unforeseen(signal.reason);
  return reason.with(
    `${sentence(reason.message)} ${name ?? id} (${id}) was still rented, and is billing.`,
    { hint: remedyFor(instance), resource: id, mayBeBilling: true },
  );
}

function remedyFor({ id, name }: Instance): string {
  const typed = typedName(name, id);
  return `terminate it with "gpucloud instances terminate ${typed}", see it with "gpucloud instances get ${typed}"`;
}

function nextSteps(instance: Instance, context: Context): void {
  const name = typedName(instance.name, instance.id);
  const isOpen = hasSsh(instance.status) && !isKeyless(instance);
  if (isOpen && knownSshEndpoint(instance) !== undefined) {
    context.err.note(`Connect:     gpucloud instances ssh ${name}`);
  } else {
    context.err.note(`See it:      gpucloud instances get ${name}`);
  }
  context.err.note(`Stop paying: gpucloud instances terminate ${name}`);
}

/**
 * A machine that nobody can enter bills like any other. Whether a default key is put on one that asked
 * for none is not documented, so that the answer decides; what has a template or a container may be
 * meant for its endpoints alone, and Windows is entered otherwise.
 */
export function warnIfClosed(created: Instance, body: CreateInstanceBody, { err }: Context): void {
  const isBare = body.template_id === undefined && body.docker_config === undefined;
  if (!isBare || !isKeyless(created) || created.base_image?.os_type === 'windows') return;
  err.warn(
    'no_ssh_key',
    `No SSH key is on ${created.name ?? created.id}, and the published API has no way to add one: --ssh-key does at creation. To end it: gpucloud instances terminate ${created.id}`,
  );
}

/** An answer that tells no list of keys tells nothing of them. */
function isKeyless({ ssh_keys }: Instance): boolean {
  return ssh_keys?.length === 0;
}
