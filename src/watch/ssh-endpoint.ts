import type { Instance } from '../api/index.ts';
import { CliError } from '../errors.ts';
import { typedName } from '../rules/names.ts';
import type { Verdict } from '../rules/rule.ts';
import { sshHost, sshPort, sshUser } from '../rules/ssh.ts';

/** The fields of an instance that SSH needs. */
type Enterable = Pick<Instance, 'id' | 'ip_address' | 'ssh_username' | 'ssh_port'>;

/** Where ssh connects to. No part can be read as an option or as a second word. */
export interface SshEndpoint {
  readonly id: string;
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

/**
 * The SSH endpoint of an instance.
 *
 * What the service sends ends up in ssh's arguments and configuration, so only text that looks
 * exactly like an address, a user and a port is accepted. `-oProxyCommand=…`, spaces, line ends and
 * percent signs (which ssh replaces with values) are not.
 *
 * `user` and `port` replace what the service sends.
 *
 * @throws CliError `wrongState` if a part is missing, `notUnderstood` if one is not accepted.
 */
export function sshEndpoint(
  instance: Enterable,
  { user, port }: { readonly user?: string | undefined; readonly port?: number | undefined } = {},
): SshEndpoint {
  return {
    id: instance.id,
    ...sshAddress(instance, port),
    user: user ?? userOf(instance),
  };
}

/** Where the SSH server of an instance listens; throws as {@link sshEndpoint} does. */
export function sshAddress(
  instance: Omit<Enterable, 'ssh_username'>,
  port?: number,
): Pick<SshEndpoint, 'host' | 'port'> {
  const { id } = instance;
  if (instance.ip_address == null || instance.ip_address === '') {
    throw new CliError('wrongState', 'The service gives no address for the machine.', {
      resource: id,
      retryable: true,
      hint: 'a machine has one once it is ACTIVE: add --wait',
    });
  }
  return {
    host: accepted(id, 'address', instance.ip_address, sshHost),
    port: port ?? portOf(instance),
  };
}

export interface WithSettings {
  settings(how: { key: boolean }): Promise<{ readonly sandbox: boolean }>;
}

/** Whether the profile is the built-in sandbox. Its addresses may be a real test service's too. */
export async function isSandbox({ settings }: WithSettings): Promise<boolean> {
  return (await settings({ key: false })).sandbox;
}

/** Refuses SSH in the built-in sandbox: nothing listens at its addresses, and ssh would try for minutes. */
export async function refuseSandbox(
  { id, name }: { readonly id: string; readonly name: string },
  context: WithSettings,
): Promise<void> {
  if (!(await isSandbox(context))) return;
  throw new CliError('wrongState', `${name} is a sandbox instance: SSH never answers there.`, {
    resource: id,
    hint: `print the ssh command instead: gpucloud instances ssh ${typedName(name, id)} --print`,
  });
}

/** The same, or undefined for an instance without a usable endpoint. */
export function knownSshEndpoint(instance: Enterable): SshEndpoint | undefined {
  try {
    return sshEndpoint(instance);
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** The plain command that enters an instance, for people and for computers without gpucloud. */
export function sshCommand(instance: Enterable): string | undefined {
  const endpoint = knownSshEndpoint({ ...instance, ssh_port: instance.ssh_port ?? 22 });
  if (endpoint === undefined) return undefined;
  const { user, host, port } = endpoint;
  return port === 22 ? `ssh ${user}@${host}` : `ssh -p ${port} ${user}@${host}`;
}

function portOf({ id, ssh_port: port }: Enterable): number {
  if (port == null) {
    throw new CliError('wrongState', 'The service gives no SSH port for the machine.', {
      resource: id,
      hint: 'if it is the usual one: --port 22',
    });
  }
  return accepted(id, 'SSH port', String(port), sshPort);
}

function userOf({ id, ssh_username: user }: Enterable): string {
  if (user == null || user === '') {
    throw new CliError('wrongState', 'The service gives no user name for the machine.', {
      resource: id,
      hint: 'name one: --user root',
    });
  }
  return accepted(id, 'user name', user, sshUser);
}

function accepted<T>(id: string, what: string, text: string, rule: (text: string) => Verdict<T>) {
  const verdict = rule(text);
  if (verdict.ok) return verdict.value;
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  throw new CliError(
    'notUnderstood',
    `The service gives ${JSON.stringify(shown)} as the ${what} of the machine: ${verdict.rule}. ssh was not started.`,
    { resource: id },
  );
}
