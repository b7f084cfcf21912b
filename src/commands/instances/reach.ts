import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Instance } from '../../api/index.ts';
import type { Manner } from '../../connect/argv.ts';
import { type SshFiles, sshFiles } from '../../connect/host-file.ts';
import { isDocumentation, sshPort, userName, type Way, wayInto } from '../../connect/way.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { privateFolder } from '../../files/private-folder.ts';
import { broken, kept, type Verdict } from '../../rules/rule.ts';
import { Option } from '../kit/command.ts';
import { ruled, ruledEach } from '../kit/parse.ts';
import { keepSighting, sightingOf } from '../kit/sighting.ts';
import { keepHost } from './hosts.ts';
import { findMachine, type Target } from './resolve.ts';
import { type WaitTimes, waitFor } from './waiting.ts';

/** How a machine is to be reached: what ssh, scp and tunnel have in common. */
export interface ReachInput {
  readonly user: string | undefined;
  readonly port: number | undefined;
  readonly identity: string | undefined;
  readonly sshOptions: readonly string[];
  readonly sshWords: readonly string[];
  /** Wait until the machine answers; undefined to try at once. */
  readonly wait: WaitTimes | undefined;
}

/** A machine that can be tried. */
export interface Reached {
  readonly target: Target;
  readonly instance: Instance;
  readonly way: Way;
  readonly manner: Manner;
}

/** The flags of {@link ReachInput}, but for those of waiting. Each call makes new ones. */
export function reachOptions() {
  return {
    user: new Option(
      '--user <name>',
      'the user on the machine (default: as the service tells)',
    ).argParser(ruled('--user', userName)),
    port: new Option(
      '--port <number>',
      'the port of SSH (default: as the service tells)',
    ).argParser(ruled('--port', sshPort)),
    identity: new Option('-i, --identity <file>', 'the file of the private key to sign in with'),
    sshOption: new Option(
      '--ssh-option <key=value>',
      'an option as in ssh_config; may be repeated',
    ).argParser(ruledEach('--ssh-option', sshOption)),
    sshArg: new Option(
      '--ssh-arg <word>',
      'one word more for ssh, such as -A; may be repeated',
    ).argParser(ruledEach('--ssh-arg', sshWord)),
  };
}

function sshOption(text: string): Verdict<string> {
  return /^[A-Za-z][A-Za-z0-9]*[= ]./.test(text)
    ? kept(text)
    : broken('an option of ssh is written Key=value, such as ServerAliveInterval=30');
}

/** A word that is no option would be taken for the machine's name. */
function sshWord(text: string): Verdict<string> {
  return /^-[^-]/.test(text)
    ? kept(text)
    : broken(
        'a word for ssh starts with "-"; a value follows without a blank, as in -Jjump.example',
      );
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

/** Our files of ssh, their folder made. Throws CliError('storage'). */
export async function filesOf(context: Context): Promise<SshFiles> {
  const files = sshFiles((await context.folders()).state);
  try {
    await privateFolder(dirname(files.knownHosts));
    // ssh would make it for everybody to read.
    await (await open(files.knownHosts, 'a', 0o600)).close();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : 'unknown reason';
    throw new CliError(
      'storage',
      `The file of host keys could not be made: ${files.knownHosts} (${reason}).`,
      { cause: error },
    );
  }
  return files;
}

async function readMachine(
  target: Target,
  { wait }: ReachInput,
  context: Context,
): Promise<Instance> {
  if (wait !== undefined) {
    return waitFor({ target, until: 'ssh' }, wait, context);
  }
  const instance = await (await context.api()).instances.get(target.id);
  await keepSighting(sightingOf(instance), context);
  return instance;
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
    const reason = error instanceof Error && 'code' in error ? error.code : 'unknown reason';
    throw usageError(`--identity "${typed}": the file can't be read (${reason})`);
  }
  return path;
}

/** What comes next for a machine that can't be entered, by its status (API document: States). */
const NEXT: Readonly<Record<string, (name: string) => string>> = {
  CREATING: (name) => `wait for it: gpucloud instances wait ${name} --for ssh`,
  PROVISIONING: (name) => `wait for it: gpucloud instances wait ${name} --for ssh`,
  STARTING: (name) => `wait for it: gpucloud instances wait ${name} --for ssh`,
  REBOOTING: (name) => `wait for it: gpucloud instances wait ${name} --for ssh`,
  STOPPING: (name) =>
    `gpucloud instances wait ${name} --for stopped, then gpucloud instances start ${name} --wait=ssh`,
  STOPPED: (name) => `start it, which is paid for: gpucloud instances start ${name} --wait=ssh`,
  TERMINATING: () => 'see your machines: gpucloud instances list',
  TERMINATED: (name) => `a new one like it: gpucloud instances reorder ${name} NEW-NAME`,
};

/**
 * Refuses a status in which no machine can be entered. INSTALLING is none: SSH is there by then
 * (API document: Instance status). The answer is a warning for a status that promises nothing.
 */
function enterable(instance: Instance, { id, name: typed }: Target): string | undefined {
  const { status, failure_reason: reason, ip_address: address } = instance;
  const name = instance.name ?? typed;
  const next = NEXT[status];
  if (next !== undefined) {
    throw new CliError('wrongState', `${name} is ${status}: it can't be entered now.`, {
      resource: id,
      hint: next(callable(name, id)),
    });
  }
  if (status === 'ACTIVE' || status === 'INSTALLING') {
    return undefined;
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
