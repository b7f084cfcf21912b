import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Instance } from '../api/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import { faultOf } from '../files/error-code.ts';
import { findMachine, type Target } from '../instances/resolve.ts';
import { nextStep } from '../instances/status.ts';
import { waitFor } from '../instances/waiting.ts';
import { hasSsh, INSTANCE_STATUSES, leadsTo } from '../rules/statuses.ts';
import type { Manner } from './argv.ts';
import { filesOf, keepHost } from './hosts.ts';
import type { ReachInput } from './reach-flags.ts';
import { isDocumentation, type Way, wayInto } from './way.ts';

/** A machine that can be tried. */
export interface Reached {
  readonly target: Target;
  readonly instance: Instance;
  readonly way: Way;
  readonly manner: Manner;
}

/**
 * Finds a machine, reads it afresh and tells the way into it.
 * Throws CliError('wrongState') with the next command for one that can't be entered now.
 */
export async function reach(typed: string, input: ReachInput, context: Context): Promise<Reached> {
  const identity = await identityFile(input.identity, context);
  const target = await findMachine(typed, context);
  const instance = await readMachine(target, input, context);
  const state = input.wait === undefined ? enterable(instance, target) : undefined;
  if (state !== undefined) context.err.warn(state);
  const way = wayInto(instance, input);
  await keepHost(instance, context);
  const files = await filesOf(context);
  return {
    target: { id: target.id, name: instance.name ?? target.name },
    instance,
    way,
    manner: {
      knownHosts: files.knownHosts,
      identity,
      options: input.sshOptions,
      words: input.sshWords,
    },
  };
}

async function readMachine(
  target: Target,
  { wait, port }: ReachInput,
  context: Context,
): Promise<Instance> {
  if (wait !== undefined) {
    return waitFor({ target, until: 'ssh', sshPort: port }, wait, context);
  }
  return (await context.api()).instances.get(target.id);
}

/** ssh itself only grumbles about a file that is not there, and tries other keys. */
async function identityFile(
  typed: string | undefined,
  { host }: Context,
): Promise<string | undefined> {
  if (typed === undefined) {
    return undefined;
  }
  const isAtHome = typed.startsWith('~/') && host.home !== undefined;
  const path = isAtHome ? join(host.home ?? '', typed.slice(2)) : resolve(typed);
  try {
    await access(path, constants.R_OK);
  } catch (error) {
    const reason = faultOf(error);
    throw usageError(`--identity "${typed}": the file can't be read (${reason})`);
  }
  return path;
}

/**
 * Refuses a status in which no machine can be entered. INSTALLING is none: SSH is there by then
 * (API document: Instance status). The answer is a warning for a status that promises nothing.
 */
function enterable(instance: Instance, { id, name: typed }: Target): string | undefined {
  const { status, failure_reason: reason, ip_address: address } = instance;
  const name = instance.name ?? typed;
  if (hasSsh(status)) return undefined;
  if (INSTANCE_STATUSES.includes(status) && status !== 'ERROR') {
    throw new CliError('wrongState', `${name} is ${status}: it can't be entered now.`, {
      resource: id,
      // A tunnel outlives what passes.
      retryable: leadsTo('ACTIVE', status),
      hint: nextStep(status, callable(name, id), 'ssh'),
    });
  }
  const why = reason ? ` (${reason})` : '';
  if (address == null) {
    throw new CliError('wrongState', `${name} is ${status}${why}, and has no address.`, {
      resource: id,
      hint: `gpucloud instances events ${callable(name, id)}`,
    });
  }
  return `${name} is ${status}${why}; it is tried all the same.`;
}

/** The name of a machine as a word of a command to be copied; its id where the name is none. */
export function callable(name: string, id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]*$/.test(name) ? name : id;
}

/**
 * Refuses an address that no machine can have, which only the sandbox gives: ssh would try it for
 * minutes.
 */
export function refuseDocumentation({ target, way }: Reached): void {
  if (isDocumentation(way.host)) {
    throw new CliError(
      'wrongState',
      `${target.name} is a machine of the sandbox: nothing is behind its address ${way.host}.`,
      { resource: target.id, hint: 'to see what would be run: --print' },
    );
  }
}
