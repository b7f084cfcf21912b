import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError } from '../errors.ts';
import { instanceIn, readInstance } from '../instances/read.ts';
import { findInstance, type Target } from '../instances/resolve.ts';
import { nextStep } from '../instances/status.ts';
import { waitFor } from '../instances/waiting.ts';
import { failureReason } from '../output/mask.ts';
import { gpucloud } from '../output/shell-line.ts';
import { typedName } from '../rules/names.ts';
import { instanceStatus, leadsTo } from '../rules/statuses.ts';
import { type SshEndpoint, sshEndpoint } from '../watch/ssh-endpoint.ts';
import type { InventoryHost } from './hosts/inventory.ts';
import type { HostEntry } from './hosts/ssh-config.ts';
import { knownHostsFile } from './known-hosts.ts';
import { sandboxProxy } from './sandbox-proxy.ts';
import { type Earlier, type FindSignIn, type HowToReach, signInFinder } from './sign-in.ts';
import type { SshOptions } from './ssh-argv.ts';

export type { HowToReach } from './sign-in.ts';

/** An instance that ssh can try to connect to. */
export interface Reached {
  readonly target: Target;
  readonly instance: Instance;
  readonly endpoint: SshEndpoint;
  readonly ssh: SshOptions;
  /** The flags, completed with the instance's user and key. */
  readonly how: HowToReach;
}

/**
 * Finds and reads an instance, and determines its SSH endpoint and sign-in. `signal` stops the wait.
 *
 * @throws CliError `wrongState` with the next command if the instance can't be reached now.
 */
export async function reach(
  typed: string,
  how: HowToReach,
  context: Context,
  {
    signal = context.signal,
    earlier,
  }: { readonly signal?: AbortSignal; readonly earlier?: Earlier } = {},
): Promise<Reached> {
  const found = await findInstance(typed, context);
  const instance =
    how.wait === undefined
      ? instanceIn(await readInstance(found.id, await context.api()))
      : await waitFor(
          { target: found, until: 'ssh', sshPort: how.port, signal },
          how.wait,
          context,
        );
  const target = { id: found.id, name: instance.name ?? found.name };
  if (how.wait === undefined) {
    const doubt = ensureEnterable(instance, target);
    if (doubt !== undefined) context.err.warn('connection', doubt);
  }
  const { how: signIn } = await signInFinder(how, context, earlier)(instance);
  return {
    target,
    instance,
    endpoint: sshEndpoint(instance, signIn),
    ssh: await sshOptions(target.id, signIn, context),
    how: signIn,
  };
}

export async function sshOptions(
  id: string,
  { identity, options, words }: HowToReach,
  context: Context,
): Promise<SshOptions> {
  const proxy = await sandboxProxy(id, context);
  return { knownHosts: await knownHostsFile(context), identity, proxy, options, words };
}

/** Adds the sign-in for other programs to each instance. */
export async function inventoryHosts(
  entries: readonly HostEntry[],
  find: FindSignIn,
  context: Context,
): Promise<InventoryHost[]> {
  const hosts: InventoryHost[] = [];
  for (const entry of entries) {
    const { how } = await find(entry.instance);
    const endpoint = { ...entry.endpoint, user: how.user ?? entry.endpoint.user };
    hosts.push({ ...entry, endpoint, ssh: await sshOptions(endpoint.id, how, context) });
  }
  return hosts;
}

/**
 * Refuses a status in which SSH can't work; SSH may work in INSTALLING (API document: Instance
 * status). Returns a warning if the status leaves this unclear.
 */
function ensureEnterable(instance: Instance, { id, name }: Target): string | undefined {
  const { status, ip_address: address } = instance;
  const reason = failureReason(instance);
  const { ssh } = instanceStatus(status);
  if (ssh === 'yes') return undefined;
  if (ssh === 'no') {
    throw new CliError('wrongState', `Can't connect to ${name}: the instance is ${status}.`, {
      resource: id,
      // A tunnel waits until a temporary status changes.
      retryable: leadsTo('ACTIVE', status),
      hint: nextStep(status, typedName(name, id), 'ssh'),
    });
  }
  const why = reason ? ` (${reason})` : '';
  if (address == null) {
    throw new CliError('wrongState', `${name} is ${status}${why}, and has no address.`, {
      resource: id,
      hint: gpucloud('instances', 'events', typedName(name, id)),
    });
  }
  return `${name} is ${status}${why}; trying anyway.`;
}
