import { connect } from 'node:net';
import type { Instance } from '../api/index.ts';
import { CliError, ensureCliError } from '../errors.ts';
import type { Verdict } from '../rules/rule.ts';
import { sshHost, sshPort, sshUser } from '../rules/ssh.ts';

/** Instance fields for SSH. */
type Enterable = Pick<Instance, 'id' | 'ip_address' | 'ssh_username' | 'ssh_port'>;

/** An SSH destination. ssh reads no part of it as an option or as another argument. */
export interface SshEndpoint {
  readonly id: string;
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

/**
 * Returns the SSH endpoint of an instance.
 *
 * The service's values become part of ssh's arguments and configuration. So only exact addresses,
 * users and ports are accepted; `-oProxyCommand=…`, spaces, line breaks and percent signs (which
 * ssh expands) are not.
 *
 * `user` and `port` override the service's values.
 *
 * @throws CliError `wrongState` if a part is missing, `notUnderstood` if a part is not accepted.
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

/** Returns the address of an instance's SSH server; throws as {@link sshEndpoint} does. */
export function sshAddress(
  instance: Omit<Enterable, 'ssh_username'>,
  port?: number,
): Pick<SshEndpoint, 'host' | 'port'> {
  const { id } = instance;
  if (instance.ip_address == null || instance.ip_address === '') {
    throw new CliError('wrongState', 'The service returned no address for the instance.', {
      resource: id,
      retryable: true,
      hint: 'wait until the instance is ACTIVE: add --wait',
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

/** Whether the profile is the built-in sandbox. A test service may use the same addresses. */
export async function isSandbox({ settings }: WithSettings): Promise<boolean> {
  return (await settings({ key: false })).sandbox;
}

/** Returns the endpoint, or undefined if the instance has no valid endpoint. */
export function knownSshEndpoint(instance: Enterable, user?: string): SshEndpoint | undefined {
  try {
    return sshEndpoint(instance, { user });
  } catch (error) {
    ensureCliError(error);
    return undefined;
  }
}

/** The port of an SSH server if the service returned none. */
export const STANDARD_PORT = 22;

/** Returns the plain ssh command, for people and for computers without gpucloud. */
export function sshCommand(instance: Enterable): string | undefined {
  const endpoint = knownSshEndpoint({ ...instance, ssh_port: instance.ssh_port ?? STANDARD_PORT });
  if (endpoint === undefined) return undefined;
  const { user, host, port } = endpoint;
  return port === STANDARD_PORT ? `ssh ${user}@${host}` : `ssh -p ${port} ${user}@${host}`;
}

function portOf({ id, ssh_port: port }: Enterable): number {
  if (port == null) {
    throw new CliError('wrongState', 'The service returned no SSH port for the instance.', {
      resource: id,
      hint: 'use --port 22 for the standard port',
    });
  }
  return accepted(id, 'SSH port', String(port), sshPort);
}

function userOf({ id, ssh_username: user }: Enterable): string {
  if (user == null || user === '') {
    throw new CliError('wrongState', 'The service returned no user name for the instance.', {
      resource: id,
      hint: 'set the user name, such as --user root',
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
    `The service returned ${JSON.stringify(shown)} as the instance's ${what}: ${verdict.rule}. Did not start ssh.`,
    { resource: id },
  );
}

/** Timeout for the SSH banner, in milliseconds; shorter if less time of the wait is left. */
const PATIENCE_MS = 5_000;
/** Minimum time for a response in milliseconds, even near a deadline. */
const SHORTEST_PATIENCE_MS = 500;

/**
 * Whether an SSH server sends its banner. An instance is ACTIVE before sshd listens, so the status
 * alone is not enough. Any connection fault means "not yet". `longest` is the caller's remaining time
 * in milliseconds.
 */
export function answersSsh(
  { host, port }: { readonly host: string; readonly port: number },
  longest: number,
  signal: AbortSignal,
): Promise<boolean> {
  const patience = Math.max(SHORTEST_PATIENCE_MS, Math.min(PATIENCE_MS, longest));
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect({ host, port });
    // Covers name resolution and a slow instance too, unlike a timeout for the connection alone.
    const timer = setTimeout(() => end(false), patience);
    const stop = () => end(false);
    const end = (answers: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve(answers);
    };
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      heard += text;
      // A server may send other lines before its banner (RFC 4253, section 4.2).
      if (/^SSH-/m.test(heard)) end(true);
      else if (heard.length > 8_192) end(false);
    });
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
  });
}
